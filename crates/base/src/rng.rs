//! The random numbers of our tests: small, seedable, the same on every machine.

/// A splitmix64 generator (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
/// Test failures print the seed, and the seed alone brings the case back.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator that will always give the same numbers for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The seed for a test run: the variable `PDNET_SEED` where it is set, otherwise `default`.
    #[must_use]
    pub fn test_seed(default: u64) -> u64 {
        Self::test_number("PDNET_SEED").unwrap_or(default)
    }

    /// A number for a test run, such as how many cases to try: that of a variable of the environment, where it is set.
    #[must_use]
    pub fn test_number<N: std::str::FromStr>(variable: &str) -> Option<N> {
        std::env::var(variable).ok()?.parse().ok()
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`; `n` must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next_u64() % n as u64).expect("smaller than n")
    }

    /// True with probability `percent` in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the items; the slice must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
