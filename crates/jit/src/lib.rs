//! Native code for short programs over words.
//!
//! A [`Program`] reads and writes registers, the words of a thread and global words, and says at its end whether it came
//! through, and with which value. [`compile`] makes machine code of some of them, with Cranelift. Whoever has programs can
//! always do without: where there is no code for this machine, or for this program, that is an ordinary answer.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `program` | programs, and what it takes to run one without harm |
//! | `lower` | a program as a function of Cranelift |
//! | `native` | memory that can be run, and the call |
//!
//! # Why the call is safe
//!
//! This is the one room in which there is `unsafe`: the two lines in `native.rs` that make a function of an address, and
//! that call it. Machine code that Cranelift makes of a program does what the program says, which is to load and store
//! words at places that are known when it is compiled, or that it has compared with the length of an array before. So the
//! greatest word that it can touch is known ([`Program::bounds`]), a caller gives slices, and the slices are compared with
//! that before each call. There are no other pointers, no calls, no loops, and nothing that can trap.
//!
//! This room knows the arithmetic of nets, and nothing of states, searches or transitions.

#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(target_arch = "x86_64")]
mod lower;
#[cfg(target_arch = "x86_64")]
mod native;
#[cfg(not(target_arch = "x86_64"))]
#[path = "none.rs"]
mod native;
mod program;

use std::fmt;

pub use native::{Function, compile};
pub use program::{Bounds, Element, Inst, Program, Reg, Value, Words};

/// Why there is no native code: a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCode(pub String);

impl fmt::Display for NoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoCode {}
