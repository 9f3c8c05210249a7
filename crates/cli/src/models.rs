//! Promela models: reading them, what can be asked of them, and what that means in the net.

use pdnet_check::{AtomData, Property, PropertyKind};
use pdnet_front_promela::tree::{Expr, LtlBlock};
use pdnet_front_promela::{
    ClaimAutomaton, Loaded, LowerOptions, Lowered, Options, claim_automaton, load, lower, parse_formula,
};
use pdnet_logic::{Automaton, Ltl, MAX_ATOMS};
use pdnet_net::legend::Legend;
use pdnet_net::{Action, Expr as NetExpr, Net};
use pdnet_source::{Diagnostic, SourceMap, Span, nearest_name};

use crate::args::{FrontArgs, ProgramArgs, PropertyArgs};
use crate::checks::Check;
use crate::exit::Failure;
use crate::pipeline::{refused, verify};
use crate::reductions::Reductions;

/// How many processes the first net has room for, where the model does not show how many there can be.
pub(crate) const FEW_PROCESSES: u32 = 24;

/// As many as SPIN allows.
pub(crate) const MOST_PROCESSES: u32 = 255;

/// A check that can be done on a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelCheck {
    /// Assertions, and what SPIN reports in their place: indices outside of arrays, division by zero, channels that
    /// are none.
    Assert,
    /// No invalid end state.
    Deadlock,
    /// No cycle without progress.
    NonProgress,
    /// No cycle through a label `accept…` of a proctype.
    Acceptance,
}

impl ModelCheck {
    const ALL: [Self; 4] = [Self::Assert, Self::Deadlock, Self::NonProgress, Self::Acceptance];

    /// The name.
    const fn name(self) -> &'static str {
        match self {
            Self::Assert => "assert",
            Self::Deadlock => "deadlock",
            Self::NonProgress => "non-progress",
            Self::Acceptance => "acceptance",
        }
    }

    fn property(self, lowered: &Lowered) -> Property {
        let name = self.name().to_owned();
        let formula =
            |text: &str, class, kind| Property { name: name.clone(), text: text.to_owned(), class, kind };
        let atom = |text: &str, expr: NetExpr| AtomData { text: text.to_owned(), expr };
        let first = || Ltl::Atom(pdnet_base::Idx::new(0));
        match self {
            Self::Assert => {
                let fails = lowered
                    .net
                    .transitions
                    .iter_enumerated()
                    .filter(|(_, data)| matches!(data.action, Action::AssertFail | Action::Fault(_)));
                let kind = PropertyKind::NeverFires(fails.map(|(transition, _)| transition).collect());
                let text = "no assertion fails, no array, channel or division goes wrong".to_owned();
                Property { name, text, class: "unreach-call", kind }
            }
            Self::Deadlock => {
                let expr = NetExpr::both(NetExpr::Deadlock, lowered.unfinished.clone());
                let atoms = vec![atom("", expr)];
                let never = Ltl::globally(Ltl::not(first()));
                // Who is in an atomic sequence can move.
                formula("no invalid end state", "no-deadlock", PropertyKind::Ltl { formula: never, atoms })
            }
            Self::NonProgress => {
                // A run that ends is no cycle.
                let expr = NetExpr::either(lowered.progress.clone(), NetExpr::Deadlock);
                let always = Ltl::globally(Ltl::finally(first()));
                let atoms = vec![atom("progress", expr)];
                formula("no non-progress cycle", "no-non-progress", seen(lowered, always, atoms))
            }
            Self::Acceptance => {
                let expr = lowered.accepting.clone().unwrap_or(NetExpr::Const(0));
                let finally = Ltl::finally(Ltl::globally(Ltl::not(first())));
                let atoms = vec![atom("accept", expr)];
                formula("no acceptance cycle", "no-acceptance", seen(lowered, finally, atoms))
            }
        }
    }
}

/// A property of a model before there is a net.
#[derive(Debug)]
pub(crate) enum Question {
    /// A built-in check.
    Check(ModelCheck),
    /// A formula, of the model or of the command line.
    Formula(Box<LtlBlock>),
    /// A `never` claim, by its name.
    Never(String, Box<ClaimAutomaton>),
}

/// Reads a model.
///
/// # Errors
/// What is wrong with the file, or that there are several.
pub(crate) fn load_model(
    map: &mut SourceMap,
    program: &ProgramArgs,
    front: &FrontArgs,
) -> Result<Loaded, Vec<Diagnostic>> {
    let [path] = program.files.as_slice() else {
        let message = "a Promela model is one file; others are included by it";
        return Err(vec![Diagnostic::error("several-models", message)]);
    };
    let options = Options {
        include_dirs: front.include_dirs.clone(),
        defines: front.defines.clone(),
        ..Options::default()
    };
    load(map, path, &options)
}

/// Finds out what is to be checked of a model.
///
/// # Errors
/// All that is wrong with formulas, claims and names.
pub(crate) fn resolve_questions(
    map: &mut SourceMap,
    args: &PropertyArgs,
    loaded: &mut Loaded,
    reduce: &Reductions,
) -> Result<(Vec<Question>, Vec<String>), Vec<Diagnostic>> {
    let mut resolver =
        Resolver { map, loaded, reduce, found: Vec::new(), notes: Vec::new(), errors: Vec::new() };
    resolver.refuse_options(args);
    if args.is_empty() {
        resolver.defaults();
    }
    args.ltl.iter().for_each(|text| resolver.option_ltl(text));
    args.claim.iter().for_each(|name| resolver.option_claim(name));
    args.check.iter().for_each(|names| resolver.option_check(names));
    let Resolver { found, notes, errors, .. } = resolver;
    if errors.is_empty() { Ok((found, notes)) } else { Err(errors) }
}

/// Complains about claims asked for by name where there can be none.
///
/// # Errors
/// That there are none.
pub(crate) fn refuse_claims(map: &mut SourceMap, args: &PropertyArgs) -> Result<(), Vec<Diagnostic>> {
    let Some(name) = args.claim.first() else { return Ok(()) };
    let span = option(map, "<--claim>", name);
    let error = Diagnostic::error("unknown-claim", "a C program has no claims").at(span, "");
    Err(vec![error.help("ask for a formula with --ltl")])
}

struct Resolver<'a> {
    map: &'a mut SourceMap,
    loaded: &'a mut Loaded,
    reduce: &'a Reductions,
    found: Vec<Question>,
    notes: Vec<String>,
    errors: Vec<Diagnostic>,
}

impl Resolver<'_> {
    fn refuse_options(&mut self, args: &PropertyArgs) {
        let unsuitable = [
            (!args.prp.is_empty(), "--prp"),
            (!args.hoa.is_empty(), "--hoa"),
            (!args.property.is_empty(), "--property"),
        ];
        for (is_given, option) in unsuitable {
            if is_given {
                let message = format!("{option} is for C programs, not for Promela models");
                self.errors.push(Diagnostic::error("unsuitable-option", message));
            }
        }
    }

    fn defaults(&mut self) {
        self.found.extend([ModelCheck::Assert, ModelCheck::Deadlock].map(Question::Check));
        let names: Vec<String> = self.claim_names();
        let mut note = "no property was asked for: assertions and invalid end states were checked".to_owned();
        if !names.is_empty() {
            note.push_str(&format!(", and the claims {}", names.join(", ")));
        }
        self.notes.push(note);
        self.notes.extend(self.unasked_labels());
        names.iter().for_each(|name| self.claim(name));
    }

    /// Notes on labels of the model that mean something to checks which are not done by default.
    fn unasked_labels(&self) -> Vec<String> {
        let labels = || self.loaded.model.procs.iter().flat_map(|proc| proc.labels.iter());
        let kinds = [("progress", ModelCheck::NonProgress), ("accept", ModelCheck::Acceptance)];
        let of_kind =
            kinds.into_iter().filter(|(word, _)| labels().any(|label| label.name.starts_with(word)));
        of_kind
            .map(|(word, check)| {
                let name = check.name();
                format!(
                    "the model has labels `{word}…`, which `--check {name}` looks at; it was not asked for"
                )
            })
            .collect()
    }

    /// The names of all formulas and claims of the model.
    fn claim_names(&self) -> Vec<String> {
        let formulas = self.loaded.model.formulas.iter().map(|block| block.name.clone());
        let claims = self.loaded.model.claims.iter().map(|claim| claim.name.clone());
        formulas.chain(claims).collect()
    }

    fn claim(&mut self, name: &str) {
        let model = &self.loaded.model;
        if let Some(block) = model.formulas.iter().find(|block| block.name == name) {
            let block = block.clone();
            self.formula(block);
        } else if let Some(claim) = model.claims.iter().find(|claim| claim.name == name) {
            let span = claim.span;
            match claim_automaton(self.map, claim) {
                Ok(automaton) => {
                    self.count_atoms(automaton.atoms.len(), span);
                    self.found.push(Question::Never(name.to_owned(), Box::new(automaton)));
                }
                Err(errors) => self.errors.extend(errors),
            }
        }
    }

    /// Complains about atoms where there is no room for one more of our own.
    fn count_atoms(&mut self, n_atoms: usize, span: Span) {
        if n_atoms >= MAX_ATOMS {
            let message = format!("a claim or formula has at most {} different atoms", MAX_ATOMS - 1);
            self.errors.push(Diagnostic::error("too-many-atoms", message).at(span, ""));
        }
    }

    fn formula(&mut self, block: LtlBlock) {
        self.count_atoms(block.atoms.len(), block.span);
        if block.formula.uses_next() {
            if self.reduce.is_none() {
                self.notes
                    .push(format!("the formula {} uses X: it was checked without any reduction", block.name));
            } else {
                let message = "the operator `X` is not preserved by reductions";
                let error = Diagnostic::error("next-operator", message)
                    .at(block.span, "\"in the next state\" depends on what counts as a step")
                    .help("say it without `X`, or pass `--reduce none`");
                self.errors.push(error);
            }
        }
        self.found.push(Question::Formula(Box::new(block)));
    }

    fn option_claim(&mut self, name: &str) {
        let names = self.claim_names();
        if names.iter().any(|found| found == name) {
            return self.claim(name);
        }
        let span = option(self.map, "<--claim>", name);
        let message = format!("the model has no claim `{name}`");
        let error = Diagnostic::error("unknown-claim", message).at(span, "unknown name");
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.errors.push(match nearest_name(name, names.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if names.is_empty() => error.help("it has no `ltl` block and no `never` claim"),
            None => error.help(format!("its claims: {}", names.join(", "))),
        });
    }

    fn option_ltl(&mut self, text: &str) {
        let file = self.map.add("<--ltl>", text);
        let number =
            self.found.iter().filter(|question| matches!(question, Question::Formula(_))).count() + 1;
        match parse_formula(self.map, file, &format!("ltl-{number}"), self.loaded) {
            Ok(block) => self.formula(block),
            Err(errors) => self.errors.extend(errors),
        }
    }

    fn option_check(&mut self, names: &str) {
        for name in names.split(',').map(str::trim) {
            match ModelCheck::ALL.into_iter().find(|check| check.name() == name) {
                Some(check) => {
                    let is_same =
                        |question: &Question| matches!(question, Question::Check(other) if *other == check);
                    if !self.found.iter().any(is_same) {
                        self.found.push(Question::Check(check));
                    }
                }
                None => {
                    let error = self.unknown_check(names, name);
                    self.errors.push(error);
                }
            }
        }
    }

    fn unknown_check(&mut self, all: &str, name: &str) -> Diagnostic {
        let file = self.map.add("<--check>", all);
        let start = u32::try_from(all.find(name).unwrap_or(0)).unwrap_or(0);
        let end = start + u32::try_from(name.len()).unwrap_or(0);
        let span = Span { file, start, end };
        let names: Vec<&str> = ModelCheck::ALL.iter().map(|check| check.name()).collect();
        let list = format!("checks of Promela models: {}", names.join(", "));
        if Check::parse(name, span).is_ok() {
            let message = format!("the check `{name}` is for C programs");
            return Diagnostic::error("unsuitable-check", message).at(span, "not for models").help(list);
        }
        let error = Diagnostic::error("unknown-check", format!("there is no check `{name}`"));
        let error = error.at(span, "unknown name");
        match nearest_name(name, names.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(list),
        }
    }
}

/// A text of the command line as a source.
fn option(map: &mut SourceMap, name: &str, text: &str) -> Span {
    let file = map.add(name, text);
    Span { file, start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) }
}

/// The net of a model.
///
/// # Errors
/// What has no net, and nets that break the rules.
pub(crate) fn lower_model(
    map: &SourceMap,
    loaded: &Loaded,
    observed: &[Expr],
    max_processes: u32,
) -> Result<Lowered, Failure> {
    let options = LowerOptions { max_processes };
    let observed: Vec<&Expr> = observed.iter().collect();
    let lowered = lower(map, &loaded.model, &observed, &options).map_err(refused)?;
    verify(&lowered.net)?;
    Ok(lowered)
}

/// What stands for the net of a model that was not waited for.
pub(crate) fn no_net(n_atoms: usize) -> Lowered {
    Lowered {
        net: Net::default(),
        atoms: vec![NetExpr::Const(0); n_atoms],
        unfinished: NetExpr::Const(0),
        progress: NetExpr::Const(0),
        accepting: None,
        warnings: Vec::new(),
        spin_ids: Vec::new(),
        legend: Legend::default(),
    }
}

/// All expressions that questions ask about, in order.
pub(crate) fn observed(questions: &[Question]) -> Vec<Expr> {
    questions.iter().flat_map(atoms).cloned().collect()
}

/// The name of the atom that is true inside of `atomic` sequences.
const INSIDE: &str = "inside of atomic";

/// What is true in the states that claims and formulas do not see, as in SPIN: those inside of `atomic` sequences.
fn unseen(lowered: &Lowered) -> Option<AtomData> {
    let expr = NetExpr::Cell(lowered.net.atomic?, Vec::new());
    Some(AtomData { text: String::new(), expr })
}

/// A formula about the states that are seen.
fn seen(lowered: &Lowered, formula: Ltl, mut atoms: Vec<AtomData>) -> PropertyKind {
    let Some(inside) = unseen(lowered) else { return PropertyKind::Ltl { formula, atoms } };
    let formula = formula.outside(pdnet_base::Idx::new(atoms.len()));
    atoms.push(inside);
    PropertyKind::Ltl { formula, atoms }
}

/// A claim, which moves in the states that are seen.
fn seen_by_claim(lowered: &Lowered, automaton: &Automaton, mut atoms: Vec<AtomData>) -> PropertyKind {
    let stutter_invariant = false;
    let Some(inside) = unseen(lowered) else {
        return PropertyKind::Never { automaton: automaton.clone(), atoms, stutter_invariant };
    };
    let automaton = automaton.outside(pdnet_base::Idx::new(atoms.len()), INSIDE);
    atoms.push(inside);
    PropertyKind::Never { automaton, atoms, stutter_invariant }
}

/// The questions as properties of the net.
pub(crate) fn properties(questions: &[Question], lowered: &Lowered) -> Vec<Property> {
    let mut meanings = lowered.atoms.iter();
    questions.iter().map(|question| property(question, lowered, &mut meanings)).collect()
}

/// The expressions that a question asks about.
fn atoms(question: &Question) -> Vec<&Expr> {
    match question {
        Question::Check(_) => Vec::new(),
        Question::Formula(block) => block.atoms.iter().map(|atom| &atom.expr).collect(),
        Question::Never(_, claim) => claim.atoms.iter().map(|atom| &atom.expr).collect(),
    }
}

fn property<'l>(
    question: &Question,
    lowered: &Lowered,
    meanings: &mut impl Iterator<Item = &'l NetExpr>,
) -> Property {
    let mut named = |atoms: &[pdnet_front_promela::tree::LtlAtom]| -> Vec<AtomData> {
        let pairs = atoms.iter().zip(meanings.by_ref().take(atoms.len()));
        pairs.map(|(atom, expr)| AtomData { text: atom.text.clone(), expr: expr.clone() }).collect()
    };
    match question {
        Question::Check(check) => check.property(lowered),
        Question::Formula(block) => Property {
            name: block.name.clone(),
            text: block.text.clone(),
            class: "valid-ltl",
            kind: seen(lowered, block.formula.clone(), named(&block.atoms)),
        },
        Question::Never(name, claim) => Property {
            name: name.clone(),
            text: "no run matches the claim".to_owned(),
            class: "valid-never",
            kind: seen_by_claim(lowered, &claim.automaton, named(&claim.atoms)),
        },
    }
}
