//! What tables take.

/// The bytes of a hash table with so many entries, with what it is about to take: one that is almost full will be replaced by one
/// of twice the size, and for a moment both are there. A limit of memory that counted them only then would not be kept.
#[must_use]
pub const fn table_bytes(allocated: usize, n_entries: usize, capacity: usize) -> usize {
    let is_almost_full = capacity.saturating_sub(n_entries) < capacity / 16;
    if is_almost_full { allocated * 3 } else { allocated }
}
