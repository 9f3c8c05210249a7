//! Labels and jumps. Which label a `goto` means follows SPIN: labels live in blocks, but a jump finds any label of
//! its proctype, the one in its own block first.

use pdnet_base::{FxHashSet, Idx as _, IndexVec};
use pdnet_source::{Diagnostic, Span, nearest_name};

use super::{Parsed, Parser};
use crate::lexer::Token;
use crate::tree::{Choice, Expr, ExprKind, Label, LabelData, Model, Proc, Sequence, Stmt, StmtKind};

/// The labels and jumps of one body.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pub(super) data: IndexVec<Label, LabelData>,
    /// Names of labels as SPIN's table of symbols has them: the first mention in a block makes one, and mentions in
    /// inner blocks find it.
    symbols: Vec<(String, Vec<u32>)>,
    definitions: Vec<Definition>,
    jumps: Vec<Jump>,
}

#[derive(Debug)]
struct Definition {
    symbol: usize,
    /// The inline that it stands in, 0 where there is none.
    inline: usize,
    dstep: Option<u32>,
    label: Label,
}

#[derive(Debug)]
struct Jump {
    symbol: usize,
    dstep: Option<u32>,
    place: Span,
}

impl Labels {
    /// The labels that were read up to here; the first of several that have the same name.
    pub(super) fn read(&self) -> Vec<(String, Label)> {
        named(&self.data)
    }

    fn symbol(&mut self, name: &str, scope: &[u32]) -> usize {
        let known = self.symbols.iter().rposition(|(known, at)| known == name && scope.starts_with(at));
        known.unwrap_or_else(|| {
            self.symbols.push((name.to_owned(), scope.to_vec()));
            self.symbols.len() - 1
        })
    }

    /// The label that a jump means.
    fn destination(&self, jump: &Jump) -> Option<&Definition> {
        let (name, scope) = &self.symbols[jump.symbol];
        let newest_first =
            self.definitions.iter().rev().filter(|found| self.symbols[found.symbol].0 == *name);
        let mut best: Option<&Definition> = None;
        for found in newest_first {
            let at = &self.symbols[found.symbol].1;
            if at == scope {
                return Some(found);
            }
            if scope.starts_with(at) || best.is_none() {
                best = Some(found);
            }
        }
        best
    }
}

impl Parser {
    /// A label stands here.
    pub(super) fn define_label(&mut self, name: &Token) -> Label {
        let inline = self.frames.last().map_or(0, |frame| frame.id + 1);
        let Some(body) = self.body.as_mut() else { return Label::new(0) };
        let symbol = body.labels.symbol(&name.text, &body.scope);
        let twice =
            body.labels.definitions.iter().find(|known| known.symbol == symbol && known.inline == inline);
        let first = twice.map(|known| body.labels.data[known.label].span);
        let label = body.labels.data.push(LabelData { name: name.text.to_string(), span: name.span });
        let dstep = body.dstep.map(|(number, _)| number);
        body.labels.definitions.push(Definition { symbol, inline, dstep, label });
        if let Some(first) = first {
            let diagnostic =
                Diagnostic::error("duplicate-label", format!("the label `{}` is here twice", name.text))
                    .at(name.place(), "again here")
                    .context(first, "first here");
            self.report(diagnostic);
        }
        label
    }

    /// A jump to a label, by its number among the jumps; [`Self::resolve_jumps`] replaces it.
    pub(super) fn jump(&mut self, name: &Token) -> StmtKind {
        let Some(body) = self.body.as_mut() else { return StmtKind::Break };
        let symbol = body.labels.symbol(&name.text, &body.scope);
        let dstep = body.dstep.map(|(number, _)| number);
        body.labels.jumps.push(Jump { symbol, dstep, place: name.place() });
        StmtKind::Goto(Label::new(body.labels.jumps.len() - 1))
    }

    /// Puts the labels in the place of the numbers of jumps.
    pub(super) fn resolve_jumps(&mut self, labels: &Labels, sequence: &mut Sequence) {
        let mut targets = Vec::new();
        for jump in &labels.jumps {
            let name = &labels.symbols[jump.symbol].0;
            match labels.destination(jump) {
                Some(found) if found.dstep == jump.dstep => targets.push(found.label),
                Some(found) => {
                    let label = labels.data[found.label].span;
                    let message = match jump.dstep {
                        Some(_) => "a jump cannot leave a `d_step`",
                        None => "a jump cannot lead into a `d_step`",
                    };
                    let diagnostic = Diagnostic::error("jump-across-d-step", message)
                        .at(jump.place, "the jump")
                        .context(label, "where it leads");
                    self.report(diagnostic);
                    targets.push(found.label);
                }
                None => {
                    let mut diagnostic =
                        Diagnostic::error("unknown-label", format!("there is no label `{name}`"))
                            .at(jump.place, "not in this proctype");
                    let names = labels.data.iter().map(|label| label.name.as_str());
                    if let Some(near) = nearest_name(name, names) {
                        diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                    }
                    self.report(diagnostic);
                    targets.push(Label::new(0));
                }
            }
        }
        each_statement(sequence, &mut |stmt| {
            if let StmtKind::Goto(label) = &mut stmt.kind
                && let Some(target) = targets.get(label.index())
            {
                *label = *target;
            }
        });
    }

    /// A `goto` or `break` behind a label that means something by itself needs a state of its own.
    pub(super) fn separate_special_label(&mut self, stmt: &mut Stmt, prelude: &mut Sequence) {
        let jumps = matches!(stmt.kind, StmtKind::Goto(_) | StmtKind::Break);
        let Some(body) = self.body.as_ref() else { return };
        let is_special = |label: &Label| {
            let name = &body.labels.data[*label].name;
            ["accept", "end", "progress"].iter().any(|prefix| name.starts_with(prefix))
        };
        if jumps && stmt.labels.iter().any(is_special) {
            prelude.push(skip(std::mem::take(&mut stmt.labels), stmt.span));
        }
    }

    /// The labels in front of something must be in front of all of it: nothing can jump to the first statement of a
    /// block, only to the block.
    pub(super) fn refuse_first_label(&mut self, sequence: &Sequence, what: &str) -> Parsed<()> {
        let Some(&label) = sequence.first().and_then(|first| first.labels.first()) else { return Ok(()) };
        let Some(body) = self.body.as_ref() else { return Ok(()) };
        let LabelData { name, span } = &body.labels.data[label];
        let diagnostic = Diagnostic::error(
            "misplaced-label",
            format!("the label `{name}` cannot stand at the start of {what}"),
        )
        .at(*span, "nothing can jump to here")
        .help(format!("put it in front: `{name}: {what}`"));
        self.fail(diagnostic)
    }
}

/// Labels by name; the first of several that have the same one.
pub(super) fn named(labels: &IndexVec<Label, LabelData>) -> Vec<(String, Label)> {
    let mut found: Vec<(String, Label)> = Vec::new();
    for (label, data) in labels.iter_enumerated() {
        if !found.iter().any(|(other, _)| *other == data.name) {
            found.push((data.name.clone(), label));
        }
    }
    found
}

/// A step that does nothing.
pub(super) fn skip(labels: Vec<Label>, span: Span) -> Stmt {
    Stmt { labels, kind: StmtKind::Condition(Expr { kind: ExprKind::Const(1), span }), span }
}

/// Calls a function for all statements, the outer ones first.
pub(crate) fn each_statement(sequence: &mut Sequence, visit: &mut impl FnMut(&mut Stmt)) {
    each_sequence(sequence, &mut |sequence| sequence.iter_mut().for_each(&mut *visit));
}

/// Calls a function for all sequences, the outer ones first.
pub(super) fn each_sequence(sequence: &mut Sequence, visit: &mut impl FnMut(&mut Sequence)) {
    visit(sequence);
    for stmt in sequence {
        match &mut stmt.kind {
            StmtKind::If(choices) | StmtKind::Do(choices) => {
                for Choice { body, .. } in choices {
                    each_sequence(body, visit);
                }
            }
            StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
                each_sequence(inner, visit);
            }
            StmtKind::Unless { main, escape } => {
                each_sequence(main, visit);
                each_sequence(escape, visit);
            }
            StmtKind::Condition(_)
            | StmtKind::Assign(..)
            | StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else
            | StmtKind::Assert(_)
            | StmtKind::Print { .. } => {}
        }
    }
}

/// Gives a state of its own to every `goto` and `break` whose label some `P@l` asks for.
pub(crate) fn separate_asked_labels(model: &mut Model, asked: &FxHashSet<(Proc, Label)>) {
    let procs: Vec<Proc> = model.procs.indices().collect();
    for proc in procs {
        separate_in(proc, &mut model.procs[proc].body, asked);
    }
}

fn separate_in(proc: Proc, body: &mut Sequence, asked: &FxHashSet<(Proc, Label)>) {
    each_sequence(body, &mut |sequence| {
        let mut at = 0;
        while let Some(stmt) = sequence.get_mut(at) {
            let jumps = matches!(stmt.kind, StmtKind::Goto(_) | StmtKind::Break);
            if jumps && stmt.labels.iter().any(|&label| asked.contains(&(proc, label))) {
                let labels = std::mem::take(&mut stmt.labels);
                let span = stmt.span;
                sequence.insert(at, skip(labels, span));
                at += 1;
            }
            at += 1;
        }
    });
}
