//! Values that several threads write, each in a line of the cache for itself.

use std::ops::Deref;

/// A value in a line of the cache for itself: a thread that writes it does not take the line from others who read what would stand
/// beside it. It is two lines, since processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct OwnLine<T>(pub T);

impl<T> Deref for OwnLine<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
