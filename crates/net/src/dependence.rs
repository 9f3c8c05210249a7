//! Control places and control arcs: Definitions 5 to 8 of the slicing paper.

use crate::Net;

/// Adds the control places and arcs.
pub fn add_control_dependence(_net: &mut Net) {}
