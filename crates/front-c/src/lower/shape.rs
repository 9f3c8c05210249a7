//! The shape of an object: the scalar parts of which it consists.
//!
//! A *leaf* is a scalar, or an object of the thread library, that occurs in a type, with its distance from
//! the start of the object and the arrays that it is in: the type `struct { int a; char b[3]; } [4]` has the
//! leaves `.a` at 0, four times every 8 bytes, and `.b` at 4, four times every 8 bytes, three times every byte.
//! Each leaf of an object becomes one place. Neighbouring bit-fields are one leaf, since they are one
//! memory location (C11 3.14), and so is each word of a union: these leaves are accessed in slices.

use pdnet_net::{IntType, Shown};

use crate::tree::{Program, Record};
use crate::types::{DataModel, FieldData, FloatKind, IntKind, QualType, SyncKind, Type};

/// The bytes of the largest cell.
const WORD: u64 = 8;

/// An array that a leaf is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dimension {
    /// Bytes from one element to the next.
    pub(crate) stride: u64,
    pub(crate) count: u64,
}

/// A scalar part of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// How it is reached from the whole: `.next`, or nothing.
    pub(crate) name: String,
    /// The same with brackets for the arrays that it is in: `[].next`.
    pub(crate) path: String,
    pub(crate) ty: Type,
    pub(crate) value: IntType,
    /// It is a part of a union or holds bit-fields, and is accessed in slices.
    pub(crate) is_unit: bool,
    pub(crate) is_atomic: bool,
    /// Bytes from the start of the object to the first one.
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// The arrays that it is in, outermost first.
    pub(crate) dimensions: Vec<Dimension>,
}

impl Leaf {
    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.dimensions.iter().fold(1, |n, dimension| n.saturating_mul(dimension.count))
    }

    pub(crate) fn is_bool(&self) -> bool {
        self.ty == Type::Int(IntKind::Bool) && !self.is_unit
    }
}

/// All scalar parts of a type.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// The size in bytes.
    pub(crate) size: u64,
    pub(crate) leaves: Vec<Leaf>,
}

/// The integer type in which values of a C type are kept; `None` where there is none.
pub(crate) fn int_type(model: DataModel, ty: &Type) -> Option<IntType> {
    match ty {
        Type::Int(kind) => {
            let bits = u8::try_from(kind.bits(model)).ok().filter(|bits| *bits <= 64)?;
            Some(IntType { bits, signed: kind.is_signed() })
        }
        // A pointer is pdnet's own number for an object and a position, whatever the data model says.
        Type::Pointer(_) => Some(IntType::U64),
        Type::Thread => Some(IntType { bits: if model == DataModel::Lp64 { 64 } else { 32 }, signed: false }),
        // The bits that stand for it in memory.
        Type::Float(FloatKind::Float) => Some(IntType { bits: 32, signed: false }),
        Type::Float(FloatKind::Double) => Some(IntType::U64),
        // A lock: who holds it, as the thread's number plus one; see `pthread.rs`.
        Type::Sync(SyncKind::Mutex) => Some(IntType { bits: 32, signed: false }),
        Type::Sync(SyncKind::SpinLock) => Some(IntType::U8),
        // The number of readers, or the negated number plus one of the thread that writes.
        Type::Sync(SyncKind::RwLock) => Some(IntType::I32),
        // How many threads it is for, and how many have come: see `barrier.rs`.
        Type::Sync(SyncKind::Barrier) => Some(IntType::U64),
        // The count.
        Type::Sync(SyncKind::Semaphore) => Some(IntType { bits: 32, signed: false }),
        // Not done, being done by a thread, done.
        Type::Sync(SyncKind::Once) => Some(IntType::U8),
        // The kind that is asked for.
        Type::Sync(SyncKind::Attribute) => Some(IntType::U8),
        Type::Sync(SyncKind::Condition) => Some(IntType::U8),
        Type::Void
        | Type::Float(FloatKind::LongDouble)
        | Type::Array(..)
        | Type::Record(_)
        | Type::Function(_) => None,
    }
}

/// How people read a value of a type.
pub(crate) const fn shown(ty: &Type) -> Shown {
    match ty {
        Type::Pointer(_) => Shown::Pointer,
        Type::Float(FloatKind::Float) => Shown::Float32,
        Type::Float(FloatKind::Double) => Shown::Float64,
        _ => Shown::Integer,
    }
}

/// The size of a type in bytes, where it is known. `void` and functions have size 1, as in GNU C.
pub(crate) fn size_of(program: &Program, ty: &Type) -> Option<u64> {
    crate::types::size_of(program.data_model, &program.records, ty)
}

/// The shape of a type.
///
/// # Errors
/// What is not supported about it.
pub(crate) fn shape_of(program: &Program, ty: &QualType) -> Result<Shape, String> {
    let size = size_of(program, &ty.ty).ok_or("objects whose size is not constant are")?;
    let mut flattener = Flattener { program, leaves: Vec::new() };
    flattener.flatten(ty, 0, &[], "")?;
    Ok(Shape { size, leaves: flattener.leaves })
}

struct Flattener<'a> {
    program: &'a Program,
    leaves: Vec<Leaf>,
}

impl Flattener<'_> {
    fn flatten(
        &mut self,
        ty: &QualType,
        offset: u64,
        dimensions: &[Dimension],
        name: &str,
    ) -> Result<(), String> {
        match &ty.ty {
            Type::Array(element, count) => {
                let stride = size_of(self.program, &element.ty).ok_or("arrays of this type are")?;
                let mut inner = dimensions.to_vec();
                inner.push(Dimension { stride, count: count.unwrap_or(0) });
                let is_atomic = ty.quals.is_atomic || element.quals.is_atomic;
                let quals = crate::types::Qualifiers { is_atomic, ..element.quals };
                self.flatten(
                    &QualType { ty: element.ty.clone(), quals },
                    offset,
                    &inner,
                    &format!("{name}[]"),
                )
            }
            Type::Record(record) => self.record(*record, ty, offset, dimensions, name),
            scalar => {
                let value = int_type(self.program.data_model, scalar)
                    .ok_or_else(|| format!("objects of type `{}` are", scalar.display(self.program)))?;
                self.leaves.push(Leaf {
                    name: name.replace("[]", ""),
                    path: name.to_owned(),
                    ty: scalar.clone(),
                    value,
                    is_unit: false,
                    is_atomic: ty.quals.is_atomic,
                    offset,
                    size: size_of(self.program, scalar).unwrap_or(1),
                    dimensions: dimensions.to_vec(),
                });
                Ok(())
            }
        }
    }

    fn record(
        &mut self,
        record: Record,
        ty: &QualType,
        offset: u64,
        dimensions: &[Dimension],
        name: &str,
    ) -> Result<(), String> {
        let data = &self.program.records[record];
        let fields = data.fields.as_ref().ok_or("objects of an incomplete type are")?;
        if data.is_union {
            return self.union(fields, data.size, offset, dimensions, name);
        }
        let mut at = 0;
        while at < fields.len() {
            let field = &fields[at];
            let path = field_name(name, field);
            if field.bit_width.is_none() {
                let is_atomic = ty.quals.is_atomic || field.ty.quals.is_atomic;
                let quals = crate::types::Qualifiers { is_atomic, ..field.ty.quals };
                let inner = QualType { ty: field.ty.ty.clone(), quals };
                self.flatten(&inner, offset + field.bit_offset / 8, dimensions, &path)?;
                at += 1;
                continue;
            }
            let group =
                fields[at..].iter().take_while(|field| field.bit_width.is_some_and(|width| width > 0));
            let group: Vec<&FieldData> = group.collect();
            self.bit_fields(&group, offset, dimensions, name);
            at += group.len().max(1);
        }
        Ok(())
    }

    /// Neighbouring bit-fields share their cells.
    fn bit_fields(&mut self, group: &[&FieldData], offset: u64, dimensions: &[Dimension], name: &str) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let start = first.bit_offset / 8;
        let end = (last.bit_offset + u64::from(last.bit_width.unwrap_or(0))).div_ceil(8);
        let names: Vec<&str> = group.iter().map(|f| f.name.as_str()).filter(|n| !n.is_empty()).collect();
        let name = format!("{name}.{}", names.join("/"));
        self.words(start, end, offset, dimensions, &name);
    }

    /// Cells for the bytes from `start` to `end`, which are accessed in slices.
    fn words(&mut self, start: u64, end: u64, offset: u64, dimensions: &[Dimension], name: &str) {
        let mut at = start;
        while at < end {
            let next = ((at / WORD + 1) * WORD).min(end);
            let bits = u8::try_from((next - at) * 8).unwrap_or(64);
            self.leaves.push(Leaf {
                name: name.replace("[]", ""),
                path: name.to_owned(),
                ty: Type::Int(IntKind::UnsignedLongLong),
                value: IntType { bits, signed: false },
                is_unit: true,
                is_atomic: false,
                offset: offset + at,
                size: next - at,
                dimensions: dimensions.to_vec(),
            });
            at = next;
        }
    }

    /// A union whose members are scalars of one size is one such scalar; any other is a row of words.
    fn union(
        &mut self,
        fields: &[FieldData],
        size: u64,
        offset: u64,
        dimensions: &[Dimension],
        name: &str,
    ) -> Result<(), String> {
        if let [only] = fields {
            return self.flatten(&only.ty, offset, dimensions, &field_name(name, only));
        }
        if fields.iter().any(|field| has_sync(self.program, &field.ty.ty)) {
            return Err("objects of the thread library in unions are".to_owned());
        }
        self.words(0, size, offset, dimensions, name);
        Ok(())
    }
}

fn field_name(outer: &str, field: &FieldData) -> String {
    if field.name.is_empty() { outer.to_owned() } else { format!("{outer}.{}", field.name) }
}

/// Whether an object of the thread library is a part of the type.
pub(crate) fn has_sync(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Sync(_) => true,
        Type::Array(element, _) => has_sync(program, &element.ty),
        Type::Record(record) => {
            let fields = program.records[*record].fields.iter().flatten();
            fields.into_iter().any(|field| has_sync(program, &field.ty.ty))
        }
        _ => false,
    }
}

/// Whether an object that is kept as the leaf may be accessed as the type, as a whole cell. Beyond C11 6.5p7,
/// integers and pointers of one size stand for each other, as compilers without type-based aliasing have it.
pub(crate) fn fits(program: &Program, accessed: &Type, leaf: &Leaf) -> bool {
    if leaf.is_unit {
        return false;
    }
    match (accessed, &leaf.ty) {
        (Type::Float(accessed), Type::Float(kept)) => accessed == kept,
        (Type::Float(_), _) | (_, Type::Float(_)) => false,
        (Type::Sync(accessed), Type::Sync(kept)) => accessed == kept,
        (Type::Sync(_), _) | (_, Type::Sync(_)) => false,
        (Type::Int(IntKind::Bool), kept) | (kept, Type::Int(IntKind::Bool)) => {
            *kept == Type::Int(IntKind::Bool) || is_character(kept)
        }
        (accessed, kept) => size_of(program, accessed) == size_of(program, kept),
    }
}

/// Whether the type is one through which the bytes of any object may be looked at.
pub(crate) fn is_character(ty: &Type) -> bool {
    matches!(ty, Type::Int(IntKind::Char | IntKind::SignedChar | IntKind::UnsignedChar))
}

/// The shape of an object that is kept as its bytes, in words that are accessed in slices. `in_row`: the words
/// are the elements of an array, and all of the same size.
pub(crate) fn words_of(size: u64, in_row: bool) -> Shape {
    let leaf = |offset, size: u64, dimensions| Leaf {
        name: String::new(),
        path: if in_row { "[]".to_owned() } else { String::new() },
        ty: Type::Int(IntKind::UnsignedLongLong),
        value: IntType { bits: u8::try_from(size * 8).unwrap_or(64), signed: false },
        is_unit: true,
        is_atomic: false,
        offset,
        size,
        dimensions,
    };
    let n_words = size.div_ceil(WORD);
    let leaves = if in_row {
        vec![leaf(0, WORD, vec![Dimension { stride: WORD, count: n_words }])]
    } else {
        (0..n_words).map(|word| leaf(word * WORD, WORD.min(size - word * WORD), vec![])).collect()
    };
    Shape { size, leaves }
}

/// Where a pointer into an object points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// At its start.
    Start,
    /// At one of its parts.
    Some,
    /// At any element, where it is an array of what is seen.
    All,
}

/// Whether there is in an object what is seen through a pointer to the type. Where there is not, the object is kept
/// as its bytes.
pub(crate) fn shows(program: &Program, object: &Type, seen: &Type, spot: Spot) -> bool {
    let mut seen = seen;
    while let Type::Array(element, _) = seen {
        seen = &element.ty;
    }
    if is_character(seen) || matches!(seen, Type::Void | Type::Function(_)) {
        return true;
    }
    let shapes = (shape_of(program, &object.clone().into()), shape_of(program, &seen.clone().into()));
    let (Ok(object), Ok(seen)) = shapes else { return true };
    let is_at = |part: &Leaf, position: u64| {
        object.leaves.iter().any(|leaf| {
            let Some(mut rest) = position.checked_sub(leaf.offset) else { return false };
            for dimension in &leaf.dimensions {
                if rest >= dimension.stride.saturating_mul(dimension.count) {
                    return false;
                }
                rest %= dimension.stride.max(1);
            }
            if leaf.is_unit {
                rest + part.size <= leaf.size
            } else {
                rest == 0 && fits(program, &part.ty, leaf)
            }
        })
    };
    let is_shown = |base: u64| {
        seen.leaves.iter().all(|part| {
            let second = part.dimensions.iter().filter(|dimension| dimension.count > 1);
            let mut offsets = std::iter::once(0).chain(second.map(|dimension| dimension.stride));
            part.count() > 0 && offsets.all(|offset| is_at(part, base + part.offset + offset))
        })
    };
    match spot {
        Spot::Start => is_shown(0),
        Spot::Some => is_shown(0) || object.leaves.iter().any(|leaf| is_shown(leaf.offset)),
        Spot::All => {
            let n_elements = object.size / seen.size.max(1);
            n_elements > 0 && (0..n_elements).all(|element| is_shown(element * seen.size))
        }
    }
}
