//! Linear temporal logic: what users write, what it means, and the automata that engines run.
//!
//! A property starts as text ([`parse_formula`], [`parse_formula_at`], [`parse_property_file`]) and
//! becomes a [`Formula`]: an [`Ltl`] tree whose leaves are numbered atoms, and a table that says what
//! the user wrote for each atom. Names inside atoms are not resolved here, because that needs the
//! program; a front end does it and hands on a truth value per atom and state. From then on a state is
//! a *letter*: a `u64` in which bit `i` is the truth of atom `i`. Hence at most 64 atoms.
//!
//! [`translate`] turns an [`Ltl`] into a transition-based generalised Büchi [`Automaton`] over letters.
//! [`Ltl::holds_on_lasso`] gives the meaning of a formula without any automaton; it is slow and obvious
//! and exists so that the translation can be tested against it.
//!
//! An automaton may also be given as such: [`AutomatonBuilder`] makes one of states and guarded edges,
//! [`parse_hoa`] reads one, and [`Automaton::accepts_lasso`] is the meaning of any.
//!
//! This room knows nothing of nets, programs or engines, opens no file and prints nothing.
//!
//! ```
//! use pdnet_logic::{parse_formula, translate};
//! use pdnet_source::SourceMap;
//!
//! let mut map = SourceMap::new();
//! let file = map.add("<ltl>", "[] (x == 1 -> <> y == 2)");
//! let formula = parse_formula(&map, file).unwrap();
//! assert_eq!(formula.to_string(), "G(x == 1 -> F(y == 2))");
//! let automaton = translate(&formula.ltl, formula.atom_names()).unwrap();
//! assert_eq!(automaton.n_states(), 2);
//! ```

#![forbid(unsafe_code)]

mod atom;
mod automaton;
mod builder;
mod dot;
mod expr;
mod formula;
mod hoa;
mod implication;
mod lasso;
mod lexer;
mod ltl;
mod membership;
mod nnf;
mod parser;
mod property_file;
#[cfg(test)]
mod random_formula;
mod reduce;
mod relative;
mod residual;
mod rewrite;
mod scc;
mod simplify;
mod simulation;
mod store;
mod translate;
mod words;

pub use atom::{AtomKind, AtomSyntax, Name, ThreadRef};
pub use automaton::{AutState, Automaton, Cube, Edge, StateData};
pub use builder::{AutomatonBuilder, BuildError, Guard};
pub use expr::{BinaryOp, ExprKind, ExprSyntax, IntSuffix, UnaryOp};
pub use formula::Formula;
pub use hoa::{HoaAutomaton, parse_hoa};
pub use ltl::{Atom, Ltl, MAX_ATOMS};
pub use parser::{parse_formula, parse_formula_at};
pub use property_file::{Property, parse_property_file};
pub use translate::{MAX_STATES, TranslateError, translate};
