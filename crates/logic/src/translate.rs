use std::fmt;
use crate::{Automaton, Ltl};
/// x
pub const MAX_STATES: usize = 100_000;
/// Why a formula has no automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranslateError {
    /// More than [`MAX_ATOMS`](crate::MAX_ATOMS) atoms.
    TooManyAtoms,
    /// More than 32 promises.
    TooManyAcceptanceSets,
    /// More than [`MAX_STATES`] states.
    TooManyStates,
    /// A single state with too many edges.
    TooManyEdges,
}
impl fmt::Display for TranslateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "{self:?}") }
}
impl std::error::Error for TranslateError {}
/// x
pub fn translate(ltl: &Ltl, atom_names: Vec<String>) -> Result<Automaton, TranslateError> { let _ = (ltl, atom_names); Err(TranslateError::TooManyAtoms) }
