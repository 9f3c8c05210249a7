//! From a text in the HOA format to an automaton.
//!
//! Read is what is a Büchi automaton: acceptance on states or on edges, one set, several that must all be visited
//! again and again, or none. The rest of the format (Rabin, parity, alternation, …) is refused with its place.

use pdnet_base::{FxHashMap, Idx as _, IndexVec};
use pdnet_source::{Diagnostic, File, SourceMap, Span};

use super::lexer::{Tok, Token, tokens};
use crate::{
    Atom, AtomSyntax, AutState, Automaton, AutomatonBuilder, BuildError, Formula, Guard, Ltl, MAX_ATOMS,
    MAX_STATES, parse_formula_at,
};

/// How many operators and atoms a label may have, aliases written out.
const MAX_LABEL: usize = 4096;

/// How deep parentheses may be nested.
const MAX_NESTING: usize = 200;

/// How many atomic propositions an automaton without labels may have: each state has an edge for each letter.
const MAX_IMPLICIT: usize = 16;

/// An automaton as it was read.
#[derive(Clone, Debug)]
pub struct HoaAutomaton {
    /// What the line `name:` says.
    pub name: Option<String>,
    /// The automaton, over the atoms by number.
    pub automaton: Automaton,
    /// What the atoms are. An atomic proposition may be a Boolean combination of several.
    pub atoms: IndexVec<Atom, AtomSyntax>,
    /// Whether the file says that the language is stutter invariant (`properties: stutter-invariant`).
    pub stutter_invariant: bool,
}

impl HoaAutomaton {
    /// The atoms as those of a formula, for whoever gives atoms their meaning.
    #[must_use]
    pub fn as_formula(&self) -> Formula {
        Formula { ltl: Ltl::True, atoms: self.atoms.clone() }
    }
}

/// Reads one automaton in HOA v1. Its atomic propositions are formulas without temporal operators, mostly a single
/// atom. Those that are written with backslashes get a file of their own in the map, so that what is wrong with
/// them can be shown.
///
/// # Errors
/// The first thing that is not understood, or that is more than a Büchi automaton.
pub fn parse_hoa(map: &mut SourceMap, file: File) -> Result<HoaAutomaton, Diagnostic> {
    let tokens = tokens(&map.file(file).text, file)?;
    let mut reader = Reader::new(tokens);
    reader.header()?;
    let (atoms, propositions) = propositions(map, &reader.propositions)?;
    reader.body()?;
    reader.finish(atoms, &propositions)
}

/// An atomic proposition as it is written.
struct Proposition {
    text: String,
    escaped: bool,
    /// With the quotes.
    span: Span,
}

/// The atoms of all propositions, each once, and what each proposition says of them.
fn propositions(
    map: &mut SourceMap,
    written: &[Proposition],
) -> Result<(IndexVec<Atom, AtomSyntax>, Vec<Guard>), Diagnostic> {
    let mut atoms: IndexVec<Atom, AtomSyntax> = IndexVec::new();
    let mut guards = Vec::new();
    for proposition in written {
        let Span { file, start, end } = proposition.span;
        let span = if proposition.escaped {
            let file = map.add("<AP>", proposition.text.as_str());
            Span { file, start: 0, end: u32::try_from(proposition.text.len()).unwrap_or(u32::MAX) }
        } else {
            Span { file, start: start + 1, end: end - 1 }
        };
        let formula = parse_formula_at(map, span)?;
        let mut numbers = Vec::new();
        for atom in &formula.atoms {
            let known = atoms.iter_enumerated().find(|(_, other)| other.kind == atom.kind);
            let number = known.map(|(number, _)| number);
            numbers.push(number.unwrap_or_else(|| atoms.push(atom.clone())));
        }
        if atoms.len() > MAX_ATOMS {
            let message = format!("the automaton has more than {MAX_ATOMS} atoms");
            return Err(Diagnostic::error("too-many-atoms", message).at(proposition.span, "one too many"));
        }
        let Some(guard) = guard_of(&formula.ltl, &numbers) else {
            let message = "an atomic proposition is about one state";
            return Err(Diagnostic::error("temporal-proposition", message)
                .at(span, "this has a temporal operator")
                .help("what comes later is for the automaton to say"));
        };
        guards.push(guard);
    }
    Ok((atoms, guards))
}

/// A formula without temporal operators as a guard; `None` where it has some.
fn guard_of(ltl: &Ltl, numbers: &[Atom]) -> Option<Guard> {
    let both = |f: &Ltl, g: &Ltl| Some((guard_of(f, numbers)?, guard_of(g, numbers)?));
    Some(match ltl {
        Ltl::True => Guard::True,
        Ltl::False => Guard::False,
        Ltl::Atom(atom) => Guard::Atom(numbers[atom.index()]),
        Ltl::Not(f) => guard_of(f, numbers)?.negated(),
        Ltl::And(f, g) => {
            let (f, g) = both(f, g)?;
            f.and(g)
        }
        Ltl::Or(f, g) => {
            let (f, g) = both(f, g)?;
            f.or(g)
        }
        Ltl::Implies(f, g) => {
            let (f, g) = both(f, g)?;
            f.negated().or(g)
        }
        Ltl::Iff(f, g) | Ltl::Xor(f, g) => {
            let (f, g) = both(f, g)?;
            let differ = f.clone().and(g.clone().negated()).or(f.negated().and(g));
            if matches!(ltl, Ltl::Xor(..)) { differ } else { differ.negated() }
        }
        Ltl::Next(_)
        | Ltl::Finally(_)
        | Ltl::Globally(_)
        | Ltl::Until(..)
        | Ltl::WeakUntil(..)
        | Ltl::Release(..)
        | Ltl::StrongRelease(..) => return None,
    })
}

/// A label over atomic propositions, with the number of its parts.
#[derive(Clone)]
struct Label {
    guard: Guard,
    size: usize,
}

/// A state of the body.
struct StateText {
    number: usize,
    span: Span,
    label: Option<Label>,
    acceptance: u32,
    edges: Vec<EdgeText>,
}

/// An edge of the body.
struct EdgeText {
    label: Option<Label>,
    target: usize,
    acceptance: u32,
    span: Span,
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    name: Option<String>,
    n_states: Option<usize>,
    start: Vec<usize>,
    propositions: Vec<Proposition>,
    n_propositions: usize,
    has_propositions: bool,
    aliases: FxHashMap<String, Label>,
    /// How many acceptance sets there are, and which of them must be visited again and again; the position of one
    /// of these is its number from here on.
    acceptance: Option<(usize, Vec<usize>)>,
    stutter_invariant: bool,
    states: Vec<StateText>,
    /// Where each state is described.
    described: FxHashMap<usize, Span>,
}

type Parse<T> = Result<T, Diagnostic>;

impl Reader {
    fn new(mut tokens: Vec<Token>) -> Self {
        // Twice the end, so that one step back from behind any token is that token.
        tokens.extend(tokens.last().cloned());
        // Aliases may use the propositions before the line that names them.
        let n_propositions = tokens.windows(2).find_map(|pair| match (&pair[0].tok, &pair[1].tok) {
            (Tok::Header(name), Tok::Number(number)) if name == "AP" => Some(*number),
            _ => None,
        });
        Self {
            tokens,
            n_propositions: n_propositions.unwrap_or(0),
            at: 0,
            name: None,
            n_states: None,
            start: Vec::new(),
            propositions: Vec::new(),
            has_propositions: false,
            aliases: FxHashMap::default(),
            acceptance: None,
            stutter_invariant: false,
            states: Vec::new(),
            described: FxHashMap::default(),
        }
    }

    fn tok(&self) -> &Tok {
        &self.tokens[self.at].tok
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The token here; goes on behind it.
    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        // The last one is the end, which is never left.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, sign: char) -> bool {
        let is_here = *self.tok() == Tok::Sign(sign);
        if is_here {
            self.next();
        }
        is_here
    }

    fn expect(&mut self, sign: char) -> Parse<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    fn number(&mut self, what: &str) -> Parse<usize> {
        match *self.tok() {
            Tok::Number(number) => {
                self.next();
                Ok(number)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The complaint that something else should stand here.
    fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.tok() {
            Tok::Header(name) => format!("`{name}:`"),
            Tok::Word(word) => format!("`{word}`"),
            Tok::Text { text, .. } => format!("\"{text}\""),
            Tok::Number(number) => format!("`{number}`"),
            Tok::Alias(name) => format!("`@{name}`"),
            Tok::Sign(sign) => format!("`{sign}`"),
            Tok::Mark(mark) => format!("`{mark}`"),
            Tok::End => "the end of the file".to_owned(),
        };
        let message = format!("expected {what}, found {found}");
        Diagnostic::error("hoa-syntax", message).at(self.span(), format!("expected {what} here"))
    }

    /// All up to and including `--BODY--`.
    fn header(&mut self) -> Parse<()> {
        if *self.tok() != Tok::Header("HOA".to_owned()) {
            let help = "an automaton in the HOA format begins with `HOA: v1`";
            return Err(self.expected("`HOA:`").help(help));
        }
        self.next();
        if *self.tok() != Tok::Word("v1".to_owned()) {
            return Err(self.expected("`v1`").note("only version 1 of the format is known"));
        }
        self.next();
        loop {
            let token = self.next();
            match token.tok {
                Tok::Header(name) => self.header_item(&name, token.span)?,
                Tok::Mark("--BODY--") => break,
                _ => {
                    self.at -= 1;
                    return Err(self.expected("a header or `--BODY--`"));
                }
            }
        }
        if self.acceptance.is_none() {
            let span = self.tokens[self.at - 1].span;
            return Err(
                Diagnostic::error("hoa-syntax", "the automaton has no line `Acceptance:`").at(span, "")
            );
        }
        Ok(())
    }

    fn header_item(&mut self, name: &str, span: Span) -> Parse<()> {
        match name {
            "States" => {
                let at = self.span();
                let number = self.number("the number of states")?;
                if number > MAX_STATES {
                    return Err(build_error(BuildError::TooManyStates, at));
                }
                self.n_states = Some(number);
            }
            "Start" => {
                let state = self.number("the number of a state")?;
                self.refuse_conjunction()?;
                self.start.push(state);
            }
            "AP" => self.atomic_propositions(span)?,
            "Alias" => {
                let token = self.next();
                let Tok::Alias(alias) = token.tok else {
                    self.at -= 1;
                    return Err(self.expected("a name such as `@a`"));
                };
                let label = self.label_expr(0)?;
                if self.aliases.insert(alias.clone(), label).is_some() {
                    let message = format!("`@{alias}` is defined twice");
                    return Err(Diagnostic::error("hoa-alias", message).at(token.span, ""));
                }
            }
            "Acceptance" => self.acceptance_line(span)?,
            "name" => {
                if let Tok::Text { text, .. } = self.tok() {
                    self.name = Some(text.clone());
                }
                self.skip_item();
            }
            "properties" => {
                while let Tok::Word(word) = self.tok() {
                    self.stutter_invariant |= word == "stutter-invariant";
                    self.next();
                }
            }
            // What begins with a small letter may be ignored, says the format; the rest changes the meaning.
            _ if name.starts_with(|c: char| c.is_lowercase()) => self.skip_item(),
            _ => {
                let message = format!("the header `{name}:` is not known");
                let note =
                    "a header that begins with a capital letter may change the meaning of the automaton";
                return Err(Diagnostic::error("hoa-header", message).at(span, "").note(note));
            }
        }
        Ok(())
    }

    fn skip_item(&mut self) {
        while matches!(self.tok(), Tok::Word(_) | Tok::Text { .. } | Tok::Number(_)) {
            self.next();
        }
    }

    fn atomic_propositions(&mut self, span: Span) -> Parse<()> {
        if std::mem::replace(&mut self.has_propositions, true) {
            return Err(Diagnostic::error("hoa-syntax", "a second line `AP:`").at(span, ""));
        }
        let count_span = self.span();
        let count = self.number("the number of atomic propositions")?;
        while let Tok::Text { text, escaped } = self.tok().clone() {
            self.propositions.push(Proposition { text, escaped, span: self.span() });
            self.next();
        }
        if self.propositions.len() != count {
            let n_names = self.propositions.len();
            let message = format!("{count} atomic propositions are announced, and {n_names} are named");
            return Err(Diagnostic::error("hoa-syntax", message).at(count_span, ""));
        }
        Ok(())
    }

    fn acceptance_line(&mut self, span: Span) -> Parse<()> {
        let n_sets = self.number("the number of acceptance sets")?;
        let first = self.span();
        let mut needed = Vec::new();
        let is_buchi = self.acceptance_conjunction(&mut needed, 0)?;
        let last = self.tokens[self.at - 1].span;
        if !is_buchi || *self.tok() == Tok::Sign('|') {
            return Err(Diagnostic::error("hoa-acceptance", "this is no Büchi automaton")
                .at(first.to(last), "only `t`, `Inf(0)` and `Inf(0)&Inf(1)&…` can be checked")
                .help("Spot's `autfilt --ba` makes such an automaton of any other"));
        }
        if let Some(set) = needed.iter().find(|&&set| set >= n_sets) {
            let message = format!("there is no acceptance set {set}: there are {n_sets}");
            return Err(Diagnostic::error("hoa-acceptance", message).at(first.to(last), ""));
        }
        needed.sort_unstable();
        needed.dedup();
        if self.acceptance.replace((n_sets, needed)).is_some() {
            return Err(Diagnostic::error("hoa-syntax", "a second line `Acceptance:`").at(span, ""));
        }
        Ok(())
    }

    /// Sets that must all be visited again and again. `false` where the condition says something else.
    fn acceptance_conjunction(&mut self, needed: &mut Vec<usize>, nesting: usize) -> Parse<bool> {
        loop {
            let token = self.next();
            match token.tok {
                Tok::Word(word) if word == "t" => {}
                Tok::Word(word) if word == "Inf" => {
                    self.expect('(')?;
                    if *self.tok() == Tok::Sign('!') {
                        return Ok(false);
                    }
                    needed.push(self.number("the number of an acceptance set")?);
                    self.expect(')')?;
                }
                Tok::Sign('(') if nesting < MAX_NESTING => {
                    if !self.acceptance_conjunction(needed, nesting + 1)? || *self.tok() == Tok::Sign('|') {
                        return Ok(false);
                    }
                    self.expect(')')?;
                }
                Tok::Word(_) => return Ok(false),
                _ => {
                    self.at -= 1;
                    return Err(self.expected("an acceptance condition such as `Inf(0)`"));
                }
            }
            if !self.eat('&') {
                return Ok(true);
            }
        }
    }

    fn refuse_conjunction(&self) -> Parse<()> {
        if *self.tok() != Tok::Sign('&') {
            return Ok(());
        }
        Err(Diagnostic::error("hoa-alternation", "alternating automata cannot be checked")
            .at(self.span(), "a run would have to be in both states")
            .help("Spot's `autfilt --ba` makes an ordinary automaton of it"))
    }

    /// A disjunction of conjunctions.
    fn label_expr(&mut self, nesting: usize) -> Parse<Label> {
        let start = self.span();
        let mut label = self.label_conjunction(nesting)?;
        while self.eat('|') {
            let right = self.label_conjunction(nesting)?;
            label = Label { guard: label.guard.or(right.guard), size: label.size + right.size + 1 };
            self.limit(&label, start)?;
        }
        Ok(label)
    }

    fn label_conjunction(&mut self, nesting: usize) -> Parse<Label> {
        let start = self.span();
        let mut label = self.label_atom(nesting)?;
        while self.eat('&') {
            let right = self.label_atom(nesting)?;
            label = Label { guard: label.guard.and(right.guard), size: label.size + right.size + 1 };
            self.limit(&label, start)?;
        }
        Ok(label)
    }

    fn limit(&self, label: &Label, start: Span) -> Parse<()> {
        if label.size <= MAX_LABEL {
            return Ok(());
        }
        let span = start.to(self.tokens[self.at - 1].span);
        Err(build_error(BuildError::TooManyEdges, span))
    }

    fn label_atom(&mut self, nesting: usize) -> Parse<Label> {
        let token = self.next();
        let guard = match token.tok {
            Tok::Word(word) if word == "t" => Guard::True,
            Tok::Word(word) if word == "f" => Guard::False,
            Tok::Number(number) if number < self.n_propositions => Guard::Atom(Atom::new(number)),
            Tok::Number(number) => {
                let message = format!("there is no atomic proposition {number}");
                let label = format!("there are {}, from 0 on", self.n_propositions);
                return Err(Diagnostic::error("hoa-label", message).at(token.span, label));
            }
            Tok::Alias(name) => match self.aliases.get(&name) {
                Some(label) => return Ok(label.clone()),
                None => {
                    let message = format!("`@{name}` is not defined");
                    let label = "an alias is defined before it is used";
                    return Err(Diagnostic::error("hoa-alias", message).at(token.span, label));
                }
            },
            Tok::Sign('!' | '(') if nesting >= MAX_NESTING => {
                return Err(Diagnostic::error("hoa-label", "a label is nested too deeply").at(token.span, ""));
            }
            Tok::Sign('!') => {
                let Label { guard, size } = self.label_atom(nesting + 1)?;
                return Ok(Label { guard: guard.negated(), size: size + 1 });
            }
            Tok::Sign('(') => {
                let label = self.label_expr(nesting + 1)?;
                self.expect(')')?;
                return Ok(label);
            }
            _ => {
                self.at -= 1;
                return Err(self.expected("an atomic proposition by its number, `t`, `f`, or an alias"));
            }
        };
        Ok(Label { guard, size: 1 })
    }

    /// `[label]`, if there is one.
    fn label(&mut self) -> Parse<Option<Label>> {
        if !self.eat('[') {
            return Ok(None);
        }
        let label = self.label_expr(0)?;
        self.expect(']')?;
        Ok(Some(label))
    }

    /// `{0 1}`, if it is there: the sets that count among them.
    fn acceptance_sets(&mut self) -> Parse<u32> {
        let mut sets = 0;
        if !self.eat('{') {
            return Ok(sets);
        }
        let (n_sets, needed) = self.acceptance.clone().unwrap_or_default();
        while !self.eat('}') {
            let span = self.span();
            let set = self.number("the number of an acceptance set or `}`")?;
            if set >= n_sets {
                let message = format!("there is no acceptance set {set}: there are {n_sets}");
                return Err(Diagnostic::error("hoa-acceptance", message).at(span, ""));
            }
            let position = needed.iter().position(|&other| other == set);
            sets |= position.and_then(|bit| 1_u32.checked_shl(bit as u32)).unwrap_or(0);
        }
        Ok(sets)
    }

    /// All between `--BODY--` and `--END--`, and that nothing follows.
    fn body(&mut self) -> Parse<()> {
        loop {
            let token = self.next();
            match token.tok {
                Tok::Header(name) if name == "State" => {
                    let state = self.state()?;
                    self.states.push(state);
                }
                Tok::Mark("--END--") => break,
                Tok::Mark("--ABORT--") => {
                    let message = "the automaton was given up by the tool that wrote it";
                    return Err(Diagnostic::error("hoa-syntax", message).at(token.span, ""));
                }
                _ => {
                    self.at -= 1;
                    return Err(self.expected("`State:` or `--END--`"));
                }
            }
        }
        if *self.tok() == Tok::End {
            return Ok(());
        }
        Err(Diagnostic::error("hoa-syntax", "something follows the automaton")
            .at(self.span(), "")
            .help("write one automaton into each file"))
    }

    fn state(&mut self) -> Parse<StateText> {
        let label = self.label()?;
        let span = self.span();
        let number = self.number("the number of a state")?;
        if let Some(first) = self.described.insert(number, span) {
            let message = format!("state {number} is described twice");
            return Err(Diagnostic::error("hoa-state", message).at(span, "").context(first, "here first"));
        }
        if matches!(self.tok(), Tok::Text { .. }) {
            self.next();
        }
        let acceptance = self.acceptance_sets()?;
        let mut edges = Vec::new();
        while matches!(self.tok(), Tok::Sign('[') | Tok::Number(_)) {
            let label = self.label()?;
            let span = self.span();
            let target = self.number("the number of a state")?;
            self.refuse_conjunction()?;
            let acceptance = self.acceptance_sets()?;
            edges.push(EdgeText { label, target, acceptance, span });
        }
        Ok(StateText { number, span, label, acceptance, edges })
    }

    /// The automaton of what was read.
    fn finish(
        self,
        atoms: IndexVec<Atom, AtomSyntax>,
        propositions: &[Guard],
    ) -> Result<HoaAutomaton, Diagnostic> {
        let whole = self.tokens[0].span.to(self.tokens[self.at].span);
        let (_, needed) = self.acceptance.clone().unwrap_or_default();
        let named = self.states.iter().flat_map(|state| {
            let targets = state.edges.iter().map(|edge| (edge.target, edge.span));
            targets.chain([(state.number, state.span)])
        });
        let most = named.clone().map(|(number, _)| number).chain(self.start.iter().copied()).max();
        let n_states = self.n_states.unwrap_or_else(|| most.map_or(0, |most| most.saturating_add(1)));
        if n_states > MAX_STATES {
            return Err(build_error(BuildError::TooManyStates, whole));
        }
        let starts = self.start.iter().map(|&start| (start, self.tokens[0].span));
        if let Some((number, span)) = named.chain(starts).find(|(number, _)| *number >= n_states) {
            let message = format!("there is no state {number}: there are {n_states}, from 0 on");
            return Err(Diagnostic::error("hoa-state", message).at(span, ""));
        }
        let n_sets = u32::try_from(needed.len()).unwrap_or(u32::MAX);
        let mut builder = AutomatonBuilder::new(n_sets);
        for _ in 0..n_states {
            builder.add_state();
        }
        for state in &self.states {
            let source = AutState::new(state.number);
            builder.mark_state(source, state.acceptance);
            let implicit = self.implicit_labels(state)?;
            for (position, edge) in state.edges.iter().enumerate() {
                let label = match (&edge.label, &state.label) {
                    (None, None) => implicit[position].clone(),
                    (Some(label), None) | (None, Some(label)) => label.guard.clone(),
                    (Some(_), Some(_)) => {
                        let message = "an edge out of a state with a label has none of its own";
                        return Err(Diagnostic::error("hoa-label", message).at(edge.span, ""));
                    }
                };
                let guard = substitute(&label, propositions);
                builder.add_edge(source, guard, AutState::new(edge.target), edge.acceptance);
            }
        }
        let initial: Vec<AutState> = self.start.iter().map(|&start| AutState::new(start)).collect();
        let names = atoms.iter().map(ToString::to_string).collect();
        let automaton = builder.finish(&initial, names).map_err(|error| build_error(error, whole))?;
        Ok(HoaAutomaton { name: self.name, automaton, atoms, stutter_invariant: self.stutter_invariant })
    }

    /// The labels of the edges of a state that has none written: the letters in order. Empty where labels are
    /// written.
    fn implicit_labels(&self, state: &StateText) -> Parse<Vec<Guard>> {
        if state.label.is_some() || state.edges.iter().all(|edge| edge.label.is_some()) {
            return Ok(Vec::new());
        }
        let n_atoms = self.propositions.len();
        let n_edges = state.edges.len();
        if state.edges.iter().any(|edge| edge.label.is_some())
            || n_atoms > MAX_IMPLICIT
            || n_edges != 1 << n_atoms
        {
            let edge =
                state.edges.iter().find(|edge| edge.label.is_none()).map_or(state.span, |edge| edge.span);
            return Err(Diagnostic::error("hoa-label", "the edge has no label")
                .at(edge, "")
                .note("labels may be left out only where a state has one edge for each letter, in order"));
        }
        let literal = |letter: usize, atom: usize| {
            let guard = Guard::Atom(Atom::new(atom));
            if letter >> atom & 1 == 1 { guard } else { guard.negated() }
        };
        let letter = |letter| (0..n_atoms).map(|atom| literal(letter, atom)).fold(Guard::True, Guard::and);
        Ok((0..n_edges).map(letter).collect())
    }
}

fn build_error(error: BuildError, span: Span) -> Diagnostic {
    Diagnostic::error("automaton-too-large", error.to_string()).at(span, "")
}

/// The label with what the propositions mean.
fn substitute(label: &Guard, propositions: &[Guard]) -> Guard {
    match label {
        Guard::True => Guard::True,
        Guard::False => Guard::False,
        Guard::Atom(atom) => propositions[atom.index()].clone(),
        Guard::Not(inner) => substitute(inner, propositions).negated(),
        Guard::And(left, right) => substitute(left, propositions).and(substitute(right, propositions)),
        Guard::Or(left, right) => substitute(left, propositions).or(substitute(right, propositions)),
    }
}
