//! Values that each thread has of its own under a key: `pthread_key_create` and its like.
//!
//! A key is a number that counts the keys created before. A thread has an array with its values; the
//! destructors of keys are in another. At the end of a thread the destructor of the first key that has a value
//! is called with it, again and again, until none is left: POSIX leaves the order open, and whether to stop
//! where values are set over and over again.

use pdnet_net::{Action, BinaryOp, Bound, Expr, Fault, IntType, Place, Scope, TransitionBuilder};
use pdnet_source::Span;

use super::Lowerer;
use super::flow::{binary, frame_key};
use super::step::Step;
use super::survey::is_null;
use crate::tree::{Expr as TreeExpr, Function};
use crate::types::{IntKind, Type};

/// The most keys.
const MAX_KEYS: u32 = 16;

const CREATE: [&str; 2] = ["pthread_key_create", "tss_create"];

impl Lowerer<'_> {
    /// A call of a function for keys; `None` where the name is not one of these.
    pub(crate) fn key_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        match (name, arguments) {
            ("pthread_key_create" | "tss_create", [key, destructor]) => {
                self.key_create(name, key, destructor, span);
            }
            ("pthread_key_delete" | "tss_delete", [key]) => {
                let key = self.key(key);
                let mut step = Step::new(Action::Library, self.text(span), None).calling(name);
                if let Some(destructors) = self.destructors() {
                    step = step.write(destructors, vec![key], Expr::Const(0));
                }
                self.advance(span, step);
            }
            ("pthread_getspecific" | "tss_get", [key]) => {
                let key = self.key(key);
                let values = self.specific();
                let result = self.fresh_temporary(IntType::U64);
                let value = Expr::Cell(values, vec![TransitionBuilder::thread(), key]);
                let step = Step::new(Action::Library, self.text(span), None).calling(name);
                self.advance(span, step.write(result, frame_key(), value));
                return Some(Some(Expr::Cell(result, frame_key())));
            }
            ("pthread_setspecific" | "tss_set", [key, value]) => {
                let key = self.key(key);
                let value = self.value(value);
                let values = self.specific();
                let step = Step::new(Action::Library, self.text(span), None).calling(name);
                self.advance(span, step.write(values, vec![TransitionBuilder::thread(), key], value));
            }
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    fn n_keys(&self) -> u32 {
        self.survey.n_keys.clamp(1, MAX_KEYS)
    }

    /// How many keys were created.
    fn key_counter(&mut self) -> Place {
        self.library_cell("number of keys", Scope::Global, None, IntType::U8)
    }

    /// The values of a thread.
    fn specific(&mut self) -> Place {
        let n_keys = self.n_keys();
        self.library_cell("values under keys", Scope::Thread, Some(n_keys), IntType::U64)
    }

    /// Whether values may have to be destroyed at the end of a thread.
    pub(crate) fn has_destructors(&self) -> bool {
        self.survey.calls_any(&CREATE) && !self.survey.points_to.at_exit.is_empty()
    }

    fn destructors(&mut self) -> Option<Place> {
        let n_keys = self.n_keys();
        let has = self.has_destructors();
        has.then(|| self.library_cell("destructors of keys", Scope::Global, Some(n_keys), IntType::U64))
    }

    /// The number of a key that was created, or the next step is a fault.
    fn key(&mut self, argument: &TreeExpr) -> Expr {
        let key = self.value(argument);
        let key = self.spill(key, IntType { bits: 32, signed: false }, argument.span);
        let counter = self.key_counter();
        let exists = Expr::binary(BinaryOp::Lt, IntType::U64, key.clone(), Expr::Cell(counter, vec![]));
        self.add_check(exists.clone(), Fault::Uninitialised);
        // Of what is no key there is no cell.
        Expr::cond(exists, key, Expr::Const(0))
    }

    fn key_create(&mut self, called: &str, key: &TreeExpr, destructor: &TreeExpr, span: Span) {
        let pointer = if is_null(destructor) {
            Expr::Const(0)
        } else {
            let Some((functions, pointer)) = self.routine(destructor) else { return };
            match (pointer, functions.first()) {
                (Some(pointer), _) => pointer,
                (None, Some(_)) => self.value(destructor),
                (None, None) => Expr::Const(0),
            }
        };
        let Some(object) = self.behind(key, &Type::Int(IntKind::UnsignedInt), false) else { return };
        if self.frame.current.is_none() {
            return self.frame.checks.clear();
        }
        let counter = self.key_counter();
        let number = Expr::Cell(counter, vec![]);
        let text = self.text(span);
        let next = self.fresh_place(span);
        let limit = Expr::Const(i64::from(self.n_keys()));
        let fits = Expr::binary(BinaryOp::Lt, IntType::U64, number.clone(), limit);
        let mut create = Step::new(Action::Assign, text.clone(), Some(next)).calling(called);
        create = create.when(fits.clone()).write_object(&object, &number);
        create = self.with_written(create, &object);
        create = create.write(counter, vec![], binary(BinaryOp::Add, number.clone(), Expr::Const(1)));
        if let Some(destructors) = self.destructors() {
            create = create.write(destructors, vec![number], pointer);
        }
        let bound = Step::new(Action::Bound(Bound::Library), text, None).when(Expr::logical_not(fits));
        self.emit(span, vec![create, bound]);
        self.frame.current = Some(next);
    }

    /// The end of a thread, by a step that is possible where `when` is true, after its values were destroyed.
    pub(crate) fn end_thread(&mut self, end: Step, when: Option<Expr>, span: Span) {
        let Some(from) = self.frame.current else { return };
        let only = |step: Step| when.iter().cloned().fold(step, Step::when);
        let Some(destructors) = self.destructors() else {
            self.emit(span, vec![only(end)]);
            return;
        };
        let values = self.specific();
        let called: Vec<Function> = self.survey.points_to.at_exit.iter().copied().collect();
        let argument = self.fresh_temporary(IntType::U64);
        // Each call has a place of its own, where nothing else can happen: see `call_chosen`.
        let places: Vec<Place> = called.iter().map(|_| self.fresh_place(span)).collect();
        let mut steps = Vec::new();
        let mut nothing = Expr::TRUE;
        for key in 0..i64::from(self.n_keys()) {
            let own = vec![TransitionBuilder::thread(), Expr::Const(key)];
            let value = Expr::Cell(values, own.clone());
            let pointer = Expr::Cell(destructors, vec![Expr::Const(key)]);
            let pending = Expr::both(value.clone(), Expr::truth(pointer.clone()));
            for (&function, &place) in called.iter().zip(&places) {
                let step = Step::new(Action::Jump, self.text(span), Some(place));
                let step = step.when(nothing.clone()).when(pending.clone());
                let step = step.when(self.is_function(&pointer, function));
                let step = step.write(argument, frame_key(), value.clone());
                steps.push(only(step.write(values, own.clone(), Expr::Const(0))));
            }
            nothing = Expr::both(nothing, Expr::logical_not(pending));
        }
        steps.push(only(end.when(nothing)));
        self.emit(span, steps);
        let argument = vec![Expr::Cell(argument, frame_key())];
        for (&function, place) in called.iter().zip(places) {
            let Some(step) = self.call_step(function, std::slice::from_ref(&argument), span) else { return };
            self.frame.current = Some(place);
            if self.call_and_return(step, function, None, span).is_none() {
                return;
            }
            self.go_on_at(from);
        }
    }
}
