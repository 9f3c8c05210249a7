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
    Memory,
    Locks,
}

/// What is checked where the user asks for nothing.
pub(crate) const DEFAULT: [Check; 3] = [Check::Assert, Check::Deadlock, Check::Race];

/// Names of checks that will come.
const PLANNED: [&str; 3] = ["overflow", "leak", "uninitialized"];

impl Check {
    const ALL: [Self; 8] = [
        Self::Assert,
        Self::Deadlock,
        Self::PartialDeadlock,
        Self::Race,
        Self::Termination,
        Self::Arithmetic,
        Self::Memory,
        Self::Locks,
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
            Self::Memory => "memory",
            Self::Locks => "locks",
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
            Self::Memory => Property::memory(net),
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
        if PLANNED.contains(&name) {
            return Err(Diagnostic::error(
                "unsupported-check",
                format!("the check `{name}` does not exist yet"),
            )
            .at(span, "not in this version")
            .help(format!("checks of this version: {list}")));
        }
        let diagnostic = Diagnostic::error("unknown-check", format!("there is no check `{name}`"))
            .at(span, "unknown name");
        let known = names.iter().chain(&PLANNED).copied();
        Err(match nearest_name(name, known) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help(format!("checks of this version: {list}")),
        })
    }
}
