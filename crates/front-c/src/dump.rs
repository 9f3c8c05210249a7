//! The typed tree as text, for tests and for looking at it. The form is not stable.

use crate::sema::symbol;
use crate::tree::{
    Body, Callee, Expr, ExprKind, Function, Init, InitStep, Lvalue, LvalueKind, Program, Stmt, StmtKind,
    Storage, UnaryOp, VariableData,
};
use crate::types::{QualType, Type};

/// The program: its variables of file scope and its functions with bodies.
#[must_use]
pub fn dump(program: &Program) -> String {
    let mut printer = Printer { program, text: String::new(), indent: 0 };
    for data in &program.variables {
        printer.global(data);
    }
    for (function, data) in program.functions.iter_enumerated() {
        if let Some(body) = &data.body {
            printer.function(function, body);
        }
    }
    printer.text
}

/// The statements of a function's body, one in each line.
#[must_use]
pub fn dump_body(program: &Program, body: &Body) -> String {
    let mut printer = Printer { program, text: String::new(), indent: 0 };
    for stmt in &body.stmts {
        printer.stmt(stmt);
    }
    printer.text
}

/// An expression: `[x]` reads `x`, `(T)e` is a conversion, `1:long` a constant that is no `int`.
#[must_use]
pub fn dump_expr(program: &Program, expr: &Expr) -> String {
    Printer { program, text: String::new(), indent: 0 }.expr(expr)
}

struct Printer<'p> {
    program: &'p Program,
    text: String,
    indent: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(&"  ".repeat(self.indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn global(&mut self, data: &VariableData) {
        let word = match data.storage {
            Storage::Global if data.extern_only => "extern ",
            Storage::Global => "",
            Storage::Static(_) => "static ",
            Storage::ThreadLocal => "thread_local ",
            Storage::Local(_) | Storage::Param(_) => return,
        };
        let init = data.init.as_ref().map_or(String::new(), |init| format!(" = {}", self.init(init)));
        let line = format!("{word}{}: {}{init}", data.name, self.qualified(&data.ty));
        self.line(&line);
    }

    fn function(&mut self, function: Function, body: &Body) {
        let data = &self.program.functions[function];
        let mut params: Vec<String> = data
            .params
            .iter()
            .map(|&param| {
                let data = &self.program.variables[param];
                format!("{}: {}", data.name, self.qualified(&data.ty))
            })
            .collect();
        if data.variadic {
            params.push("...".to_owned());
        }
        let line = format!("{}({}): {}", data.name, params.join(", "), self.qualified(&data.result));
        self.line(&line);
        self.indent += 1;
        for stmt in &body.stmts {
            self.stmt(stmt);
        }
        self.indent -= 1;
    }

    fn qualified(&self, ty: &QualType) -> String {
        let mut text = String::new();
        for (set, word) in [
            (ty.quals.is_const, "const "),
            (ty.quals.is_volatile, "volatile "),
            (ty.quals.is_atomic, "_Atomic "),
        ] {
            if set {
                text.push_str(word);
            }
        }
        text.push_str(&ty.ty.display(self.program));
        text
    }

    fn init(&self, init: &Init) -> String {
        match init {
            Init::Value(expr) => self.expr(expr),
            Init::Sync(0) => "default".to_owned(),
            Init::Sync(kind) => format!("kind {kind}"),
            Init::List(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|(path, expr)| format!("{} = {}", steps(path), self.expr(expr)))
                    .collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    fn nested(&mut self, stmt: &Stmt) {
        self.indent += 1;
        self.stmt(stmt);
        self.indent -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                let text = self.expr(expr);
                self.line(&text);
            }
            StmtKind::Declare(variable, init) => {
                let data = &self.program.variables[*variable];
                let init = init.as_ref().map_or(String::new(), |init| format!(" = {}", self.init(init)));
                let lengths: String =
                    data.lengths.iter().map(|length| format!(" * {}", self.expr(length))).collect();
                let line = format!("var {}: {}{lengths}{init}", data.name, self.qualified(&data.ty));
                self.line(&line);
            }
            StmtKind::Block(stmts) => {
                self.line("block");
                for stmt in stmts {
                    self.nested(stmt);
                }
            }
            StmtKind::If(condition, yes, no) => {
                let line = format!("if {}", self.expr(condition));
                self.line(&line);
                self.nested(yes);
                if let Some(no) = no {
                    self.line("else");
                    self.nested(no);
                }
            }
            StmtKind::While(condition, body) => {
                let line = format!("while {}", self.expr(condition));
                self.line(&line);
                self.nested(body);
            }
            StmtKind::DoWhile(body, condition) => {
                self.line("do");
                self.nested(body);
                let line = format!("while {}", self.expr(condition));
                self.line(&line);
            }
            StmtKind::For(init, condition, step, body) => {
                self.line("for");
                for stmt in init {
                    self.nested(stmt);
                }
                let part = |expr: &Option<Expr>| expr.as_ref().map_or(String::new(), |expr| self.expr(expr));
                let line = format!("; {}; {}", part(condition), part(step));
                self.line(&line);
                self.nested(body);
            }
            StmtKind::Switch(control, body) => {
                let line = format!("switch {}", self.expr(control));
                self.line(&line);
                self.nested(body);
            }
            StmtKind::Case(low, high, body) => {
                let range = if low == high { low.to_string() } else { format!("{low} ... {high}") };
                self.line(&format!("case {range}:"));
                self.nested(body);
            }
            StmtKind::Default(body) => {
                self.line("default:");
                self.nested(body);
            }
            StmtKind::Label(label, body) => {
                self.line(&format!("{label}:"));
                self.nested(body);
            }
            StmtKind::Goto(label) => self.line(&format!("goto {label}")),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(None) => self.line("return"),
            StmtKind::Return(Some(expr)) => {
                let line = format!("return {}", self.expr(expr));
                self.line(&line);
            }
            StmtKind::Asm => self.line("asm"),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        let ty = || expr.ty.display(self.program);
        match &expr.kind {
            ExprKind::Int(value) if expr.ty == Type::INT => value.to_string(),
            ExprKind::Int(value) => format!("{value}:{}", ty()),
            ExprKind::Float(value) => format!("{value:?}:{}", ty()),
            ExprKind::Load(lvalue) => format!("[{}]", self.lvalue(lvalue)),
            ExprKind::AddressOf(lvalue) => format!("&{}", self.lvalue(lvalue)),
            ExprKind::Decay(lvalue) => format!("&{}[0]", self.lvalue(lvalue)),
            ExprKind::FunctionRef(function) => format!("&{}", self.program.functions[*function].name),
            ExprKind::Unary(op, operand) => {
                let op = match op {
                    UnaryOp::Negate => "-",
                    UnaryOp::Complement => "~",
                    UnaryOp::Not => "!",
                };
                format!("{op}{}", self.expr(operand))
            }
            ExprKind::Binary(op, left, right) => {
                format!("({} {} {})", self.expr(left), symbol(*op), self.expr(right))
            }
            ExprKind::PointerOffset { pointer, offset, negate } => {
                let op = if *negate { "-@" } else { "+@" };
                format!("({} {op} {})", self.expr(pointer), self.expr(offset))
            }
            ExprKind::PointerDifference(left, right) => {
                format!("({} -@@ {})", self.expr(left), self.expr(right))
            }
            ExprKind::LogicalAnd(left, right) => format!("({} && {})", self.expr(left), self.expr(right)),
            ExprKind::LogicalOr(left, right) => format!("({} || {})", self.expr(left), self.expr(right)),
            ExprKind::Conditional(condition, yes, no) => {
                format!("({} ? {} : {})", self.expr(condition), self.expr(yes), self.expr(no))
            }
            ExprKind::Comma(left, right) => format!("({}, {})", self.expr(left), self.expr(right)),
            ExprKind::Cast(inner) => format!("({}){}", ty(), self.expr(inner)),
            ExprKind::Assign(target, value) => format!("{} = {}", self.lvalue(target), self.expr(value)),
            ExprKind::CompoundAssign { target, op, computation, value } => {
                let computation = computation.display(self.program);
                format!("{} {}= {} in {computation}", self.lvalue(target), symbol(*op), self.expr(value))
            }
            ExprKind::Step { target, decrement, postfix } => {
                let op = if *decrement { "--" } else { "++" };
                let target = self.lvalue(target);
                if *postfix { format!("{target}{op}") } else { format!("{op}{target}") }
            }
            ExprKind::Call(callee, args) => {
                let callee = match callee {
                    Callee::Direct(function) => self.program.functions[*function].name.clone(),
                    Callee::Indirect(expr) => format!("({})", self.expr(expr)),
                };
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                format!("{callee}({})", args.join(", "))
            }
            ExprKind::Statement(stmts) => {
                let mut inner = Printer { program: self.program, text: String::new(), indent: 0 };
                for stmt in stmts {
                    inner.stmt(stmt);
                }
                let lines: Vec<&str> = inner.text.lines().map(str::trim).collect();
                format!("({{{}}})", lines.join("; "))
            }
            ExprKind::Unsupported(text) => format!("unsupported({text}):{}", ty()),
        }
    }

    fn lvalue(&self, lvalue: &Lvalue) -> String {
        match &lvalue.kind {
            LvalueKind::Variable(variable) => self.program.variables[*variable].name.clone(),
            LvalueKind::Index(array, index) => format!("{}[{}]", self.lvalue(array), self.expr(index)),
            LvalueKind::Deref(pointer) => format!("*{}", self.expr(pointer)),
            LvalueKind::Field(object, field) => {
                let name = match object.ty.ty {
                    Type::Record(record) => self.program.records[record]
                        .fields
                        .as_ref()
                        .and_then(|fields| fields.get(*field))
                        .map(|field| field.name.clone()),
                    _ => None,
                };
                let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("#{field}"));
                format!("{}.{name}", self.lvalue(object))
            }
            LvalueKind::String(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
            LvalueKind::Compound(variable, init) => {
                let ty = self.program.variables[*variable].ty.ty.display(self.program);
                format!("<{ty} {}>", self.init(init))
            }
        }
    }
}

fn steps(path: &[InitStep]) -> String {
    path.iter()
        .map(|step| match step {
            InitStep::Index(index) => format!("[{index}]"),
            InitStep::Field(field) => format!(".{field}"),
        })
        .collect()
}
