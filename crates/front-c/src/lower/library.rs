//! Calls of functions without a body: what is known of the C library, of SV-COMP's functions, and of
//! the compiler's builtins. A new library function gets a row in [`Lowerer::library_call`]; those of the
//! thread library live in `pthread.rs`.

use pdnet_net::{Action, BinaryOp, CellData, Expr, IntType, Scope, TransitionBuilder};
use pdnet_source::{Diagnostic, Span, nearest_name};

use super::Lowerer;
use super::cancel::is_cancellation_point;
use super::flow;
use super::step::Step;
use crate::tree::{Expr as TreeExpr, Function};
use crate::types::Type;

/// Functions that do nothing that a property can see. Their arguments are evaluated.
const NO_OPS: [&str; 56] = [
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "dprintf",
    "puts",
    "fputs",
    "putchar",
    "putc",
    "fputc",
    "perror",
    "fflush",
    "setbuf",
    "setvbuf",
    "setlinebuf",
    "__builtin_printf",
    "__builtin_puts",
    "__builtin_putchar",
    "sleep",
    "usleep",
    "nanosleep",
    "sched_yield",
    "pthread_yield",
    "thrd_yield",
    "srand",
    "srandom",
    "pthread_attr_init",
    "pthread_attr_destroy",
    "pthread_attr_setstacksize",
    "pthread_attr_setscope",
    "pthread_attr_setguardsize",
    "pthread_attr_setinheritsched",
    "pthread_attr_setschedpolicy",
    "pthread_attr_setschedparam",
    "pthread_condattr_init",
    "pthread_condattr_destroy",
    "pthread_mutexattr_init",
    "pthread_mutexattr_destroy",
    "pthread_mutexattr_setpshared",
    "pthread_mutexattr_setprotocol",
    "pthread_mutexattr_setprioceiling",
    "pthread_condattr_setclock",
    "pthread_condattr_setpshared",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "cnd_init",
    "cnd_destroy",
    "thrd_sleep",
    "pthread_setconcurrency",
    "pthread_setname_np",
    "pthread_setschedparam",
    "syslog",
    "openlog",
    "closelog",
    "fsync",
    "sync",
];

/// Functions whose call is an error, by the conventions of SV-COMP; the process ends.
const ERRORS: [&str; 2] = ["reach_error", "__VERIFIER_error"];
/// Functions that end the process at once.
const ABORTS: [&str; 3] = ["abort", "__builtin_abort", "__builtin_trap"];
/// Functions that end the process, with a status.
const EXITS: [&str; 4] = ["exit", "_exit", "_Exit", "quick_exit"];

/// Whether a function of the library does nothing but end the process: such a one can be called through a
/// pointer, too.
pub(crate) fn ends_process(name: &str) -> bool {
    ERRORS.contains(&name) || ABORTS.contains(&name) || EXITS.contains(&name)
}

impl Lowerer<'_> {
    /// A call of a function without a body. `wanted` is the type of the result where it is used.
    pub(crate) fn library_call(
        &mut self,
        function: Function,
        arguments: &[TreeExpr],
        wanted: Option<&Type>,
        span: Span,
    ) -> Option<Expr> {
        let data = &self.program.functions[function];
        let name = data.name.as_str();
        if let Some(result) = self.input_call(function, arguments, span) {
            return result;
        }
        if let Some(result) = self.heap_call(name, arguments, span) {
            return result;
        }
        if let Some(result) = self.pthread_call(name, arguments, span) {
            return result;
        }
        if let Some(result) = self.atomic_call(name, arguments, wanted, span) {
            return result;
        }
        match (name, arguments) {
            (
                "__pdnet_assert" | "assert" | "__VERIFIER_assert" | "__ESBMC_assert" | "__CPROVER_assert",
                [condition, ..],
            ) => {
                self.decide(condition, Action::AssertFail, "assertion fails", name, span);
            }
            ("__VERIFIER_assume" | "__ESBMC_assume" | "__CPROVER_assume", [condition]) => {
                self.decide(condition, Action::AssumeFail, "assumption fails", name, span);
            }
            ("__assert_fail" | "__assert_perror_fail" | "__assert" | "__assert_rtn", _) => {
                self.end_with(Action::AssertFail, name, span);
            }
            (name, [status]) if EXITS.contains(&name) => {
                self.discard(status);
                self.end_by(name, span);
            }
            (name, _) if ERRORS.contains(&name) || ABORTS.contains(&name) => self.end_by(name, span),
            ("__VERIFIER_atomic_begin" | "__ESBMC_atomic_begin", _) => self.atomic_begin(span),
            ("__VERIFIER_atomic_end" | "__ESBMC_atomic_end", _) => self.atomic_end(span),
            (name, arguments) if NO_OPS.contains(&name) => self.no_op(name, arguments, wanted, span),
            _ => self.unknown_function(function, span),
        }
        Some(Expr::Const(0))
    }

    /// A condition that must be true for the thread to go on.
    fn decide(&mut self, condition: &TreeExpr, on_false: Action, label: &str, called: &str, span: Span) {
        let text = self.text(condition.span);
        let failing = || Step::new(on_false, format!("{label}: {text}"), None);
        let passing = if on_false == Action::AssumeFail { Action::Assume } else { Action::BranchTrue };
        if self.class(condition).steps {
            let (holds, fails) = (self.fresh_place(span), self.fresh_place(span));
            self.condition(condition, holds, fails);
            self.emit_from(fails, span, failing().calling(called));
            self.frame.current = Some(holds);
            return;
        }
        let value = self.value(condition);
        let next = self.fresh_place(span);
        let pass = Step::new(passing, self.text(span), Some(next)).calling(called);
        let steps = match value {
            Expr::Const(0) => vec![failing().calling(called)],
            Expr::Const(_) => vec![pass],
            value => vec![
                pass.when(Expr::truth(value.clone())),
                failing().calling(called).when(Expr::logical_not(value)),
            ],
        };
        self.emit(span, steps);
        self.frame.current = Some(next);
    }

    /// A call of a function that ends the process.
    pub(crate) fn end_by(&mut self, called: &str, span: Span) {
        if EXITS.contains(&called) {
            self.check_leaks();
        }
        let is_error = ERRORS.contains(&called);
        self.end_with(if is_error { Action::Error } else { Action::ProcessEnd }, called, span);
    }

    /// The process ends here.
    fn end_with(&mut self, action: Action, called: &str, span: Span) {
        let step = Step::new(action, self.text(span), None).calling(called);
        self.emit(span, vec![step]);
    }

    /// A call that does nothing. What its arguments read, it reads, in one step: nothing is made of it.
    fn no_op(&mut self, name: &str, arguments: &[TreeExpr], wanted: Option<&Type>, span: Span) {
        if wanted.is_some() && (name.contains("printf") || name.contains("put")) {
            let message = format!("the result of `{name}` is not known");
            let diagnostic = Diagnostic::error("unsupported", message).at(span, "used as a value here");
            self.error(diagnostic.help("pdnet treats output functions as if they did nothing"));
        }
        let mut touches = Vec::new();
        for argument in arguments {
            if self.class(argument).steps {
                self.effects(argument);
            } else if matches!(argument.ty, Type::Int(_)) && self.int_type_of(&argument.ty).is_some() {
                touches.push(self.value(argument));
            }
        }
        let mut step = Step::new(Action::Library, self.text(span), None).calling(name);
        step.touches = touches;
        if is_cancellation_point(name) {
            self.advance_or_cancel(step, span);
        } else {
            self.advance(span, step);
        }
    }

    fn unknown_function(&mut self, function: Function, span: Span) {
        let data = &self.program.functions[function];
        let file = &self.map.file(data.span.file).name;
        if file.starts_with('/') || file.starts_with('<') {
            // Declared in a header of the system or of ours: a library function.
            let message = format!("the library function `{}` is not supported yet", data.name);
            let diagnostic = Diagnostic::error("unknown-function", message).at(span, "called here");
            return self.error(diagnostic.help("docs/limits.md lists what is supported"));
        }
        let message = format!("`{}` has no body, and pdnet does not know what it does", data.name);
        let mut diagnostic = Diagnostic::error("unknown-function", message).at(span, "called here");
        let defined = self.program.functions.iter().filter(|other| other.body.is_some());
        let names = defined.map(|other| other.name.as_str());
        diagnostic = match nearest_name(&data.name, names) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help("define it in the program"),
        };
        self.error(diagnostic);
    }

    /// The cells for the atomic section: who is inside, and how deep.
    fn atomic_cells(&mut self) -> (pdnet_net::Place, pdnet_net::Place) {
        if let Some(cells) = self.atomic {
            return cells;
        }
        let mut add = |name: &str| {
            let cells = CellData {
                scope: Scope::Global,
                length: None,
                value: IntType::U8,
                default: 0,
                listed: vec![],
            };
            let place = self.net.add_cells(name, cells);
            self.net.places[place].internal = true;
            place
        };
        let cells = (add("atomic section"), add("nesting of atomic sections"));
        self.net.atomic = Some(cells.0);
        self.atomic = Some(cells);
        cells
    }

    /// No other thread moves until the matching end.
    pub(crate) fn atomic_begin(&mut self, span: Span) {
        let (owner, nesting) = self.atomic_cells();
        let me = flow::binary(BinaryOp::Add, TransitionBuilder::thread(), Expr::Const(1));
        let deeper = flow::binary(BinaryOp::Add, Expr::Cell(nesting, vec![]), Expr::Const(1));
        let step = Step::new(Action::AtomicBegin, "begin of an atomic section", None);
        let step = step.calling("__VERIFIER_atomic_begin").write(owner, vec![], me);
        self.advance(span, step.write(nesting, vec![], deeper));
    }

    /// Ends the innermost section; an end without a begin does nothing.
    pub(crate) fn atomic_end(&mut self, span: Span) {
        let (owner, nesting) = self.atomic_cells();
        let depth = Expr::Cell(nesting, vec![]);
        let outermost = flow::binary(BinaryOp::Le, depth.clone(), Expr::Const(1));
        let owner_after = Expr::cond(outermost, Expr::Const(0), Expr::Cell(owner, vec![]));
        let is_open = Expr::truth(depth.clone());
        let less = flow::binary(BinaryOp::Sub, depth, Expr::Const(1));
        let depth_after = Expr::cond(is_open, less, Expr::Const(0));
        let step = Step::new(Action::AtomicEnd, "end of an atomic section", None);
        let step = step.calling("__VERIFIER_atomic_end").write(owner, vec![], owner_after);
        self.advance(span, step.write(nesting, vec![], depth_after));
    }
}
