//! Memory that will be needed soon.

/// Asks the processor to bring what is there close to it, and goes on without waiting. Where many such requests are on their
/// way at once, a large table costs little more than a small one. It changes nothing but the time that a look at it takes.
#[inline]
pub fn prefetch<T>(at: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "there is no safe name for the instruction")]
    // SAFETY: it is a hint that reads nothing, and every processor of this kind has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
