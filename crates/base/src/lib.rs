//! Typed indices, the tables that they index, and the project's hash maps.
//!
//! An entity of a net or of a program is a four-byte `Copy` index into a table that owns its data.
//! The index type is a bare noun (`Place`), what it points to ends in `Data` (`PlaceData`). References
//! between entities are then plain numbers: no lifetimes, cheap to hash, stable to print.

#![deny(unsafe_code)]

mod index_vec;
mod memory;
mod own_line;
mod prefetch;
mod rng;
mod slots;
pub mod varint;

pub use index_vec::{Idx, IndexVec};
pub use memory::table_bytes;
pub use own_line::OwnLine;
pub use prefetch::prefetch;
pub use rng::Rng;
pub use slots::Slots;

/// The hash map for small keys such as indices. Its order is arbitrary: never iterate it into output.
pub type FxHashMap<K, V> = rustc_hash::FxHashMap<K, V>;
/// The hash set for small keys such as indices. Its order is arbitrary: never iterate it into output.
pub type FxHashSet<K> = rustc_hash::FxHashSet<K>;
