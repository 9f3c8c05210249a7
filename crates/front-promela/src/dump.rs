//! The tree as text, for tests and for the curious: Promela with everything written out.

use std::fmt::Write as _;

use pdnet_base::{Idx as _, IndexVec};

use crate::tree::{
    BinaryOp, ChannelQuery, ChannelType, Choice, ExclusiveKind, Expr, ExprKind, Init, Label, LabelData,
    Model, Place, ReceiveArg, Scope, Sequence, Stmt, StmtKind, Type, UnaryOp, VarData,
};

/// A model as text.
#[must_use]
pub fn dump(model: &Model) -> String {
    let mut printer = Printer { model, out: String::new() };
    printer.model();
    printer.out
}

/// An expression as text.
#[must_use]
pub fn dump_expr(model: &Model, expr: &Expr) -> String {
    let mut printer = Printer { model, out: String::new() };
    printer.expr(expr);
    printer.out
}

struct Printer<'m> {
    model: &'m Model,
    out: String,
}

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self, indent: usize) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        for _ in 0..indent {
            self.out.push_str("  ");
        }
    }

    fn model(&mut self) {
        let model = self.model;
        for set in &model.mtypes {
            self.line(0);
            self.put("mtype");
            if !set.name.is_empty() {
                let _ = write!(self.out, ":{}", set.name);
            }
            self.put(" =");
            for (name, value) in &set.constants {
                let _ = write!(self.out, " {name}={value}");
            }
        }
        for data in model.vars.iter().filter(|data| data.scope == Scope::Global) {
            self.line(0);
            self.var(data);
        }
        for (proc, data) in model.procs.iter_enumerated() {
            self.line(0);
            if data.active > 0 {
                let _ = write!(self.out, "active[{}] ", data.active);
            }
            let _ = write!(
                self.out,
                "{} {}(",
                if data.deterministic { "D_proctype" } else { "proctype" },
                data.name
            );
            for (position, &var) in data.params.iter().enumerate() {
                if position > 0 {
                    self.put("; ");
                }
                self.var(&model.vars[var]);
            }
            self.put(")");
            if let Some(condition) = &data.provided {
                self.put(" provided ");
                self.expr(condition);
            }
            for exclusive in &data.exclusive {
                self.line(1);
                self.put(match exclusive.kind {
                    ExclusiveKind::Receive => "xr ",
                    ExclusiveKind::Send => "xs ",
                });
                self.place(&exclusive.place);
            }
            let locals =
                model.vars.iter().filter(|var| var.scope == Scope::Local(proc) && var.param.is_none());
            for var in locals {
                self.line(1);
                self.var(var);
            }
            self.sequence(&data.body, &data.labels, 1);
        }
        for claim in &model.claims {
            self.line(0);
            let _ = write!(self.out, "never {}", claim.name);
            self.sequence(&claim.body, &claim.labels, 1);
        }
        for trace in &model.traces {
            self.line(0);
            self.put(if trace.negated { "notrace" } else { "trace" });
            self.sequence(&trace.body, &trace.labels, 1);
        }
        for block in &model.formulas {
            self.line(0);
            let names: Vec<String> = block.atoms.iter().map(|atom| dump_expr(model, &atom.expr)).collect();
            let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
            let _ = write!(self.out, "ltl {} {}", block.name, block.formula.display(&names));
        }
        self.put("\n");
    }

    fn ty(&mut self, ty: Type) {
        match ty {
            Type::Bit => self.put("bit"),
            Type::Bool => self.put("bool"),
            Type::Byte => self.put("byte"),
            Type::Pid => self.put("pid"),
            Type::Short => self.put("short"),
            Type::Int => self.put("int"),
            Type::Unsigned(bits) => {
                let _ = write!(self.out, "unsigned:{bits}");
            }
            Type::Mtype(set) => {
                let name = self.model.mtypes.get(set).map_or("", |set| set.name.as_str());
                self.put("mtype");
                if !name.is_empty() {
                    let _ = write!(self.out, ":{name}");
                }
            }
            Type::Chan => self.put("chan"),
        }
    }

    fn var(&mut self, data: &VarData) {
        for (word, is_set) in [("hidden ", data.hidden), ("show ", data.show), ("local ", data.local)] {
            if is_set {
                self.put(word);
            }
        }
        self.ty(data.ty);
        let _ = write!(self.out, " {}", data.name);
        for length in &data.dims {
            let _ = write!(self.out, "[{length}]");
        }
        match &data.init {
            Init::Zero => {}
            Init::Value(value) => {
                self.put(" = ");
                self.expr(value);
            }
            Init::Channel(ChannelType { capacity, fields }) => {
                let _ = write!(self.out, " = [{capacity}] of {{");
                for (position, field) in fields.iter().enumerate() {
                    self.put(if position == 0 { " " } else { ", " });
                    self.ty(*field);
                }
                self.put(" }");
            }
            Init::List(values) => {
                self.put(" = {");
                self.list(values);
                self.put("}");
            }
        }
    }

    fn sequence(&mut self, sequence: &Sequence, labels: &IndexVec<Label, LabelData>, indent: usize) {
        for stmt in sequence {
            self.stmt(stmt, labels, indent);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, labels: &IndexVec<Label, LabelData>, indent: usize) {
        self.line(indent);
        for &label in &stmt.labels {
            let _ = write!(self.out, "{}: ", label_name(labels, label));
        }
        match &stmt.kind {
            StmtKind::Condition(condition) => self.expr(condition),
            StmtKind::Assign(place, value) => {
                self.place(place);
                self.put(" = ");
                self.expr(value);
            }
            StmtKind::Send { channel, args, sorted } => {
                self.expr(channel);
                self.put(if *sorted { " !! " } else { " ! " });
                self.list(args);
            }
            StmtKind::Receive { channel, args, random, keep } => {
                self.expr(channel);
                self.put(if *random { " ?? " } else { " ? " });
                self.put(if *keep { "<" } else { "" });
                self.receive_args(args);
                self.put(if *keep { ">" } else { "" });
            }
            StmtKind::If(choices) => self.choices("if", choices, labels, indent),
            StmtKind::Do(choices) => self.choices("do", choices, labels, indent),
            StmtKind::Block(inner) => self.block("block", inner, labels, indent),
            StmtKind::Atomic(inner) => self.block("atomic", inner, labels, indent),
            StmtKind::DStep(inner) => self.block("d_step", inner, labels, indent),
            StmtKind::Unless { main, escape } => {
                self.block("main", main, labels, indent);
                self.line(indent);
                self.block("unless", escape, labels, indent);
            }
            StmtKind::Goto(label) => {
                let _ = write!(self.out, "goto {}", label_name(labels, *label));
            }
            StmtKind::Break => self.put("break"),
            StmtKind::Else => self.put("else"),
            StmtKind::Assert(condition) => {
                self.put("assert ");
                self.expr(condition);
            }
            StmtKind::Print { format, args } => {
                let _ = write!(self.out, "print {format:?} ");
                self.list(args);
            }
        }
    }

    fn block(&mut self, word: &str, inner: &Sequence, labels: &IndexVec<Label, LabelData>, indent: usize) {
        self.put(word);
        self.sequence(inner, labels, indent + 1);
    }

    fn choices(
        &mut self,
        word: &str,
        choices: &[Choice],
        labels: &IndexVec<Label, LabelData>,
        indent: usize,
    ) {
        self.put(word);
        for choice in choices {
            self.line(indent);
            self.put("::");
            if choice.otherwise.is_some() {
                self.put(" else");
            }
            self.sequence(&choice.body, labels, indent + 1);
        }
    }

    fn receive_args(&mut self, args: &[ReceiveArg]) {
        for (position, arg) in args.iter().enumerate() {
            if position > 0 {
                self.put(", ");
            }
            match arg {
                ReceiveArg::Match(value) => {
                    self.put("=");
                    self.expr(value);
                }
                ReceiveArg::Store(place) => self.place(place),
                ReceiveArg::Ignore => self.put("_"),
            }
        }
    }

    fn list(&mut self, values: &[Expr]) {
        for (position, value) in values.iter().enumerate() {
            if position > 0 {
                self.put(", ");
            }
            self.expr(value);
        }
    }

    fn place(&mut self, place: &Place) {
        let name = self.model.vars.get(place.var).map_or("?", |data| data.name.as_str());
        self.put(name);
        for index in &place.indices {
            self.put("[");
            self.expr(index);
            self.put("]");
        }
    }

    fn process(&mut self, proc: crate::tree::Proc, pid: Option<&Expr>) {
        let name = self.model.procs.get(proc).map_or("?", |data| data.name.as_str());
        self.put(name);
        if let Some(pid) = pid {
            self.put("[");
            self.expr(pid);
            self.put("]");
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(value) => {
                let _ = write!(self.out, "{value}");
            }
            ExprKind::Load(place) => self.place(place),
            ExprKind::Pid => self.put("_pid"),
            ExprKind::ProcessCount => self.put("_nr_pr"),
            ExprKind::Last => self.put("_last"),
            ExprKind::NonProgress => self.put("np_"),
            ExprKind::Anything => self.put("_"),
            ExprKind::Timeout => self.put("timeout"),
            ExprKind::Unary(operator, inner) => {
                self.put(match operator {
                    UnaryOp::Neg => "-",
                    UnaryOp::BitNot => "~",
                    UnaryOp::Not => "!",
                });
                self.expr(inner);
            }
            ExprKind::Binary(operator, left, right) => {
                self.put("(");
                self.expr(left);
                let _ = write!(self.out, " {} ", symbol(*operator));
                self.expr(right);
                self.put(")");
            }
            ExprKind::If(condition, positive, negative) => {
                self.put("(");
                self.expr(condition);
                self.put(" -> ");
                self.expr(positive);
                self.put(" : ");
                self.expr(negative);
                self.put(")");
            }
            ExprKind::Run(proc, args) => {
                self.put("run ");
                self.process(*proc, None);
                self.put("(");
                self.list(args);
                self.put(")");
            }
            ExprKind::Query(query, channel) => {
                self.put(match query {
                    ChannelQuery::Len => "len(",
                    ChannelQuery::Empty => "empty(",
                    ChannelQuery::NotEmpty => "nempty(",
                    ChannelQuery::Full => "full(",
                    ChannelQuery::NotFull => "nfull(",
                });
                self.expr(channel);
                self.put(")");
            }
            ExprKind::Poll { channel, args, random } => {
                self.expr(channel);
                self.put(if *random { " ?? [" } else { " ? [" });
                self.receive_args(args);
                self.put("]");
            }
            ExprKind::Enabled(inner) => {
                self.put("enabled(");
                self.expr(inner);
                self.put(")");
            }
            ExprKind::PcValue(inner) => {
                self.put("pc_value(");
                self.expr(inner);
                self.put(")");
            }
            ExprKind::Remote { proc, pid, place } => {
                self.process(*proc, pid.as_deref());
                self.put(":");
                self.place(place);
            }
            ExprKind::At { proc, pid, label } => {
                self.process(*proc, pid.as_deref());
                let name = self.model.procs.get(*proc).map(|data| label_name(&data.labels, *label));
                let _ = write!(self.out, "@{}", name.unwrap_or_default());
            }
        }
    }
}

/// The name of a label, with a number where labels before it have the same.
fn label_name(labels: &IndexVec<Label, LabelData>, label: Label) -> String {
    let Some(data) = labels.get(label) else { return "?".to_owned() };
    let n_before = labels.iter().take(label.index()).filter(|other| other.name == data.name).count();
    if n_before == 0 { data.name.clone() } else { format!("{}#{}", data.name, n_before + 1) }
}

fn symbol(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
