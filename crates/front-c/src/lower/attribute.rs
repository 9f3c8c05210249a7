//! Attribute objects: a cell with the kind of mutex, or with whether threads are created detached. What else
//! they can say makes no difference to a run.

use pdnet_net::{Action, BinaryOp, Expr, IntType};
use pdnet_source::Span;

use super::Lowerer;
use super::flow::{binary, frame_key};
use super::path::Root;
use super::pthread::EINVAL;
use super::step::Step;
use super::survey::is_null;
use crate::tree::Expr as TreeExpr;
use crate::types::{SyncKind, Type};

impl Lowerer<'_> {
    /// A call of a function for attributes that are kept; `None` where the name is not one of these.
    pub(crate) fn attribute_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let has_kinds = self.survey.kinds.any() || self.survey.calls_any(&["pthread_mutexattr_gettype"]);
        let has_states =
            self.survey.calls_any(&["pthread_attr_setdetachstate", "pthread_attr_getdetachstate"]);
        match (name, arguments) {
            ("pthread_mutexattr_init", [attribute]) if has_kinds => {
                self.attribute_init(name, attribute, span)
            }
            ("pthread_attr_init", [attribute]) if has_states => self.attribute_init(name, attribute, span),
            ("pthread_mutexattr_settype", [attribute, value]) if has_kinds => {
                return Some(self.attribute_set(name, attribute, value, 3, span));
            }
            ("pthread_attr_setdetachstate", [attribute, value]) => {
                return Some(self.attribute_set(name, attribute, value, 1, span));
            }
            ("pthread_mutexattr_gettype" | "pthread_attr_getdetachstate", [attribute, target]) => {
                self.attribute_get(name, attribute, target, span);
            }
            // Only normal kinds are asked for.
            ("pthread_mutexattr_settype", [_, _]) => {
                arguments.iter().for_each(|argument| self.discard(argument));
                self.advance(span, Step::new(Action::Library, self.text(span), None).calling(name));
            }
            // What happens with the mutex of a thread that has ended: it stays locked.
            ("pthread_mutexattr_setrobust", [_, value]) if is_null(value) => {
                self.advance(span, Step::new(Action::Library, self.text(span), None).calling(name));
            }
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    fn attribute_init(&mut self, called: &str, attribute: &TreeExpr, span: Span) {
        let Some(attribute) = self.library_object(attribute, SyncKind::Attribute) else { return };
        self.hide(&attribute);
        let step = Step::new(Action::Assign, self.text(span), None).calling(called);
        self.advance(span, step.write_object(&attribute, &Expr::Const(0)));
    }

    fn attribute_set(
        &mut self,
        called: &str,
        attribute: &TreeExpr,
        value: &TreeExpr,
        largest: i64,
        span: Span,
    ) -> Option<Expr> {
        let attribute = self.library_object(attribute, SyncKind::Attribute)?;
        self.hide(&attribute);
        let mut new = self.value(value);
        if self.is_shared_expr(&new) {
            new = self.spill(new, IntType::I32, value.span);
        }
        let text = self.text(span);
        let is_known = Expr::binary(BinaryOp::Le, IntType::U64, new.clone(), Expr::Const(largest));
        let set = Step::new(Action::Assign, text.clone(), None);
        let set = set.when(is_known.clone()).write_object(&attribute, &new);
        let refused = Step::new(Action::Library, format!("{text} (refused)"), None);
        let refused = refused.when(Expr::logical_not(is_known));
        Some(self.either_way(called, vec![(set, 0), (refused, EINVAL)], span))
    }

    fn attribute_get(&mut self, called: &str, attribute: &TreeExpr, target: &TreeExpr, span: Span) {
        let Some(attribute) = self.library_object(attribute, SyncKind::Attribute) else { return };
        self.hide(&attribute);
        let Some(object) = self.behind(target, &Type::INT, false) else { return };
        let mut value = attribute.load();
        if self.is_shared_object(&object) && self.is_shared_expr(&value) {
            value = self.spill(value, IntType::U8, span);
        }
        let step = Step::new(Action::Assign, self.text(span), None).calling(called);
        self.advance(span, self.with_written(step.write_object(&object, &value), &object));
    }

    /// What an attribute says that may be missing: a null pointer asks for the default, which is 0.
    pub(crate) fn attribute(&mut self, argument: &TreeExpr, span: Span) -> Option<Expr> {
        if is_null(argument) {
            return Some(Expr::Const(0));
        }
        let path = self.behind_path(argument, &Type::Sync(SyncKind::Attribute));
        let mut path = self.never_silent(path, argument.span)?;
        self.fix_path(&mut path, true, argument.span);
        let result = self.fresh_temporary(IntType::U8);
        let join = self.fresh_place(span);
        let label = self.text(argument.span);
        if let Root::Pointer(address, _) = &path.root {
            let (given, missing) = (self.fresh_place(span), self.fresh_place(span));
            let is_given = Expr::truth(address.clone());
            let steps = vec![
                Step::new(Action::BranchTrue, label.clone(), Some(given)).when(is_given.clone()),
                Step::new(Action::BranchFalse, label.clone(), Some(missing))
                    .when(Expr::logical_not(is_given)),
            ];
            self.emit(span, steps);
            let default = Step::new(Action::Assign, label.clone(), Some(join));
            self.emit_from(missing, span, default.write(result, frame_key(), Expr::Const(0)));
            self.frame.current = Some(given);
        }
        let object = self.resolve_path(path, argument.span);
        let object = self.never_silent(object, argument.span)?;
        self.hide(&object);
        let read = Step::new(Action::Assign, label, Some(join));
        let value = binary(BinaryOp::And, object.load(), Expr::Const(3));
        self.emit(span, vec![read.write(result, frame_key(), value)]);
        self.frame.current = Some(join);
        Some(Expr::Cell(result, frame_key()))
    }
}
