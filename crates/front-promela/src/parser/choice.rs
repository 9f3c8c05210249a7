//! `if`, `do`, `for`, `select`. The last two are written out as SPIN does it, so that the steps are the same.

use pdnet_source::{Diagnostic, Span};

use super::label::skip;
use super::reference::{Arrays, Target, constant};
use super::{Parsed, Parser};
use crate::lexer::Kind;
use crate::names::Node;
use crate::tree::{
    BinaryOp, ChannelQuery, Choice, Expr, ExprKind, Init, Place, ReceiveArg, Scope, Sequence, Stmt, StmtKind,
    Type, VarData,
};

/// Up to this many values `select` is an `if` with one choice for each.
const SELECT_LIMIT: i64 = 32;

impl Parser {
    /// The choices of `if` or `do`.
    pub(super) fn choices(&mut self, open: &'static str, close: &'static str) -> Parsed<Vec<Choice>> {
        let start = self.expect(open, "")?;
        while self.take(";") {}
        let mut choices = Vec::new();
        let n_errors = self.n_errors();
        while self.sees("::") && !self.gave_up() {
            if let Ok(choice) = self.choice() {
                choices.push(choice);
            }
        }
        if choices.is_empty() && self.n_errors() == n_errors {
            let diagnostic = self.unexpected(&format!("expected `::` behind `{open}`"));
            let help = match open {
                _ if !(self.sees("(") || self.sees("{")) => return self.fail(diagnostic),
                "if" => "a choice is `if :: (condition) -> … :: else -> … fi`",
                _ => "a loop is `do :: (condition) -> … :: else -> break od`",
            };
            return self.fail(diagnostic.help(help));
        }
        if !self.sees(close) {
            let diagnostic = self
                .unexpected(&format!("expected `{close}` at the end of `{open}`"))
                .context(start, format!("this `{open}`"));
            return self.fail(diagnostic);
        }
        self.at += 1;
        self.check_else(&mut choices);
        Ok(choices)
    }

    fn choice(&mut self) -> Parsed<Choice> {
        let start = self.expect("::", "")?;
        self.statement_is_there();
        let n_errors = self.n_errors();
        let mut body = self.sequence();
        if body.is_empty() {
            if self.n_errors() > n_errors {
                return Err(super::Failed);
            }
            let diagnostic = Diagnostic::error("empty-sequence", "a choice needs at least one statement")
                .at(start, "nothing is done here")
                .help("write `skip`");
            return self.fail(diagnostic);
        }
        // Separators behind the last statement belong to nobody.
        let last = body.last().map_or(start, |last| last.span);
        let otherwise = match body.first() {
            Some(Stmt { kind: StmtKind::Else, span, labels }) if labels.is_empty() => Some(*span),
            Some(_) | None => None,
        };
        self.remove_skips(&mut body);
        if otherwise.is_some() {
            body.remove(0);
        }
        Ok(Choice { otherwise, body, span: start.to(last) })
    }

    /// Removes the second and later `skip` of a row, but for the last statement, as SPIN does.
    fn remove_skips(&self, sequence: &mut Sequence) {
        let Some(body) = &self.body else { return };
        if body.kind == super::BodyKind::Claim {
            return;
        }
        let mut row = 0usize;
        let last = sequence.len().saturating_sub(1);
        let mut at = 0usize;
        sequence.retain(|stmt| {
            let position = at;
            at += 1;
            let prints = matches!(stmt.kind, StmtKind::Print { .. });
            let skips = matches!(&stmt.kind, StmtKind::Condition(Expr { kind: ExprKind::Const(1), .. }))
                && !body.kept_skips.contains(&stmt.span);
            if !(prints || skips) || !stmt.labels.is_empty() {
                row = 0;
                return true;
            }
            row += 1;
            !(row > 1 && skips && position > 0 && position < last)
        });
    }

    /// At most one `else`; one inside of a block only in the last choice.
    fn check_else(&mut self, choices: &mut [Choice]) {
        let spans: Vec<Span> = choices.iter().filter_map(|choice| choice.otherwise).collect();
        if let [first, second, ..] = spans[..] {
            let diagnostic = Diagnostic::error("duplicate-else", "there can be only one `else`")
                .at(second, "again here")
                .context(first, "first here");
            self.report(diagnostic);
        }
        let last = choices.len().saturating_sub(1);
        for (position, choice) in choices.iter_mut().enumerate() {
            let inside = choice.otherwise.is_none().then(|| first_else(&choice.body)).flatten();
            if let Some(span) = inside
                && (position < last || !spans.is_empty())
            {
                let diagnostic =
                    Diagnostic::error("misplaced-else", "this `else` does not look at all other choices")
                        .at(span, "inside of a block")
                        .note("SPIN compares it only with the choices before it")
                        .help("put the choice last, or write `:: else -> atomic { … }`");
                self.report(diagnostic);
            }
        }
    }

    /// `for ( i : a .. b ) { … }`, `for ( i in a ) { … }`.
    pub(super) fn for_loop(&mut self, prelude: &mut Sequence) -> Parsed<StmtKind> {
        let start = self.expect("for", "")?;
        self.expect("(", "behind `for`")?;
        let reference = self.reference(Arrays::NeedIndex)?;
        let name = reference.name.clone();
        if self.take(":") {
            let (place, ty) = self.place_of(reference)?;
            self.check_index(&place, ty)?;
            let from = self.deeper(Self::expression)?;
            self.expect("..", "between the bounds of `for`")?;
            let to = self.deeper(Self::expression)?;
            self.expect(")", "behind the bounds of `for`")?;
            self.warn_of_empty_range(&from, &to);
            let head = self.since(start);
            prelude.push(assign(place.clone(), from, head));
            let condition = compare(BinaryOp::Le, &place, to, head);
            return self.loop_body(vec![condition], &place, head);
        }
        if !self.take("in") {
            let diagnostic = self.unexpected("expected `:` or `in` behind the variable of `for`");
            return self.fail(diagnostic);
        }
        let is_structure = matches!(&reference.target, Target::Part { node: Node::Struct(..), .. });
        let what = self.reference(Arrays::Whole)?;
        let what_name = what.name.clone();
        self.expect(")", "behind the head of `for`")?;
        let head = self.since(start);
        if is_structure {
            return self.for_messages(prelude, reference, what, head);
        }
        let (place, ty) = self.place_of(reference)?;
        self.check_index(&place, ty)?;
        let Target::Part { whole: Some(length), .. } = what.target else {
            let message = format!("`{}` is not an array", what_name.text);
            let diagnostic = Diagnostic::error("not-an-array", message)
                .at(what_name.place(), "an array is needed here")
                .help(format!("for a range, write `for ({} : 1 .. n)`", name.text));
            return self.fail(diagnostic);
        };
        prelude.push(assign(place.clone(), constant(0, head), head));
        let condition = compare(BinaryOp::Le, &place, constant(i64::from(length) - 1, head), head);
        self.loop_body(vec![condition], &place, head)
    }

    /// `for ( m in q )`: each message is taken out, put back behind the others, and looked at.
    fn for_messages(
        &mut self,
        prelude: &mut Sequence,
        message: super::reference::Reference,
        queue: super::reference::Reference,
        head: Span,
    ) -> Parsed<StmtKind> {
        let queue_name = queue.name.clone();
        let message_type = match &message.target {
            Target::Part { node: Node::Struct(ty, _), .. } => ty.name.clone(),
            Target::Part { .. } | Target::Special(_) | Target::Ignore => String::new(),
        };
        let fields = self.parts_of(message)?;
        let channel = self.channel_of(queue)?;
        let ExprKind::Load(queue_place) = &channel.kind else { return Err(super::Failed) };
        let known = self.channels.get(&queue_place.var);
        let fits = known.is_some_and(|known| {
            known.ty.capacity > 0 && known.message.as_ref().is_some_and(|ty| ty.name == message_type)
        });
        let capacity = known.map_or(0, |known| known.ty.capacity);
        if !fits {
            let message = format!("the messages of `{}` are not of type `{message_type}`", queue_name.text);
            let diagnostic = Diagnostic::error("bad-for-channel", message).at(
                queue_name.place(),
                "its declaration must say `of { … }` with that type alone, and have room",
            );
            return self.fail(diagnostic);
        }
        let counter = self.message_counter(if capacity > 255 { Type::Short } else { Type::Byte }, head)?;
        prelude.push(assign(counter.clone(), constant(0, head), head));
        let length = Expr { kind: ExprKind::Query(ChannelQuery::Len, Box::new(channel.clone())), span: head };
        let condition = compare(BinaryOp::Lt, &counter, length, head);
        let load = |place: &Place| Expr { kind: ExprKind::Load(place.clone()), span: place.span };
        let values = fields.iter().map(load).collect();
        let receive = StmtKind::Receive {
            channel: channel.clone(),
            args: fields.into_iter().map(ReceiveArg::Store).collect(),
            random: false,
            keep: false,
        };
        let send = StmtKind::Send { channel, args: values, sorted: false };
        let plain = |kind| Stmt { labels: Vec::new(), kind, span: head };
        self.loop_body(vec![condition, plain(receive), plain(send)], &counter, head)
    }

    /// The hidden counter of `for ( m in q )`; one for each block.
    fn message_counter(&mut self, ty: Type, span: Span) -> Parsed<Place> {
        let Some(body) = &mut self.body else { return Err(super::Failed) };
        let super::BodyKind::Proc(proc) = body.kind else {
            let diagnostic = Diagnostic::error("misplaced-for", "a claim cannot change variables")
                .at(span, "this loop counts");
            return self.fail(diagnostic);
        };
        let vars = &mut self.model.vars;
        let var = *body.counters.entry(body.scope.clone()).or_insert_with(|| {
            vars.push(VarData {
                name: "for counter".to_owned(),
                ty,
                scope: Scope::Local(proc),
                dims: Vec::new(),
                init: Init::Zero,
                hidden: false,
                show: false,
                local: false,
                param: None,
                span,
            })
        });
        Ok(Place { var, indices: Vec::new(), span })
    }

    /// The body of `for`, and the loop around it.
    fn loop_body(&mut self, mut first: Sequence, index: &Place, head: Span) -> Parsed<StmtKind> {
        while self.take(";") {}
        self.enter_loop(1);
        let inner = self.block("behind the head of `for`");
        self.enter_loop(-1);
        first.append(&mut inner?);
        first.push(increment(index, head));
        let leave = Choice { otherwise: Some(head), body: vec![plain_break(head)], span: head };
        Ok(StmtKind::Do(vec![Choice { otherwise: None, body: first, span: head }, leave]))
    }

    /// `select ( i : a .. b )`.
    pub(super) fn select(&mut self, prelude: &mut Sequence) -> Parsed<StmtKind> {
        let start = self.expect("select", "")?;
        self.expect("(", "behind `select`")?;
        let reference = self.reference(Arrays::NeedIndex)?;
        let name = reference.name.clone();
        let (place, ty) = self.place_of(reference)?;
        self.check_index(&place, ty)?;
        self.expect(":", "behind the variable of `select`")?;
        // SPIN writes a range of two plain numbers out before it parses, but not inside an inline, and not for a name
        // with an underscore.
        let is_number =
            |token: Option<&crate::lexer::Token>| token.is_some_and(|token| token.kind == Kind::Number);
        let plain = is_number(self.peek())
            && self.sees_at(1, "..")
            && is_number(self.peek_at(2))
            && self.sees_at(3, ")")
            && self.frames.is_empty()
            && !name.text.contains('_');
        let from = self.deeper(Self::expression)?;
        self.expect("..", "between the bounds of `select`")?;
        let to = self.deeper(Self::expression)?;
        self.expect(")", "behind the bounds of `select`")?;
        self.warn_of_empty_range(&from, &to);
        let span = self.since(start);
        let bounds = (Self::constant_value(&from), Self::constant_value(&to));
        if let (Some(low), Some(high)) = bounds
            && plain
            && high.saturating_sub(low) <= SELECT_LIMIT
        {
            if low > high {
                let diagnostic = Diagnostic::error("empty-range", "this range is empty")
                    .at(span, "no value can be selected");
                return self.fail(diagnostic);
            }
            let choice = |value| Choice {
                otherwise: None,
                body: vec![assign(place.clone(), constant(value, span), span)],
                span,
            };
            return Ok(StmtKind::If((low..=high).map(choice).collect()));
        }
        prelude.push(assign(place.clone(), from, span));
        let go_on = vec![compare(BinaryOp::Lt, &place, to, span), increment(&place, span)];
        let leave = vec![plain_break(span)];
        let mut choices = vec![
            Choice { otherwise: None, body: leave, span },
            Choice { otherwise: None, body: go_on, span },
        ];
        if plain {
            choices.reverse();
        }
        Ok(StmtKind::Do(choices))
    }

    fn check_index(&mut self, place: &Place, ty: Type) -> Parsed<()> {
        if ty == Type::Chan || !place.indices.is_empty() {
            let diagnostic =
                Diagnostic::error("bad-loop-variable", "the variable of a loop must be a plain number")
                    .at(place.span, "not a scalar variable");
            return self.fail(diagnostic);
        }
        Ok(())
    }

    fn warn_of_empty_range(&mut self, from: &Expr, to: &Expr) {
        if let (Some(low), Some(high)) = (Self::constant_value(from), Self::constant_value(to))
            && low > high
        {
            let warning = Diagnostic::warning("empty-range", "this range is empty")
                .at(from.span.to(to.span), format!("{low} is more than {high}"));
            self.report(warning);
        }
    }
}

/// The place of an `else` at the beginning of nested blocks.
fn first_else(sequence: &Sequence) -> Option<Span> {
    let first = sequence.first()?;
    match &first.kind {
        StmtKind::Else => Some(first.span),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => first_else(inner),
        StmtKind::Condition(_)
        | StmtKind::Assign(..)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::Unless { .. }
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Assert(_)
        | StmtKind::Print { .. } => None,
    }
}

/// An `else` that begins no choice is always executable, in SPIN: it becomes `1`, and the places are returned.
pub(super) fn replace_lost_else(sequence: &mut Sequence, begins_choice: bool, lost: &mut Vec<Span>) {
    for (position, stmt) in sequence.iter_mut().enumerate() {
        let begins = begins_choice && position == 0;
        match &mut stmt.kind {
            StmtKind::Else if !begins => {
                lost.push(stmt.span);
                let labels = std::mem::take(&mut stmt.labels);
                *stmt = skip(labels, stmt.span);
            }
            StmtKind::If(choices) | StmtKind::Do(choices) => {
                for choice in choices {
                    replace_lost_else(&mut choice.body, choice.otherwise.is_none(), lost);
                }
            }
            StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
                replace_lost_else(inner, begins, lost);
            }
            StmtKind::Unless { main, escape } => {
                replace_lost_else(main, false, lost);
                replace_lost_else(escape, false, lost);
            }
            StmtKind::Else
            | StmtKind::Condition(_)
            | StmtKind::Assign(..)
            | StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Assert(_)
            | StmtKind::Print { .. } => {}
        }
    }
}

pub(super) fn assign(place: Place, value: Expr, span: Span) -> Stmt {
    Stmt { labels: Vec::new(), kind: StmtKind::Assign(place, value), span }
}

fn increment(place: &Place, span: Span) -> Stmt {
    let old = Expr { kind: ExprKind::Load(place.clone()), span };
    let kind = ExprKind::Binary(BinaryOp::Add, Box::new(old), Box::new(constant(1, span)));
    assign(place.clone(), Expr { kind, span }, span)
}

fn compare(operator: BinaryOp, place: &Place, bound: Expr, span: Span) -> Stmt {
    let index = Expr { kind: ExprKind::Load(place.clone()), span: place.span };
    let kind = ExprKind::Binary(operator, Box::new(index), Box::new(bound));
    Stmt { labels: Vec::new(), kind: StmtKind::Condition(Expr { kind, span }), span }
}

fn plain_break(span: Span) -> Stmt {
    Stmt { labels: Vec::new(), kind: StmtKind::Break, span }
}
