//! What the environment decides: nondeterministic values, and library functions that bring some.
//!
//! A new function that gives a value which the program cannot know gets a row in [`SOURCES`].

use pdnet_net::{Action, BinaryOp, Expr, IntType};
use pdnet_source::Span;

use super::Lowerer;
use super::flow::{binary, frame_key};
use super::points_to::Home;
use super::step::Step;
use super::survey::{is_null, strip_casts};
use crate::tree::{Expr as TreeExpr, ExprKind, Function, LvalueKind};
use crate::types::{FloatKind, IntKind, Type};

/// Functions that give a value which the program cannot know, and the least and largest value where it is
/// not any value of their type.
const SOURCES: [(&str, Option<(i64, i64)>); 24] = [
    ("rand", Some((0, i32::MAX as i64))),
    ("rand_r", Some((0, i32::MAX as i64))),
    ("random", Some((0, i32::MAX as i64))),
    ("lrand48", Some((0, i32::MAX as i64))),
    ("mrand48", Some((i32::MIN as i64, i32::MAX as i64))),
    ("arc4random", None),
    ("getchar", Some((-1, 255))),
    ("getc", Some((-1, 255))),
    ("fgetc", Some((-1, 255))),
    ("getchar_unlocked", Some((-1, 255))),
    ("time", Some((0, i64::MAX))),
    ("clock", None),
    ("getpid", Some((1, i32::MAX as i64))),
    ("getppid", Some((0, i32::MAX as i64))),
    ("gettid", Some((1, i32::MAX as i64))),
    ("getuid", None),
    ("geteuid", None),
    ("sysconf", None),
    ("get_nprocs", Some((1, i32::MAX as i64))),
    ("sched_getcpu", Some((-1, i32::MAX as i64))),
    ("nondet", None),
    ("isatty", Some((0, 1))),
    ("feof", None),
    ("ferror", None),
];

/// The type that the name of a nondeterministic function promises (SV-COMP's rules, and the names that
/// programs had before them).
fn nondet_type(name: &str) -> Option<Type> {
    let prefixes = ["__VERIFIER_nondet_", "__nondet_", "nondet_"];
    let kind = match prefixes.into_iter().find_map(|prefix| name.strip_prefix(prefix))? {
        "bool" | "_Bool" => IntKind::Bool,
        "char" => IntKind::Char,
        "uchar" | "u8" | "unsigned_char" => IntKind::UnsignedChar,
        "short" => IntKind::Short,
        "ushort" | "u16" | "unsigned_short" => IntKind::UnsignedShort,
        "int" => IntKind::Int,
        "uint" | "u32" | "unsigned" | "unsigned_int" => IntKind::UnsignedInt,
        "long" | "loff_t" => IntKind::Long,
        "ulong" | "size_t" | "sector_t" | "pthread_t" | "unsigned_long" => IntKind::UnsignedLong,
        "longlong" => IntKind::LongLong,
        "ulonglong" => IntKind::UnsignedLongLong,
        "int128" => IntKind::Int128,
        "uint128" => IntKind::UnsignedInt128,
        "float" => return Some(Type::Float(FloatKind::Float)),
        "double" => return Some(Type::Float(FloatKind::Double)),
        "pointer" | "pchar" => return Some(super::survey::void_pointer()),
        _ => return None,
    };
    Some(Type::Int(kind))
}

/// Whether a function without a body gives a pointer of which nothing is known.
pub(crate) fn gives_outside(name: &str) -> bool {
    matches!(nondet_type(name), Some(Type::Pointer(_)))
        || matches!(
            name,
            "getenv" | "fopen" | "fdopen" | "popen" | "tmpfile" | "strerror" | "dlopen" | "setlocale"
        )
}

impl Lowerer<'_> {
    /// Whether the function gives any value of its type and does nothing else.
    pub(crate) fn is_input(&self, function: Function) -> bool {
        let data = &self.program.functions[function];
        data.body.is_none() && nondet_type(&data.name).is_some()
    }

    /// A call of a function that brings something from outside; `None` where the name is not one of these.
    pub(crate) fn input_call(
        &mut self,
        function: Function,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let data = &self.program.functions[function];
        let name = data.name.as_str();
        if gives_outside(name) {
            arguments.iter().for_each(|argument| self.discard(argument));
            return Some(Some(self.outside_pointer(name, &data.result.ty, span)));
        }
        if let Some(kind) = nondet_type(name) {
            // The declaration may say otherwise than the name; the value is that of the declaration.
            let ty = if data.result.ty == Type::Void { kind } else { data.result.ty.clone() };
            return Some(Some(self.arbitrary(&ty, name, span)));
        }
        if let Some((_, range)) = SOURCES.iter().find(|(source, _)| *source == name) {
            return Some(self.source_call(name, *range, &data.result.ty, arguments, span));
        }
        match (name, arguments) {
            ("scanf" | "__isoc99_scanf", [format, targets @ ..])
            | ("sscanf" | "fscanf" | "__isoc99_sscanf" | "__isoc99_fscanf", [_, format, targets @ ..]) => {
                Some(self.scan(name, format, targets, span))
            }
            _ => None,
        }
    }

    fn source_call(
        &mut self,
        name: &str,
        range: Option<(i64, i64)>,
        ty: &Type,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Expr> {
        let target = match (name, arguments) {
            ("time", [target]) if !is_null(target) => Some(self.behind(target, ty, true)?),
            _ => {
                arguments.iter().for_each(|argument| self.discard(argument));
                None
            }
        };
        let value = self.arbitrary(ty, name, span);
        if let Some((least, largest)) = range {
            let at_least = binary(BinaryOp::Le, Expr::Const(least), value.clone());
            let at_most = binary(BinaryOp::Le, value.clone(), Expr::Const(largest));
            let fits = Expr::both(at_least, at_most);
            // Other values of the type do not come.
            let next = self.fresh_place(span);
            let text = format!("{} is in its range", self.text(span));
            let goes_on = Step::new(Action::Assume, text.clone(), Some(next)).when(fits.clone());
            let never = Step::new(Action::AssumeFail, text, None).when(Expr::logical_not(fits));
            self.emit(span, vec![goes_on, never]);
            self.frame.current = Some(next);
        }
        if let Some(object) = target {
            let step = Step::new(Action::Assign, self.text(span), None).write_object(&object, &value);
            self.advance(span, self.with_written(step, &object));
        }
        Some(value)
    }

    /// A pointer that is null or points to something of which nothing is known.
    fn outside_pointer(&mut self, name: &str, ty: &Type, span: Span) -> Expr {
        if !matches!(ty, Type::Pointer(_)) {
            return self.arbitrary(ty, name, span);
        }
        let outside = self.address_of_home(Home::Outside);
        let null = Step::new(Action::Library, format!("{} (null)", self.text(span)), None);
        let some = Step::new(Action::Library, self.text(span), None);
        let result = self.fresh_temporary(IntType::U64);
        let to = self.fresh_place(span);
        let mut steps = Vec::new();
        for (mut step, value) in [(some, outside), (null, Expr::Const(0))] {
            step.to = Some(to);
            steps.push(step.calling(name).write(result, frame_key(), value));
        }
        if self.frame.current.is_some() {
            self.emit(span, steps);
            self.frame.current = Some(to);
        }
        Expr::Cell(result, frame_key())
    }

    /// `scanf` and its relatives: each target gets any value, or none from some point on.
    fn scan(&mut self, name: &str, format: &TreeExpr, targets: &[TreeExpr], span: Span) -> Option<Expr> {
        let is_simple =
            |text: &[u8]| !text.windows(2).any(|pair| matches!(pair, b"%s" | b"%[" | b"%*" | b"%n"));
        let text = match &strip_casts(format).kind {
            ExprKind::Decay(lvalue) => match &lvalue.kind {
                LvalueKind::String(text) => Some(text.as_slice()),
                _ => None,
            },
            _ => None,
        };
        if !text.is_some_and(is_simple) {
            self.unsupported(format.span, "reading strings, or by a format that is not plain, is");
            return None;
        }
        let result = self.fresh_temporary(IntType::I32);
        let end = self.fresh_place(span);
        let label = self.text(span);
        for (position, target) in targets.iter().enumerate() {
            let Type::Pointer(to) = &target.ty else { return None };
            let object = self.behind(target, &to.ty, true)?;
            let Some(here) = self.frame.current else { return Some(Expr::Const(0)) };
            let count = i64::try_from(position).ok()?;
            let stops =
                Step::new(Action::Library, format!("{label} (reads {count})"), Some(end)).calling(name);
            let stops = stops.write(result, frame_key(), Expr::Const(count));
            let next = self.fresh_place(span);
            let goes_on = Step::new(Action::Library, format!("{label} (reads on)"), Some(next)).calling(name);
            self.frame.current = Some(here);
            self.emit(span, vec![stops, goes_on]);
            self.frame.current = Some(next);
            let value = self.arbitrary(&to.ty, name, target.span);
            let step = Step::new(Action::Assign, label.clone(), None).write_object(&object, &value);
            self.advance(span, self.with_written(step, &object));
        }
        let count = i64::try_from(targets.len()).ok()?;
        let all = Step::new(Action::Library, format!("{label} (reads {count})"), Some(end)).calling(name);
        self.emit(span, vec![all.write(result, frame_key(), Expr::Const(count))]);
        self.frame.current = Some(end);
        Some(Expr::Cell(result, frame_key()))
    }
}
