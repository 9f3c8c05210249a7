//! Structs and unions as values: each scalar part on its own.

use pdnet_net::{Action, Expr, IntType, Place, Scope};
use pdnet_source::Span;

use super::Lowerer;
use super::cells::{Object, Target};
use super::flow::frame_key;
use super::path::{Path, View};
use super::shape::{Dimension, shape_of};
use super::step::Step;
use crate::tree::{Expr as TreeExpr, ExprKind, Lvalue};
use crate::types::{IntKind, Type};

/// The most parts of a struct that is used as a value.
const MAX_PARTS: u64 = 1 << 12;

/// A scalar part of a type.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    offset: u64,
    indices: Vec<(Expr, Dimension)>,
    view: View,
    pub(crate) ty: IntType,
}

impl Part {
    /// The way to this part of the object at the end of another way.
    fn of(&self, path: &Path) -> Path {
        let mut indices = path.indices.clone();
        indices.extend(self.indices.iter().cloned());
        Path { indices, offset: path.offset + self.offset, view: self.view.clone(), ..path.clone() }
    }
}

impl Lowerer<'_> {
    /// The scalar parts of a type, in order. Objects of the thread library are left out: their copies have no
    /// meaning.
    pub(crate) fn parts_of(&mut self, ty: &Type, span: Span) -> Option<Vec<Part>> {
        let shape = match shape_of(self.program, &ty.clone().into()) {
            Ok(shape) => shape,
            Err(what) => {
                self.unsupported(span, &what);
                return None;
            }
        };
        let mut parts = Vec::new();
        if shape.leaves.iter().map(super::shape::Leaf::count).sum::<u64>() > MAX_PARTS {
            self.unsupported(span, "structs of more than 4096 parts as values are");
            return None;
        }
        for leaf in shape.leaves.iter().filter(|leaf| !matches!(leaf.ty, Type::Sync(_))) {
            for flat in 0..leaf.count() {
                let mut rest = flat;
                let mut indices = Vec::new();
                for dimension in leaf.dimensions.iter().rev() {
                    let index = i64::try_from(rest % dimension.count).ok()?;
                    indices.insert(0, (Expr::Const(index), *dimension));
                    rest /= dimension.count;
                }
                let view =
                    if leaf.is_unit { View::Raw { size: leaf.size } } else { View::As(leaf.ty.clone()) };
                parts.push(Part { offset: leaf.offset, indices, view, ty: leaf.value });
            }
        }
        Some(parts)
    }

    /// The objects of which a struct consists.
    fn part_objects(&mut self, mut path: Path, ty: &Type, span: Span) -> Option<Vec<Object>> {
        self.fix_path(&mut path, true, span);
        let parts = self.parts_of(ty, span)?;
        // The pointer is the same for all: that it is valid is checked with each part.
        parts.iter().map(|part| self.resolve_path(part.of(&path), span)).collect()
    }

    /// The values of the parts of a struct, which stay as they are.
    pub(crate) fn record_value(&mut self, expr: &TreeExpr) -> Option<Vec<Expr>> {
        match &expr.kind {
            ExprKind::Load(lvalue) => {
                let path = self.path(lvalue)?;
                let objects = self.part_objects(path, &expr.ty, expr.span)?;
                Some(self.load_parts(&objects, true, expr.span))
            }
            ExprKind::Assign(target, value) => self.assign_record(target, value, expr.span),
            ExprKind::Call(callee, arguments) => self.call_for_record(callee, arguments, &expr.ty, expr.span),
            ExprKind::Comma(left, right) => {
                self.effects(left);
                self.record_value(right)
            }
            ExprKind::Cast(operand) if operand.ty == expr.ty => self.record_value(operand),
            ExprKind::Conditional(condition, then, otherwise) => {
                let parts = self.parts_of(&expr.ty, expr.span)?;
                let temporaries: Vec<Place> =
                    parts.iter().map(|part| self.fresh_temporary(part.ty)).collect();
                let (on_true, on_false) = (self.fresh_place(then.span), self.fresh_place(otherwise.span));
                let join = self.fresh_place(expr.span);
                self.condition(condition, on_true, on_false);
                for (place, arm) in [(on_true, then), (on_false, otherwise)] {
                    self.frame.current = Some(place);
                    let values = self.record_value(arm)?;
                    let mut step = Step::new(Action::Assign, self.text(arm.span), Some(join));
                    for (&temporary, value) in temporaries.iter().zip(values) {
                        step = step.write(temporary, frame_key(), value);
                    }
                    self.emit(arm.span, vec![step]);
                }
                self.frame.current = Some(join);
                Some(temporaries.into_iter().map(|place| Expr::Cell(place, frame_key())).collect())
            }
            ExprKind::Statement(stmts) => {
                let (last, rest) = stmts.split_last()?;
                self.statements(rest);
                match &last.kind {
                    crate::tree::StmtKind::Expr(value) => self.record_value(value),
                    _ => None,
                }
            }
            _ => {
                self.unsupported(expr.span, "structs and unions as values are, in this place,");
                None
            }
        }
    }

    /// Reads parts: each shared one in a step of its own, all others in one.
    /// `checked`: that one was never written is not noted with the copy, and such a run is not followed.
    fn load_parts(&mut self, objects: &[Object], checked: bool, span: Span) -> Vec<Expr> {
        let mut values = Vec::new();
        let mut together = Vec::new();
        for object in objects {
            if checked {
                self.check_copied(object);
            }
            let value = object.load();
            if self.is_shared_expr(&value) {
                values.push(self.spill(value, object.ty, span));
            } else {
                let temporary = self.fresh_temporary(object.ty);
                values.push(Expr::Cell(temporary, frame_key()));
                together.push((temporary, value));
            }
        }
        if !together.is_empty() {
            let mut step = Step::new(Action::Assign, self.text(span), None);
            for (temporary, value) in together {
                step = step.write(temporary, frame_key(), value);
            }
            self.advance(span, step);
        }
        values
    }

    /// `target = value` for structs and unions.
    pub(crate) fn assign_record(
        &mut self,
        target: &Lvalue,
        value: &TreeExpr,
        span: Span,
    ) -> Option<Vec<Expr>> {
        let (values, written) = self.copied_record(value)?;
        let path = self.path(target)?;
        self.store_record(path, &target.ty.ty, &values, &written, span)?;
        Some(values)
    }

    /// The values of the parts of a struct that is to be copied, and for each whether it was ever written: a copy
    /// of a part that was not is no read of it (C11 6.2.6.1p6).
    pub(crate) fn copied_record(&mut self, value: &TreeExpr) -> Option<(Vec<Expr>, Vec<Expr>)> {
        let ExprKind::Load(lvalue) = &value.kind else {
            return self.record_value(value).map(|values| (values, Vec::new()));
        };
        let path = self.path(lvalue)?;
        let objects = self.part_objects(path, &value.ty, value.span)?;
        Some(self.copied_parts(&objects, value.span))
    }

    /// The values of parts that are to be copied, and for each whether it was ever written.
    fn copied_parts(&mut self, objects: &[Object], span: Span) -> (Vec<Expr>, Vec<Expr>) {
        let written: Vec<Expr> = objects.iter().map(|object| self.is_written(object)).collect();
        let mut step = Step::new(Action::Assign, self.text(span), None);
        let mut flags = Vec::new();
        for flag in written {
            if matches!(flag, Expr::Const(_)) {
                flags.push(flag);
                continue;
            }
            let temporary = self.fresh_temporary(IntType::U8);
            step = step.write(temporary, frame_key(), flag);
            flags.push(Expr::Cell(temporary, frame_key()));
        }
        if !step.writes.is_empty() {
            self.advance(span, step);
        }
        (self.load_parts(objects, false, span), flags)
    }

    /// Writes the parts of a struct: each shared one in a step of its own, all others in one.
    /// `written` says which of the values there are, where that is not all of them.
    pub(crate) fn store_record(
        &mut self,
        path: Path,
        ty: &Type,
        values: &[Expr],
        written: &[Expr],
        span: Span,
    ) -> Option<()> {
        let objects = self.part_objects(path, ty, span)?;
        let mut together = Step::new(Action::Assign, self.text(span), None);
        let written = written.iter().cloned().chain(std::iter::repeat(Expr::Const(1)));
        for ((object, value), written) in objects.iter().zip(values).zip(written) {
            // Parts of one cell are written one after the other: each keeps the bits of the others.
            let is_written =
                |target: &Target| together.writes.iter().any(|(old, _)| old.place == target.place);
            if object.targets.iter().any(|target| target.slice.is_some() && is_written(target)) {
                let next = Step::new(Action::Assign, self.text(span), None);
                self.advance(span, std::mem::replace(&mut together, next));
            }
            if self.is_shared_object(object) {
                let step = Step::new(Action::Assign, self.text(span), None).write_object(object, value);
                let step = self.with_copied(step, object, value, &written);
                self.advance(span, step);
            } else {
                together = self.with_copied(together.write_object(object, value), object, value, &written);
            }
        }
        if !together.writes.is_empty() {
            self.advance(span, together);
        }
        Some(())
    }

    /// The cells for the result of a function: one, or one for each part of a struct.
    pub(crate) fn add_result_cells(
        &mut self,
        function: pdnet_net::Function,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Vec<Place> {
        let types: Vec<IntType> = match ty {
            Type::Record(_) => self.parts_of(ty, span).unwrap_or_default().iter().map(|p| p.ty).collect(),
            _ => vec![self.int_type_at(ty, span)],
        };
        let mut places = Vec::new();
        for value in types {
            let scope = Scope::Frame(function);
            let cells = pdnet_net::CellData { scope, length: None, value, default: 0, listed: vec![] };
            let place = self.net.add_cells(&format!("result of {name}"), cells);
            self.net.places[place].internal = true;
            self.net.places[place].shown = super::shape::shown(ty);
            places.push(place);
        }
        places
    }

    /// `memset(p, c, n)` and `memcpy(p, q, n)` of whole objects, known at first sight; `None` where they are not.
    pub(crate) fn copy_call(&mut self, name: &str, arguments: &[TreeExpr], span: Span) -> Option<Expr> {
        let [to, from, bytes] = arguments else { return None };
        let ExprKind::Int(bytes) = super::survey::strip_casts(bytes).kind else { return None };
        let (target, to) = self.whole(to, bytes)?;
        let source = if name.ends_with("memset") { None } else { Some(self.whole(from, bytes)?) };
        if source.as_ref().is_some_and(|(source, _)| *source != target) {
            return None;
        }
        let parts = self.parts_of(&target, span)?;
        let (values, written) = if name.ends_with("memset") {
            let ExprKind::Int(byte) = super::survey::strip_casts(from).kind else { return None };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "memset takes the low byte"
            )]
            let pattern = i64::from_ne_bytes([byte as u8; 8]);
            let value = |part: &Part| {
                let is_bool = part.view == View::As(Type::Int(IntKind::Bool));
                Expr::Const(if is_bool { pattern & 0xff } else { part.ty.wrap(pattern) })
            };
            (parts.iter().map(value).collect(), Vec::new())
        } else {
            let path = self.whole_path(source?.1)?;
            let objects = self.part_objects(path, &target, span)?;
            self.copied_parts(&objects, span)
        };
        let mut path = self.whole_path(to)?;
        self.fix_path(&mut path, true, span);
        let address = self.path_address(&path);
        self.store_record(path, &target, &values, &written, span)?;
        Some(address)
    }

    /// The type of what a pointer argument points to, where that has this size, and the argument itself.
    fn whole<'t>(&self, argument: &'t TreeExpr, bytes: i128) -> Option<(Type, &'t TreeExpr)> {
        let argument = match &argument.kind {
            ExprKind::Cast(operand) if matches!(operand.ty, Type::Pointer(_)) => operand,
            _ => argument,
        };
        let ty = match (&argument.kind, &argument.ty) {
            (ExprKind::Decay(lvalue), _) => lvalue.ty.ty.clone(),
            (_, Type::Pointer(to)) => to.ty.clone(),
            _ => return None,
        };
        let size = super::shape::size_of(self.program, &ty).map(i128::from);
        (size == Some(bytes)).then_some((ty, argument))
    }

    fn whole_path(&mut self, argument: &TreeExpr) -> Option<Path> {
        match &argument.kind {
            ExprKind::Decay(lvalue) => self.path(lvalue),
            _ => {
                let Type::Pointer(to) = &argument.ty else { return None };
                self.behind_path(argument, &to.ty)
            }
        }
    }
}
