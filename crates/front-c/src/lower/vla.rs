//! Arrays whose length is known only at run time: places for as many elements as `--max-elements` says, and a
//! cell with the length. Inner arrays must have constant lengths.

use pdnet_net::{Action, BinaryOp, Bound, CellData, Expr, Fault, IntType, Place};
use pdnet_source::Span;

use super::Lowerer;
use super::flow::binary;
use super::path::scaled;
use super::pointer::{slot_of, thread_of};
use super::points_to::Home;
use super::step::Step;
use crate::tree::Variable;
use crate::types::{QualType, Type};

impl Lowerer<'_> {
    /// The type of a variable, with room for so many elements where its length is not constant.
    pub(crate) fn type_with_room(&self, variable: Variable) -> QualType {
        let data = &self.program.variables[variable];
        match (&data.ty.ty, data.lengths.is_empty()) {
            (Type::Array(element, None), false) => {
                let room = u64::from(self.options.max_elements);
                QualType { ty: Type::Array(element.clone(), Some(room)), quals: data.ty.quals }
            }
            _ => data.ty.clone(),
        }
    }

    /// The cell with the length of a variable's array, where that is not constant.
    fn length_place(&mut self, variable: Variable) -> Option<Place> {
        let home = Home::Variable(variable);
        if self.program.variables[variable].lengths.is_empty() {
            return None;
        }
        if let Some(&place) = self.lengths.get(&variable) {
            return Some(place);
        }
        let cells = CellData {
            scope: self.scope_of(home)?,
            length: None,
            value: IntType::I64,
            default: 0,
            listed: vec![],
        };
        let place = self.net.add_cells(&format!("length of {}", self.home_name(home)), cells);
        self.net.places[place].internal = true;
        if self.survey.shared.contains(&home) {
            self.shared_cells.insert(place);
        }
        self.lengths.insert(variable, place);
        Some(place)
    }

    /// The length of the array of a variable of the frame that moves, where it is not constant.
    pub(crate) fn own_length(&mut self, variable: Variable) -> Option<Expr> {
        let place = self.length_place(variable)?;
        Some(Expr::Cell(place, self.own_key(Home::Variable(variable))))
    }

    /// The length in bytes of the array at an address.
    pub(crate) fn bytes_at(&mut self, variable: Variable, address: &Expr) -> Option<Expr> {
        let place = self.length_place(variable)?;
        let Type::Array(element, _) = &self.program.variables[variable].ty.ty else { return None };
        let size = i64::try_from(super::shape::size_of(self.program, &element.ty)?).ok()?;
        let length = Expr::Cell(place, vec![thread_of(address), slot_of(address)]);
        Some(scaled(length, size))
    }

    /// Computes the length where the array is declared.
    pub(crate) fn set_length(&mut self, variable: Variable, span: Span) {
        let program = self.program;
        let Some(length) = program.variables[variable].lengths.first() else { return };
        let mut value = self.value(length);
        if !matches!(value, Expr::Const(_)) {
            value = self.spill(value, IntType::I64, length.span);
        }
        let Some(place) = self.length_place(variable) else { return };
        if self.frame.current.is_none() {
            return self.frame.checks.clear();
        }
        let is_positive = binary(BinaryOp::Lt, Expr::Const(0), value.clone());
        self.add_check(is_positive, Fault::OutOfBounds);
        let room = Expr::Const(i64::from(self.options.max_elements));
        let fits = binary(BinaryOp::Le, value.clone(), room);
        let text = self.text(span);
        let next = self.fresh_place(span);
        let step = Step::new(Action::Assign, text.clone(), Some(next)).when(fits.clone());
        let step = step.write(place, self.own_key(Home::Variable(variable)), value);
        let bound = Step::new(Action::Bound(Bound::Heap), text, None).when(Expr::logical_not(fits));
        self.emit(span, vec![step, bound]);
        self.frame.current = Some(next);
    }
}
