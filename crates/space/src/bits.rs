//! Sets of small numbers.

/// A set of numbers below a bound that its users know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// The empty set, without room.
    pub(crate) const NONE: Self = Self(Vec::new());

    /// The empty set, with room for numbers below the bound.
    pub(crate) fn new(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)])
    }

    pub(crate) fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub(crate) fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    /// Makes it empty, with room for numbers below the bound.
    pub(crate) fn resize(&mut self, bound: usize) {
        self.0.clear();
        self.0.resize(bound.div_ceil(64), 0);
    }

    /// Makes it a copy.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.0.clear();
        self.0.extend_from_slice(&other.0);
    }

    /// Adds the members of another set.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    /// Adds the members of another set, and says whether one was new.
    pub(crate) fn absorb(&mut self, other: &Self) -> bool {
        let mut is_new = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            is_new |= more & !*word != 0;
            *word |= more;
        }
        is_new
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(word, other)| word & other != 0)
    }

    /// The members, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
    }

    /// Adds to `twice` what is in this set and in the other, and then the other to this one.
    pub(crate) fn count(&mut self, other: &Self, twice: &mut Self) {
        for ((once, twice), &word) in self.0.iter_mut().zip(&mut twice.0).zip(&other.0) {
            *twice |= *once & word;
            *once |= word;
        }
    }

    /// Whether this set meets what is counted for others than the one that has `own`: what is counted once and not its
    /// own, or counted twice.
    pub(crate) fn meets_others(&self, once: &Self, twice: &Self, own: &Self) -> bool {
        let counted = once.0.iter().zip(&twice.0).zip(&own.0);
        self.0.iter().zip(counted).any(|(word, ((once, twice), own))| word & (once & !own | twice) != 0)
    }
}
