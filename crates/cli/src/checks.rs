//! The built-in checks by name.

use pdnet_check::Property;
use pdnet_net::Net;
use pdnet_source::{Diagnostic, Span, nearest_name};

/// A check that can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Assert,
    Deadlock,
    PartialDeadlock,
    Race,
    Termination,
    Arithmetic,
    Overflow,
    Memory,
    Leak,
    Uninitialized,
    Locks,
    /// A part of `memory` that the competition asks for on its own.
    ValidDeref,
    /// Another part of `memory`.
    ValidFree,
}

/// What is checked where the user asks for nothing.
pub(crate) const DEFAULT: [Check; 3] = [Check::Assert, Check::Deadlock, Check::Race];

impl Check {
    const ALL: [Self; 13] = [
        Self::Assert,
        Self::Deadlock,
        Self::PartialDeadlock,
        Self::Race,
        Self::Termination,
        Self::Arithmetic,
        Self::Overflow,
        Self::Memory,
        Self::Leak,
        Self::Uninitialized,
        Self::Locks,
        Self::ValidDeref,
        Self::ValidFree,
    ];

    /// The name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Assert => "assert",
            Self::Deadlock => "deadlock",
            Self::PartialDeadlock => "partial-deadlock",
            Self::Race => "race",
            Self::Termination => "termination",
            Self::Arithmetic => "arithmetic",
            Self::Overflow => "overflow",
            Self::Memory => "memory",
            Self::Leak => "leak",
            Self::Uninitialized => "uninitialized",
            Self::Locks => "locks",
            Self::ValidDeref => "valid-deref",
            Self::ValidFree => "valid-free",
        }
    }

    /// What it says, as a property file would. Some are no properties of the competition; their words are
    /// made like those of it.
    pub(crate) const fn formula(self) -> &'static str {
        match self {
            Self::Assert => "G ! call(reach_error())",
            Self::Deadlock => "G ! deadlock",
            Self::PartialDeadlock => "G ! partial-deadlock",
            Self::Race => "G ! data-race",
            Self::Termination => "F end",
            Self::Memory | Self::ValidDeref => "G valid-deref",
            Self::ValidFree => "G valid-free",
            Self::Leak => "G valid-memcleanup",
            Self::Overflow => "G ! overflow",
            Self::Uninitialized => "G ! uninitialized",
            Self::Arithmetic => "G ! arithmetic-error",
            Self::Locks => "G valid-locks",
        }
    }

    /// The property of the net.
    pub(crate) fn property(self, net: &Net) -> Property {
        match self {
            Self::Assert => Property::assertions(net),
            Self::Deadlock => Property::no_deadlock(),
            Self::PartialDeadlock => Property::no_partial_deadlock(),
            Self::Race => Property::no_race(),
            Self::Termination => Property::termination(net),
            Self::Arithmetic => Property::arithmetic(net),
            Self::Overflow => Property::overflow(net),
            Self::Memory => Property::memory(net),
            Self::Leak => Property::leak(net),
            Self::Uninitialized => Property::uninitialised(net),
            Self::ValidDeref => Property::valid_deref(net),
            Self::ValidFree => Property::valid_free(net),
            Self::Locks => Property::locks(net),
        }
    }

    /// The check of that name, which stands at `span`.
    pub(crate) fn parse(name: &str, span: Span) -> Result<Self, Diagnostic> {
        if let Some(check) = Self::ALL.into_iter().find(|check| check.name() == name) {
            return Ok(check);
        }
        let names: Vec<&str> = Self::ALL.iter().map(|check| check.name()).collect();
        let list = names.join(", ");
        let diagnostic = Diagnostic::error("unknown-check", format!("there is no check `{name}`"))
            .at(span, "unknown name");
        Err(match nearest_name(name, names.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help(format!("checks of this version: {list}")),
        })
    }
}
