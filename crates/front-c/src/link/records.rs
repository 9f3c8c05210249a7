//! Which structs and unions of a unit are those of the program (C11 6.2.7).

use pdnet_base::{FxHashSet, IndexVec};

use super::renumber::Renumber;
use crate::tree::{Program, Record};
use crate::types::{FieldData, QualType, RecordData, Type};

/// For each struct or union of a unit the one of the program that it is; those that are new are added.
pub(super) fn match_records(program: &mut Program, unit: &Program) -> IndexVec<Record, Record> {
    let mut taken: FxHashSet<Record> = FxHashSet::default();
    let mut partners: IndexVec<Record, Option<Record>> = IndexVec::new();
    for (record, _) in unit.records.iter_enumerated() {
        let mut comparison = Comparison { program, unit, assumed: FxHashSet::default() };
        let fits = |known: &Record| comparison.same_record(record, *known);
        let candidates: Vec<Record> = program.records.indices().filter(fits).collect();
        // Types without a tag can look alike; they come in the same order where they come from one header.
        let partner = candidates.iter().find(|known| !taken.contains(known)).or(candidates.first()).copied();
        taken.extend(partner);
        partners.push(partner);
    }
    let mut records = IndexVec::new();
    for (record, partner) in partners.iter_enumerated() {
        let blank = || RecordData { fields: None, ..unit.records[record].clone() };
        records.push(partner.unwrap_or_else(|| program.records.push(blank())));
    }
    // Fields refer to records, so they come last; a type that was incomplete in the program gets them too.
    let renumber = Renumber { records, variables: IndexVec::new(), functions: IndexVec::new() };
    for (record, &known) in renumber.records.iter_enumerated() {
        if program.records[known].fields.is_none() && unit.records[record].fields.is_some() {
            let mut data = unit.records[record].clone();
            for field in data.fields.iter_mut().flatten() {
                renumber.qual_type(&mut field.ty);
            }
            program.records[known] = data;
        }
    }
    renumber.records
}

/// Compares types of a unit with types of the program.
struct Comparison<'p> {
    program: &'p Program,
    unit: &'p Program,
    /// Pairs that are being compared: types may contain pointers to themselves.
    assumed: FxHashSet<(Record, Record)>,
}

impl Comparison<'_> {
    fn same_record(&mut self, new: Record, known: Record) -> bool {
        let (program, unit) = (self.program, self.unit);
        let (left, right) = (&unit.records[new], &program.records[known]);
        if left.is_union != right.is_union || left.tag != right.tag {
            return false;
        }
        let (left_fields, right_fields) = match (&left.fields, &right.fields) {
            (Some(left), Some(right)) => (left, right),
            // A type that is only named is the one with that name.
            _ => return !left.tag.is_empty(),
        };
        if !self.assumed.insert((new, known)) {
            return true;
        }
        let same = left.size == right.size
            && left.align == right.align
            && left_fields.len() == right_fields.len()
            && left_fields.iter().zip(right_fields).all(|(left, right)| self.same_field(left, right));
        if !same {
            self.assumed.remove(&(new, known));
        }
        same
    }

    fn same_field(&mut self, left: &FieldData, right: &FieldData) -> bool {
        left.name == right.name
            && left.bit_offset == right.bit_offset
            && left.bit_width == right.bit_width
            && self.same_qualified(&left.ty, &right.ty)
    }

    fn same_qualified(&mut self, left: &QualType, right: &QualType) -> bool {
        left.quals == right.quals && self.same_type(&left.ty, &right.ty)
    }

    fn same_type(&mut self, left: &Type, right: &Type) -> bool {
        match (left, right) {
            (Type::Record(left), Type::Record(right)) => self.same_record(*left, *right),
            (Type::Pointer(left), Type::Pointer(right)) => self.same_qualified(left, right),
            (Type::Array(left, n), Type::Array(right, m)) => n == m && self.same_qualified(left, right),
            (Type::Function(left), Type::Function(right)) => {
                left.variadic == right.variadic
                    && left.params.len() == right.params.len()
                    && self.same_qualified(&left.result, &right.result)
                    && left
                        .params
                        .iter()
                        .zip(&right.params)
                        .all(|(left, right)| self.same_qualified(left, right))
            }
            (left, right) => left == right,
        }
    }
}
