//! The program's memory, for people: which object an address is in, and what its cells are called.
//!
//! A net computes with integers only. This table says which of them are addresses or floating-point numbers,
//! and of which object a place is a part. Nothing that a net does depends on it.

use crate::net::{Net, Place};

/// What the integer in a cell stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Shown {
    /// Itself.
    #[default]
    Integer,
    /// An [`Address`].
    Pointer,
    /// The bits of a floating-point number of 32 bits.
    Float32,
    /// The bits of a floating-point number of 64 bits.
    Float64,
    /// Several things at once, such as bit-fields.
    Bits,
}

impl Shown {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Integer, Self::Pointer, Self::Float32, Self::Float64, Self::Bits];

    /// The word in the text form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Pointer => "pointer",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Bits => "bits",
        }
    }
}

/// An object of the program, or several that one declaration or allocation in the source makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectData {
    /// What addresses in it have in their upper 16 bits; 0 where none is ever made.
    pub number: u16,
    /// A name for people.
    pub name: String,
    /// What it is.
    pub kind: ObjectKind,
    /// The scalar parts of which it consists.
    pub parts: Vec<PartData>,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A variable.
    Variable,
    /// Blocks that are allocated at one place of the source. The cells of this place say which are there: those
    /// whose value has the bit [`ObjectKind::ALIVE`]. The index of a part's cell is the number of the block
    /// times the number of such parts in a block, plus the position in the block.
    Heap(Place),
    /// A string.
    Text,
    /// A function.
    Function,
    /// Something that nothing is known of.
    Unknown,
}

impl ObjectKind {
    /// Set in the cells of a heap's slots that have a block.
    pub const ALIVE: i64 = 4;
}

/// A scalar part of an object, or the row of all parts of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartData {
    /// Its cells; `None` where no step touches it.
    pub place: Option<Place>,
    /// How it is reached from the object: `.next`, or `[].b[]`, with brackets for the dimensions.
    pub path: String,
    /// Bytes from the start of the object to the first one.
    pub offset: u64,
    /// The arrays that it is in, outermost first: bytes from one element to the next, and how many there are.
    pub dimensions: Vec<(u64, u64)>,
}

impl PartData {
    /// How many there are in an object.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.dimensions.iter().fold(1, |n, (_, count)| n.saturating_mul(*count))
    }

    /// The position in each dimension, from the position among all.
    #[must_use]
    pub fn indices(&self, mut position: u64) -> Vec<u64> {
        let mut indices = Vec::new();
        for &(_, count) in self.dimensions.iter().rev() {
            indices.push(position % count.max(1));
            position /= count.max(1);
        }
        indices.reverse();
        indices
    }

    /// The position in each dimension of the part that starts at a distance from the start of the object. Just
    /// behind the last element of the outermost array is fine.
    #[must_use]
    pub fn indices_at(&self, offset: u64) -> Option<Vec<u64>> {
        let mut rest = offset.checked_sub(self.offset)?;
        let mut indices = Vec::new();
        for (position, &(stride, count)) in self.dimensions.iter().enumerate() {
            let index = rest / stride.max(1);
            if index > count || (index == count && position > 0) {
                return None;
            }
            indices.push(index);
            rest %= stride.max(1);
        }
        (rest == 0).then_some(indices)
    }
}

/// The parts of a number that is an address. Null, and other small numbers, have the object 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The number of the object.
    pub object: u16,
    /// The depth of the frame that a local is in; for a block twice its number, plus one where it has the second of the
    /// two addresses that blocks in its place can have.
    pub slot: u8,
    /// The thread that owns it.
    pub thread: u8,
    /// Bytes from the start of the object.
    pub offset: u32,
}

impl Address {
    /// Takes an address apart.
    #[must_use]
    pub const fn of(value: i64) -> Self {
        let [high, low, slot, thread, d, c, b, a] = value.to_be_bytes();
        Self {
            object: u16::from_be_bytes([high, low]),
            slot,
            thread,
            offset: u32::from_be_bytes([d, c, b, a]),
        }
    }
}

impl Net {
    /// The object with a number.
    #[must_use]
    pub fn object(&self, number: u16) -> Option<&ObjectData> {
        self.objects.iter().find(|object| number != 0 && object.number == number)
    }

    /// The object that a place belongs to, and its part of it.
    #[must_use]
    pub fn part_of(&self, place: Place) -> Option<(&ObjectData, &PartData)> {
        let mut parts =
            self.objects.iter().flat_map(|object| object.parts.iter().map(move |part| (object, part)));
        parts.find(|(_, part)| part.place == Some(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_apart() {
        let address = Address::of((3 << 48) | (5 << 40) | (2 << 32) | 12);
        assert_eq!(address, Address { object: 3, slot: 5, thread: 2, offset: 12 });
        assert_eq!(Address::of(0), Address { object: 0, slot: 0, thread: 0, offset: 0 });
    }

    #[test]
    fn positions_in_arrays() {
        // struct { int a; char b[3]; } [4]: the part `[].b[]`.
        let dimensions = vec![(8, 4), (1, 3)];
        let part = PartData { place: None, path: "[].b[]".to_owned(), offset: 4, dimensions };
        assert_eq!(part.count(), 12);
        assert_eq!(part.indices(7), [2, 1]);
        assert_eq!(part.indices_at(4 + 16 + 1), Some(vec![2, 1]));
        assert_eq!(part.indices_at(4 + 16 + 3), None, "this is the next element's padding or `a`");
        assert_eq!(part.indices_at(3), None);
        assert_eq!(part.indices_at(4 + 32), Some(vec![4, 0]), "just behind the last");
        assert_eq!(part.indices_at(4 + 40), None);
    }
}
