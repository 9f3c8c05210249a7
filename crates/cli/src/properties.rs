//! What is to be checked: from the options, from the comments of the program, or by default.

use std::path::Path;

use pdnet_front_c::{Annotation, AnnotationKind};
use pdnet_logic::{AtomKind, Formula, Ltl, parse_formula, parse_formula_at, parse_property_file};
use pdnet_source::{Diagnostic, File, SourceMap, Span};

use crate::args::{PropertyArgs, Reduce};
use crate::checks::{self, Check};

/// A property before there is a net.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// A built-in check.
    Check(Check),
    /// The check for data races, written as a formula.
    Race {
        /// Its name in the output.
        name: String,
    },
    /// A formula.
    Formula(NamedFormula),
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
}

/// All that is to be checked.
#[derive(Debug, Default)]
pub(crate) struct Properties {
    /// In the order in which it was asked for.
    pub(crate) wanted: Vec<Wanted>,
    /// What the user should know about it.
    pub(crate) notes: Vec<String>,
}

impl Properties {
    /// The formulas, in order.
    pub(crate) fn formulas(&self) -> Vec<Formula> {
        let formulas = self.wanted.iter().filter_map(|wanted| match wanted {
            Wanted::Check(_) | Wanted::Race { .. } => None,
            Wanted::Formula(named) => Some(named.formula.clone()),
        });
        formulas.collect()
    }
}

/// Finds out what is to be checked. Options take the place of the comments in the program.
///
/// # Errors
/// All that is wrong with formulas, property files and names.
pub(crate) fn resolve_properties(
    map: &mut SourceMap,
    args: &PropertyArgs,
    annotations: &[Annotation],
    reduce: Reduce,
) -> Result<Properties, Vec<Diagnostic>> {
    let mut resolver = Resolver { map, reduce, found: Properties::default(), errors: Vec::new() };
    if args.is_empty() {
        annotations.iter().for_each(|annotation| resolver.annotation(annotation));
        if annotations.is_empty() {
            resolver.default_checks();
        }
    } else {
        args.ltl.iter().for_each(|text| resolver.option_ltl(text));
        args.prp.iter().for_each(|path| resolver.property_file(path));
        args.check.iter().for_each(|names| resolver.option_check(names));
    }
    let Resolver { found, errors, .. } = resolver;
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

struct Resolver<'a> {
    map: &'a mut SourceMap,
    reduce: Reduce,
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
        let name = path.display().to_string();
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                let message = format!("cannot read the property file `{name}`: {error}");
                return self.errors.push(Diagnostic::error("unreadable-file", message));
            }
        };
        let file = self.map.add(name, text);
        let properties = match parse_property_file(self.map, file) {
            Ok(properties) => properties,
            Err(error) => return self.errors.push(error),
        };
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let n_properties = properties.len();
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
        let is_formula = |wanted: &&Wanted| matches!(wanted, Wanted::Formula(_) | Wanted::Race { .. });
        let number = self.found.wanted.iter().filter(is_formula).count() + 1;
        let name = name.unwrap_or_else(|| format!("ltl-{number}"));
        if class_of(&formula) == "no-data-race" {
            self.found.wanted.push(Wanted::Race { name });
            return;
        }
        for atom in &formula.atoms {
            if let Some(what) = unsupported(&atom.kind) {
                let message = format!("`{atom}` cannot be checked yet: {what}");
                let error =
                    Diagnostic::error("unsupported-property", message).at(atom.span, "not in this version");
                self.errors.push(error);
            }
        }
        if formula.ltl.uses_next() {
            match self.reduce {
                Reduce::All => self.errors.push(next_operator(self.map, span)),
                Reduce::None => {
                    let note = format!("the formula {name} uses X: it was checked without any reduction");
                    self.found.notes.push(note);
                }
            }
        }
        self.found.wanted.push(Wanted::Formula(NamedFormula { name, class, formula }));
    }
}

/// What an atom of the competition needs that we do not have.
const fn unsupported(kind: &AtomKind) -> Option<&'static str> {
    match kind {
        AtomKind::DataRace => Some("data races are checked only as `G ! data-race`"),
        AtomKind::Overflow => Some("there is no check for signed overflow in this version"),
        AtomKind::ValidFree | AtomKind::ValidDeref | AtomKind::ValidMemtrack | AtomKind::ValidMemcleanup => {
            Some("there is no check of the heap in this version")
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

/// The competition's name for a formula of a property file.
fn class_of(formula: &Formula) -> &'static str {
    let kind = |inner: &Ltl| match inner {
        Ltl::Atom(atom) => formula.atoms.get(*atom).map(|atom| &atom.kind),
        _ => None,
    };
    match &formula.ltl {
        Ltl::Globally(inner) => match inner.as_ref() {
            Ltl::Not(atom) => match kind(atom) {
                Some(AtomKind::Call { .. }) => "unreach-call",
                Some(AtomKind::Deadlock) => "no-deadlock",
                Some(AtomKind::DataRace) => "no-data-race",
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
        PropertyArgs { ltl: owned(ltl), prp: Vec::new(), check: owned(check) }
    }

    fn names(args: &PropertyArgs, annotations: &[Annotation]) -> Result<Vec<String>, Vec<Diagnostic>> {
        let mut map = SourceMap::new();
        let properties = resolve_properties(&mut map, args, annotations, Reduce::All)?;
        let name = |wanted: &Wanted| match wanted {
            Wanted::Check(check) => check.name().to_owned(),
            Wanted::Race { name } => format!("{name} (race)"),
            Wanted::Formula(named) => format!("{} = {} ({})", named.name, named.formula, named.class),
        };
        Ok(properties.wanted.iter().map(name).collect())
    }

    fn error(args: &PropertyArgs) -> (String, String) {
        let mut map = SourceMap::new();
        let errors = resolve_properties(&mut map, args, &[], Reduce::All).unwrap_err();
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
        assert_eq!(error(&args(&[], &["leak"])), ("unsupported-check".into(), "leak".into()));
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
