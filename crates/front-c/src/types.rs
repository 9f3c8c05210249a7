//! C's types, and the two data models.

use pdnet_base::{Idx as _, IndexVec};

use crate::tree::{Program, Record};

/// The sizes of the integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DataModel {
    /// `long` and pointers have 64 bits.
    #[default]
    Lp64,
    /// `int`, `long` and pointers have 32 bits.
    Ilp32,
}

/// C's integer types. `Char` is signed, as on x86 and in SV-COMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntKind {
    /// `_Bool`
    Bool,
    /// `char`
    Char,
    /// `signed char`
    SignedChar,
    /// `unsigned char`
    UnsignedChar,
    /// `short`
    Short,
    /// `unsigned short`
    UnsignedShort,
    /// `int`
    Int,
    /// `unsigned int`
    UnsignedInt,
    /// `long`
    Long,
    /// `unsigned long`
    UnsignedLong,
    /// `long long`
    LongLong,
    /// `unsigned long long`
    UnsignedLongLong,
    /// `__int128`
    Int128,
    /// `unsigned __int128`
    UnsignedInt128,
}

impl IntKind {
    /// Width in bits as stored in memory (`_Bool`: 8).
    #[must_use]
    pub const fn bits(self, model: DataModel) -> u32 {
        match self {
            Self::Bool | Self::Char | Self::SignedChar | Self::UnsignedChar => 8,
            Self::Short | Self::UnsignedShort => 16,
            Self::Int | Self::UnsignedInt => 32,
            Self::Long | Self::UnsignedLong => match model {
                DataModel::Lp64 => 64,
                DataModel::Ilp32 => 32,
            },
            Self::LongLong | Self::UnsignedLongLong => 64,
            Self::Int128 | Self::UnsignedInt128 => 128,
        }
    }

    /// Whether it holds negative values.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        match self {
            Self::Char
            | Self::SignedChar
            | Self::Short
            | Self::Int
            | Self::Long
            | Self::LongLong
            | Self::Int128 => true,
            Self::Bool
            | Self::UnsignedChar
            | Self::UnsignedShort
            | Self::UnsignedInt
            | Self::UnsignedLong
            | Self::UnsignedLongLong
            | Self::UnsignedInt128 => false,
        }
    }

    /// Conversion rank (C11 6.3.1.1).
    #[must_use]
    pub const fn rank(self) -> u32 {
        match self {
            Self::Bool => 0,
            Self::Char | Self::SignedChar | Self::UnsignedChar => 1,
            Self::Short | Self::UnsignedShort => 2,
            Self::Int | Self::UnsignedInt => 3,
            Self::Long | Self::UnsignedLong => 4,
            Self::LongLong | Self::UnsignedLongLong => 5,
            Self::Int128 | Self::UnsignedInt128 => 6,
        }
    }

    /// The unsigned type of the same rank.
    #[must_use]
    pub const fn to_unsigned(self) -> Self {
        match self {
            Self::Bool => Self::Bool,
            Self::Char | Self::SignedChar | Self::UnsignedChar => Self::UnsignedChar,
            Self::Short | Self::UnsignedShort => Self::UnsignedShort,
            Self::Int | Self::UnsignedInt => Self::UnsignedInt,
            Self::Long | Self::UnsignedLong => Self::UnsignedLong,
            Self::LongLong | Self::UnsignedLongLong => Self::UnsignedLongLong,
            Self::Int128 | Self::UnsignedInt128 => Self::UnsignedInt128,
        }
    }

    /// The smallest value.
    #[must_use]
    pub const fn min(self, model: DataModel) -> i128 {
        if self.is_signed() { i128::MIN >> (128 - self.bits(model)) } else { 0 }
    }

    /// The largest value (of `unsigned __int128`: the largest that `i128` holds).
    #[must_use]
    pub const fn max(self, model: DataModel) -> i128 {
        match self {
            Self::Bool => 1,
            Self::UnsignedInt128 => i128::MAX,
            _ => {
                let bits = self.bits(model);
                let value_bits = if self.is_signed() { bits - 1 } else { bits };
                if value_bits >= 127 { i128::MAX } else { (1 << value_bits) - 1 }
            }
        }
    }

    /// The value that an integer gets when it is converted to this type (C11 6.3.1.2, 6.3.1.3; for
    /// signed types modulo 2^n, as every compiler defines it).
    #[must_use]
    pub const fn wrap(self, model: DataModel, value: i128) -> i128 {
        if matches!(self, Self::Bool) {
            return (value != 0) as i128;
        }
        let bits = self.bits(model);
        if bits >= 128 {
            return value;
        }
        let shift = 128 - bits;
        if self.is_signed() { (value << shift) >> shift } else { ((value as u128) << shift >> shift) as i128 }
    }

    /// The name in C.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "_Bool",
            Self::Char => "char",
            Self::SignedChar => "signed char",
            Self::UnsignedChar => "unsigned char",
            Self::Short => "short",
            Self::UnsignedShort => "unsigned short",
            Self::Int => "int",
            Self::UnsignedInt => "unsigned int",
            Self::Long => "long",
            Self::UnsignedLong => "unsigned long",
            Self::LongLong => "long long",
            Self::UnsignedLongLong => "unsigned long long",
            Self::Int128 => "__int128",
            Self::UnsignedInt128 => "unsigned __int128",
        }
    }
}

/// C's floating types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    /// `float`
    Float,
    /// `double`
    Double,
    /// `long double`
    LongDouble,
}

/// Types of the thread library, recognised by the names of their typedefs, so that it does not matter
/// what the system's headers make of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncKind {
    /// `pthread_mutex_t`
    Mutex,
    /// `pthread_cond_t`
    Condition,
    /// `pthread_rwlock_t`
    RwLock,
    /// `pthread_spinlock_t`
    SpinLock,
    /// `pthread_barrier_t`
    Barrier,
    /// `sem_t`
    Semaphore,
    /// `pthread_once_t`
    Once,
    /// `pthread_*attr_t`
    Attribute,
}

/// A type without qualifiers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `void`
    Void,
    /// An integer type. Enumerations are their compatible integer type.
    Int(IntKind),
    /// `pthread_t`: the name of a thread. It converts to and from integers as `unsigned long` would.
    Thread,
    /// A floating type.
    Float(FloatKind),
    /// A pointer.
    Pointer(Box<QualType>),
    /// An array; `None` where the length is unknown or not constant.
    Array(Box<QualType>, Option<u64>),
    /// A struct or union.
    Record(Record),
    /// A function.
    Function(Box<FunctionType>),
    /// An object of the thread library.
    Sync(SyncKind),
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// The result.
    pub result: QualType,
    /// The parameters.
    pub params: Vec<QualType>,
    /// `...`, or no prototype.
    pub variadic: bool,
}

/// Qualifiers that matter to us (`restrict` does not).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Qualifiers {
    /// `const`
    pub is_const: bool,
    /// `volatile`
    pub is_volatile: bool,
    /// `_Atomic`
    pub is_atomic: bool,
}

/// A type with its qualifiers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QualType {
    /// The type.
    pub ty: Type,
    /// Its qualifiers.
    pub quals: Qualifiers,
}

impl From<Type> for QualType {
    fn from(ty: Type) -> Self {
        Self { ty, quals: Qualifiers::default() }
    }
}

/// A struct or union.
#[derive(Clone, Debug)]
pub struct RecordData {
    /// Its tag; empty where it has none.
    pub tag: String,
    /// A union: all fields share the storage.
    pub is_union: bool,
    /// The fields, once the type is complete.
    pub fields: Option<Vec<FieldData>>,
    /// Size in bytes, once complete.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// A field of a struct or union.
#[derive(Clone, Debug)]
pub struct FieldData {
    /// Its name; empty for anonymous members and unnamed bit-fields.
    pub name: String,
    /// Its type.
    pub ty: QualType,
    /// Offset in bits from the start of the object.
    pub bit_offset: u64,
    /// Width of a bit-field.
    pub bit_width: Option<u32>,
}

impl Type {
    /// The type `int`.
    pub const INT: Self = Self::Int(IntKind::Int);

    /// The type as a C programmer writes it, for diagnostics.
    #[must_use]
    pub fn display(&self, program: &Program) -> String {
        match self {
            Self::Void => "void".to_owned(),
            Self::Int(kind) => kind.name().to_owned(),
            Self::Thread => "pthread_t".to_owned(),
            Self::Float(FloatKind::Float) => "float".to_owned(),
            Self::Float(FloatKind::Double) => "double".to_owned(),
            Self::Float(FloatKind::LongDouble) => "long double".to_owned(),
            Self::Pointer(target) => format!("{} *", target.ty.display(program)),
            Self::Array(..) => {
                // The lengths stand in the order in which the indices do.
                let (mut base, mut lengths) = (self, String::new());
                while let Self::Array(element, length) = base {
                    lengths.push_str(&length.map_or("[]".to_owned(), |n| format!("[{n}]")));
                    base = &element.ty;
                }
                format!("{}{lengths}", base.display(program))
            }
            Self::Record(record) => {
                let data = &program.records[*record];
                let word = if data.is_union { "union" } else { "struct" };
                if data.tag.is_empty() {
                    format!("{word} #{}", record.index())
                } else {
                    format!("{word} {}", data.tag)
                }
            }
            Self::Function(function) => {
                let params: Vec<_> = function.params.iter().map(|param| param.ty.display(program)).collect();
                format!("{} ({})", function.result.ty.display(program), params.join(", "))
            }
            Self::Sync(kind) => match kind {
                SyncKind::Mutex => "pthread_mutex_t",
                SyncKind::Condition => "pthread_cond_t",
                SyncKind::RwLock => "pthread_rwlock_t",
                SyncKind::SpinLock => "pthread_spinlock_t",
                SyncKind::Barrier => "pthread_barrier_t",
                SyncKind::Semaphore => "sem_t",
                SyncKind::Once => "pthread_once_t",
                SyncKind::Attribute => "pthread attribute object",
            }
            .to_owned(),
        }
    }
}

/// Size in bytes; `None` where it is unknown or not constant. `void` and functions have size 1, as in
/// GNU C.
#[must_use]
pub fn size_of(model: DataModel, records: &IndexVec<Record, RecordData>, ty: &Type) -> Option<u64> {
    let word = match model {
        DataModel::Lp64 => 8,
        DataModel::Ilp32 => 4,
    };
    Some(match ty {
        Type::Void | Type::Function(_) => 1,
        Type::Int(kind) => u64::from(kind.bits(model) / 8),
        Type::Thread | Type::Pointer(_) => word,
        Type::Float(FloatKind::Float) => 4,
        Type::Float(FloatKind::Double) => 8,
        Type::Float(FloatKind::LongDouble) => match model {
            DataModel::Lp64 => 16,
            DataModel::Ilp32 => 12,
        },
        Type::Array(element, Some(n)) => size_of(model, records, &element.ty)?.checked_mul(*n)?,
        Type::Array(_, None) => return None,
        Type::Record(record) => {
            let data = &records[*record];
            data.fields.as_ref()?;
            data.size
        }
        Type::Sync(kind) => sync_size(*kind, model),
    })
}

/// glibc's sizes.
fn sync_size(kind: SyncKind, model: DataModel) -> u64 {
    let (wide, narrow) = match kind {
        SyncKind::Mutex => (40, 24),
        SyncKind::Condition => (48, 48),
        SyncKind::RwLock => (56, 32),
        SyncKind::SpinLock | SyncKind::Once => (4, 4),
        SyncKind::Barrier => (32, 20),
        SyncKind::Semaphore => (32, 16),
        SyncKind::Attribute => (56, 36),
    };
    match model {
        DataModel::Lp64 => wide,
        DataModel::Ilp32 => narrow,
    }
}
