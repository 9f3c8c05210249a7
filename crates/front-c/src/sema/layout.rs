//! Sizes and alignments, as gcc has them on x86-64 and i386.

use super::Sema;
use crate::tree::Record;
use crate::types::{DataModel, FieldData, IntKind, Type};

impl Sema<'_> {
    /// The integer type of `sizeof`.
    pub(super) fn size_type(&self) -> IntKind {
        match self.model {
            DataModel::Lp64 => IntKind::UnsignedLong,
            DataModel::Ilp32 => IntKind::UnsignedInt,
        }
    }

    /// The integer type of the difference of pointers.
    pub(super) fn difference_type(&self) -> IntKind {
        match self.model {
            DataModel::Lp64 => IntKind::Long,
            DataModel::Ilp32 => IntKind::Int,
        }
    }

    /// Size in bytes; `None` where it is unknown or not constant. `void` and functions have size 1, as in
    /// GNU C.
    pub(super) fn size_of(&self, ty: &Type) -> Option<u64> {
        crate::types::size_of(self.model, &self.program.records, ty)
    }

    /// Alignment in bytes inside of a struct.
    pub(super) fn align_of(&self, ty: &Type) -> u64 {
        let largest = match self.model {
            DataModel::Lp64 => 16,
            DataModel::Ilp32 => 4,
        };
        match ty {
            Type::Array(element, _) => self.align_of(&element.ty),
            Type::Record(record) => self.program.records[*record].align.max(1),
            Type::Sync(_) => self.size_of(ty).unwrap_or(1).min(largest.min(8)),
            Type::Void | Type::Function(_) => 1,
            Type::Int(_) | Type::Thread | Type::Float(_) | Type::Pointer(_) => {
                self.size_of(ty).unwrap_or(1).min(largest)
            }
        }
    }

    /// Places the fields and sets size and alignment.
    pub(super) fn lay_out(&mut self, record: Record, mut fields: Vec<FieldData>, packing: &Packing) {
        let is_union = self.program.records[record].is_union;
        let (mut offset, mut align, mut union_bits) = (0u64, 1u64, 0u64);
        for (position, field) in fields.iter_mut().enumerate() {
            let bits = self.size_of(&field.ty.ty).unwrap_or(0).saturating_mul(8);
            let asked = packing.field_align.get(position).copied().flatten();
            let is_packed = packing.packed || packing.packed_fields.contains(&position);
            let natural = if is_packed { 1 } else { self.align_of(&field.ty.ty) };
            let field_align = asked.map_or(natural, |asked| asked.max(natural));
            if is_union {
                offset = 0;
            }
            match field.bit_width {
                Some(0) => {
                    offset = round_up(offset, bits.max(8));
                    field.bit_offset = offset;
                    continue;
                }
                Some(width) => {
                    let width = u64::from(width);
                    if !is_packed && bits > 0 && offset / bits != (offset + width - 1) / bits {
                        offset = round_up(offset, bits);
                    }
                    if let Some(asked) = asked {
                        offset = round_up(offset, asked.saturating_mul(8));
                    }
                    field.bit_offset = offset;
                    offset = offset.saturating_add(width);
                    // An unnamed bit-field does not raise the alignment of the whole.
                    if !field.name.is_empty() {
                        align = align.max(field_align);
                    }
                }
                None => {
                    offset = round_up(offset, field_align.saturating_mul(8));
                    field.bit_offset = offset;
                    offset = offset.saturating_add(bits);
                    align = align.max(field_align);
                }
            }
            union_bits = union_bits.max(offset);
        }
        if let Some(asked) = packing.align {
            align = align.max(asked);
        }
        let bits = if is_union { union_bits } else { offset };
        let data = &mut self.program.records[record];
        data.size = round_up(bits.div_ceil(8), align);
        data.align = align;
        data.fields = Some(fields);
    }
}

/// What attributes say about a layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Packing {
    /// No gaps between fields.
    pub(super) packed: bool,
    /// Fields that are packed on their own.
    pub(super) packed_fields: Vec<usize>,
    /// The least alignment of the whole.
    pub(super) align: Option<u64>,
    /// The least alignment of each field.
    pub(super) field_align: Vec<Option<u64>>,
}

fn round_up(value: u64, step: u64) -> u64 {
    value.div_ceil(step.max(1)).saturating_mul(step.max(1))
}
