//! What agglomeration did, in figures.

use crate::slicing::Change;

/// What merging steps made of the net for some properties.
#[derive(Clone, Debug)]
pub struct MergeSummary {
    /// The names of the properties.
    pub properties: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// Transitions, of what slicing left and of the net that was searched.
    pub transitions: Change,
    /// Places where threads can stand.
    pub places: Change,
    /// At how many places a step was merged with what comes after it, by post-agglomeration.
    pub post: usize,
    /// At how many places a step was put off until the next one, by pre-agglomeration.
    pub pre: usize,
}

impl MergeSummary {
    /// What was merged, in one sentence: `threads stop at 7 of 21 places`.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "threads stop at {} of {} places, {} steps of {} are left",
            self.places.after, self.places.before, self.transitions.after, self.transitions.before
        )
    }
}
