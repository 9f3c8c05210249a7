//! What is to be checked: from the options, from a task, from the comments of the program, or by default.

mod automata;
mod of_task;

use std::path::Path;

use pdnet_front_c::{Annotation, AnnotationKind};
use pdnet_logic::{
    AtomKind, Formula, HoaAutomaton, Ltl, parse_formula, parse_formula_at, parse_property_file,
};
use pdnet_report::Question;
use pdnet_source::{Diagnostic, File, SourceMap, Span};

use crate::args::PropertyArgs;
use crate::checks::{self, Check};
use crate::reductions::Reductions;
use crate::task::{Task, TaskProperty};

/// A property before there is a net.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// A built-in check.
    Check(Check),
    /// A built-in check, written as a formula.
    Named {
        /// The check.
        check: Check,
        /// Its name in the output.
        name: String,
        /// The whole property file that it comes from, in the user's words; or what one would say.
        specification: String,
    },
    /// A formula.
    Formula(NamedFormula),
    /// An automaton of bad runs.
    Never(NamedAutomaton),
}

/// A formula with its name.
#[derive(Debug)]
pub(crate) struct NamedFormula {
    /// Its name in the output.
    pub(crate) name: String,
    /// The word for the verdict line.
    pub(crate) class: &'static str,
    /// The formula.
    pub(crate) formula: Formula,
    /// The whole property file that it comes from, in the user's words; or what one would say.
    pub(crate) specification: String,
}

/// An automaton with its name.
#[derive(Debug)]
pub(crate) struct NamedAutomaton {
    /// Its name in the output.
    pub(crate) name: String,
    /// What it says, for people.
    pub(crate) text: String,
    /// The automaton.
    pub(crate) hoa: HoaAutomaton,
}

/// All that is to be checked.
#[derive(Debug, Default)]
pub(crate) struct Properties {
    /// In the order in which it was asked for.
    pub(crate) wanted: Vec<Wanted>,
    /// The properties of the task among it, each with the numbers of what it consists of.
    pub(crate) questions: Vec<(TaskProperty, Question)>,
    /// What the user should know about it.
    pub(crate) notes: Vec<String>,
}

impl Properties {
    /// The formulas, in order. An automaton is among them for its atoms.
    pub(crate) fn formulas(&self) -> Vec<Formula> {
        let formulas = self.wanted.iter().filter_map(|wanted| match wanted {
            Wanted::Check(_) | Wanted::Named { .. } => None,
            Wanted::Formula(named) => Some(named.formula.clone()),
            Wanted::Never(named) => Some(named.hoa.as_formula()),
        });
        formulas.collect()
    }

    /// Whether a check is among it.
    pub(crate) fn asks_for(&self, wanted: Check) -> bool {
        self.wanted.iter().any(|found| match found {
            Wanted::Check(check) | Wanted::Named { check, .. } => *check == wanted,
            Wanted::Formula(_) | Wanted::Never(_) => false,
        })
    }

    /// What was asked for at this place, in the words of property files.
    pub(crate) fn specification(&self, position: usize) -> String {
        match self.wanted.get(position) {
            Some(Wanted::Check(check)) => property_line(check.formula()),
            Some(Wanted::Formula(named)) => named.specification.clone(),
            Some(Wanted::Named { specification, .. }) => specification.clone(),
            Some(Wanted::Never(named)) => named.text.clone(),
            None => String::new(),
        }
    }
}

/// Finds out what is to be checked. Options take the place of the task's properties, and these the place of
/// the comments in the program.
///
/// # Errors
/// All that is wrong with formulas, property files and names.
pub(crate) fn resolve_properties(
    map: &mut SourceMap,
    args: &PropertyArgs,
    task: Option<&Task>,
    annotations: &[Annotation],
    reduce: &Reductions,
) -> Result<Properties, Vec<Diagnostic>> {
    let mut resolver = Resolver { map, reduce, found: Properties::default(), errors: Vec::new() };
    let of_task = task.map_or(&[][..], |task| &task.properties);
    if args.is_empty() && !of_task.is_empty() {
        resolver.whole_task(of_task);
    } else if args.is_empty() {
        annotations.iter().for_each(|annotation| resolver.annotation(annotation));
        if annotations.is_empty() {
            resolver.default_checks();
        }
    } else {
        args.ltl.iter().for_each(|text| resolver.option_ltl(text));
        args.prp.iter().for_each(|path| resolver.option_prp(path, of_task));
        args.hoa.iter().for_each(|path| resolver.option_hoa(path));
        args.property.iter().for_each(|name| resolver.option_property(name, task));
        args.check.iter().for_each(|names| resolver.option_check(names));
    }
    let Resolver { found, errors, .. } = resolver;
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

struct Resolver<'a> {
    map: &'a mut SourceMap,
    reduce: &'a Reductions,
    found: Properties,
    errors: Vec<Diagnostic>,
}

impl Resolver<'_> {
    fn default_checks(&mut self) {
        self.found.wanted.extend(checks::DEFAULT.map(Wanted::Check));
        let note = "no property was asked for: assertions, deadlocks and data races were checked";
        self.found.notes.push(note.to_owned());
    }

    fn annotation(&mut self, annotation: &Annotation) {
        match &annotation.kind {
            AnnotationKind::Ltl { name, formula } => match parse_formula_at(self.map, *formula) {
                Ok(parsed) => self.formula(name.clone(), "valid-ltl", parsed, *formula),
                Err(error) => self.errors.push(error),
            },
            AnnotationKind::Check { names } => {
                names.iter().for_each(|(name, span)| self.check(name, *span));
            }
        }
    }

    fn option_ltl(&mut self, text: &str) {
        let file = self.map.add("<--ltl>", text);
        match parse_formula(self.map, file) {
            Ok(formula) => self.formula(None, "valid-ltl", formula, whole(self.map, file)),
            Err(error) => self.errors.push(error),
        }
    }

    fn option_check(&mut self, names: &str) {
        let file = self.map.add("<--check>", names);
        let mut offset = 0;
        for part in names.split(',') {
            let start = offset + (part.len() - part.trim_start().len());
            let end = start + part.trim().len();
            let span = Span { file, start: small(start), end: small(end) };
            self.check(part.trim(), span);
            offset += part.len() + 1;
        }
    }

    fn property_file(&mut self, path: &Path) {
        let Some(file) = self.read(path, "property file") else { return };
        let properties = match parse_property_file(self.map, file) {
            Ok(properties) => properties,
            Err(error) => return self.errors.push(error),
        };
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let n_properties = properties.len();
        let lines: Vec<String> =
            properties.iter().map(|property| property_line(self.text(property.span))).collect();
        let first = self.found.wanted.len();
        for (position, property) in properties.into_iter().enumerate() {
            if property.entry.text != "main" {
                let message = format!("runs start in `main`, not in `{}`", property.entry.text);
                let error = Diagnostic::error("unsupported-entry", message).at(property.entry.span, "");
                self.errors.push(error);
                continue;
            }
            let name = if n_properties == 1 { stem.clone() } else { format!("{stem}-{}", position + 1) };
            let class = class_of(&property.formula);
            self.formula(Some(name), class, property.formula, property.span);
        }
        for wanted in &mut self.found.wanted[first..] {
            match wanted {
                Wanted::Formula(NamedFormula { specification, .. }) | Wanted::Named { specification, .. } => {
                    *specification = lines.join("\n")
                }
                Wanted::Check(_) | Wanted::Never(_) => {}
            }
        }
    }

    /// A file of the user's; where it cannot be read, that is an error of its own.
    fn read(&mut self, path: &Path, what: &str) -> Option<File> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Some(self.map.add(name, String::from_utf8_lossy(&bytes))),
            Err(error) => {
                let message = format!("cannot read the {what} `{name}`: {error}");
                self.errors.push(Diagnostic::error("unreadable-file", message));
                None
            }
        }
    }

    /// What stands there.
    fn text(&self, span: Span) -> &str {
        let text = &self.map.file(span.file).text;
        text.get(span.start as usize..span.end as usize).unwrap_or("").trim()
    }

    fn check(&mut self, name: &str, span: Span) {
        match Check::parse(name, span) {
            Ok(check) => {
                let is_same = |wanted: &Wanted| matches!(wanted, Wanted::Check(other) if *other == check);
                if !self.found.wanted.iter().any(is_same) {
                    self.found.wanted.push(Wanted::Check(check));
                }
            }
            Err(error) => self.errors.push(error),
        }
    }

    fn formula(&mut self, name: Option<String>, class: &'static str, formula: Formula, span: Span) {
        let is_formula = |wanted: &&Wanted| matches!(wanted, Wanted::Formula(_) | Wanted::Named { .. });
        let number = self.found.wanted.iter().filter(is_formula).count() + 1;
        let name = name.unwrap_or_else(|| format!("ltl-{number}"));
        if let Some(check) = check_of(&formula) {
            let specification = property_line(self.text(span));
            self.found.wanted.push(Wanted::Named { check, name, specification });
            return;
        }
        self.refuse_unsupported(&formula);
        if formula.ltl.uses_next() {
            if self.reduce.is_none() {
                let note = format!("the formula {name} uses X: it was checked without any reduction");
                self.found.notes.push(note);
            } else {
                self.errors.push(next_operator(self.map, span));
            }
        }
        let specification = property_line(self.text(span));
        self.found.wanted.push(Wanted::Formula(NamedFormula { name, class, formula, specification }));
    }
}

impl Resolver<'_> {
    /// Complains about atoms that only whole formulas can have.
    fn refuse_unsupported(&mut self, formula: &Formula) {
        for atom in &formula.atoms {
            if let Some(what) = unsupported(&atom.kind) {
                let message = format!("`{atom}` cannot be checked yet: {what}");
                let error = Diagnostic::error(UNSUPPORTED, message).at(atom.span, "not in this version");
                self.errors.push(error);
            }
        }
    }
}

/// A formula as a line of a property file.
fn property_line(formula: &str) -> String {
    format!("CHECK( init(main()), LTL({formula}) )")
}

/// The id of the complaint that a property cannot be checked yet.
const UNSUPPORTED: &str = "unsupported-property";

/// What an atom of the competition needs that we do not have.
const fn unsupported(kind: &AtomKind) -> Option<&'static str> {
    match kind {
        AtomKind::DataRace => Some("data races are checked only as `G ! data-race`"),
        AtomKind::Overflow => Some("overflows are checked only as `G ! overflow`"),
        AtomKind::ValidFree | AtomKind::ValidDeref | AtomKind::ValidMemcleanup => {
            Some("it is checked only as a whole formula, such as `G valid-deref`")
        }
        AtomKind::ValidMemtrack => {
            Some("whether a block can still be reached is not followed in this version")
        }
        AtomKind::Expr(_)
        | AtomKind::Call { .. }
        | AtomKind::AtLabel { .. }
        | AtomKind::AtLine { .. }
        | AtomKind::Terminated(_)
        | AtomKind::End
        | AtomKind::Holds { .. }
        | AtomKind::Waiting { .. }
        | AtomKind::Deadlock => None,
    }
}

fn atom_kind<'f>(formula: &'f Formula, inner: &Ltl) -> Option<&'f AtomKind> {
    match inner {
        Ltl::Atom(atom) => formula.atoms.get(*atom).map(|atom| &atom.kind),
        _ => None,
    }
}

/// The built-in check that a formula asks for.
fn check_of(formula: &Formula) -> Option<Check> {
    let Ltl::Globally(inner) = &formula.ltl else { return None };
    match inner.as_ref() {
        Ltl::Not(atom) => match atom_kind(formula, atom)? {
            AtomKind::DataRace => Some(Check::Race),
            AtomKind::Overflow => Some(Check::Overflow),
            _ => None,
        },
        atom => match atom_kind(formula, atom)? {
            AtomKind::ValidFree => Some(Check::ValidFree),
            AtomKind::ValidDeref => Some(Check::ValidDeref),
            AtomKind::ValidMemcleanup => Some(Check::Leak),
            _ => None,
        },
    }
}

/// The competition's name for a formula of a property file.
fn class_of(formula: &Formula) -> &'static str {
    let kind = |inner: &Ltl| atom_kind(formula, inner);
    match &formula.ltl {
        Ltl::Globally(inner) => match inner.as_ref() {
            Ltl::Not(atom) => match kind(atom) {
                Some(AtomKind::Call { .. }) => "unreach-call",
                Some(AtomKind::Deadlock) => "no-deadlock",
                _ => "valid-ltl",
            },
            _ => "valid-ltl",
        },
        Ltl::Finally(inner) if matches!(kind(inner), Some(AtomKind::End)) => "termination",
        _ => "valid-ltl",
    }
}

fn next_operator(map: &SourceMap, formula: Span) -> Diagnostic {
    let span = find_next(map, formula).unwrap_or(formula);
    Diagnostic::error("next-operator", "the operator `X` is not preserved by reductions")
        .at(span, "\"in the next state\" depends on what counts as a step")
        .help("say it without `X`, or pass `--reduce none`")
}

/// The first word `X` outside of quotes and brackets, where names of the program stand.
fn find_next(map: &SourceMap, formula: Span) -> Option<Span> {
    let text = map.file(formula.file).text.get(formula.start as usize..formula.end as usize)?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut quoted, mut brackets, mut before) = (false, 0_u32, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            'X' if !quoted && brackets == 0 && !is_word(before) && !text[at + 1..].starts_with(is_word) => {
                let start = formula.start + small(at);
                return Some(Span { file: formula.file, start, end: start + 1 });
            }
            _ => {}
        }
        before = c;
    }
    None
}

fn whole(map: &SourceMap, file: File) -> Span {
    Span { file, start: 0, end: small(map.file(file).text.len()) }
}

fn small(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(ltl: &[&str], check: &[&str]) -> PropertyArgs {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        PropertyArgs { ltl: owned(ltl), check: owned(check), ..PropertyArgs::default() }
    }

    fn names(args: &PropertyArgs, annotations: &[Annotation]) -> Result<Vec<String>, Vec<Diagnostic>> {
        let mut map = SourceMap::new();
        let properties = resolve_properties(&mut map, args, None, annotations, &Reductions::all())?;
        let name = |wanted: &Wanted| match wanted {
            Wanted::Check(check) => check.name().to_owned(),
            Wanted::Named { check, name, .. } => format!("{name} ({})", check.name()),
            Wanted::Formula(named) => format!("{} = {} ({})", named.name, named.formula, named.class),
            Wanted::Never(named) => named.name.clone(),
        };
        Ok(properties.wanted.iter().map(name).collect())
    }

    fn error(args: &PropertyArgs) -> (String, String) {
        let mut map = SourceMap::new();
        let errors = resolve_properties(&mut map, args, None, &[], &Reductions::all()).unwrap_err();
        let label = &errors[0].labels[0];
        let text = &map.file(label.span.file).text[label.span.start as usize..label.span.end as usize];
        (errors[0].id.to_owned(), text.to_owned())
    }

    #[test]
    fn with_nothing_given_there_are_default_checks() {
        assert_eq!(names(&args(&[], &[]), &[]).unwrap(), ["assert", "deadlock", "race"]);
    }

    #[test]
    fn options_are_taken_in_order_and_once() {
        let found = names(&args(&["G(x==0)", "F y"], &["locks, assert", "locks"]), &[]).unwrap();
        assert_eq!(found, ["ltl-1 = G(x == 0) (valid-ltl)", "ltl-2 = F y (valid-ltl)", "locks", "assert"]);
    }

    #[test]
    fn errors_point_at_the_word() {
        assert_eq!(error(&args(&[], &["assert, raec"])), ("unknown-check".into(), "raec".into()));
        assert_eq!(error(&args(&[], &["leaks"])), ("unknown-check".into(), "leaks".into()));
        assert_eq!(error(&args(&[], &[""])), ("unknown-check".into(), String::new()));
        assert_eq!(error(&args(&["a[X] == 1 && \"X\" -> X p"], &[])), ("next-operator".into(), "X".into()));
        assert_eq!(error(&args(&["F data-race"], &[])), ("unsupported-property".into(), "data-race".into()));
    }

    #[test]
    fn formulas_of_the_competition_have_its_names() {
        let class = |text: &str| {
            let mut map = SourceMap::new();
            let file = map.add("p", text);
            class_of(&parse_formula(&map, file).unwrap())
        };
        assert_eq!(class("G ! call(reach_error())"), "unreach-call");
        assert_eq!(class("F end"), "termination");
        assert_eq!(class("G ! deadlock"), "no-deadlock");
        assert_eq!(class("G F x"), "valid-ltl");
    }
}
