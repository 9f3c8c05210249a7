//! What was merged, by which rule, and why the rest was not: for people.

use std::fmt::Write as _;

use pdnet_source::{SourceMap, Span};

use super::{Atomized, ChannelFact, Rule};

/// Statements are shown up to this many characters.
const SHOWN: usize = 40;

impl Atomized {
    /// The report as text.
    #[must_use]
    pub fn report(&self, map: &SourceMap) -> String {
        let mut out = String::new();
        if let Some(reason) = &self.obstacle {
            let _ = writeln!(out, "nothing was merged: {reason}");
            return out;
        }
        for merged in &self.merged {
            let place = map.display(map.pos(merged.span));
            let _ = writeln!(out, "{place}: merged in {}", merged.process);
            if merged.exchanged > 0 {
                let _ = writeln!(out, "    what waits comes first now (Algorithm 1, swap)");
            }
            for &(span, rule) in &merged.rules {
                let _ = writeln!(out, "    {:<SHOWN$}  {}", shown_statement(map, span), rule.text());
            }
        }
        for kept in &self.kept {
            let place = map.display(map.pos(kept.span));
            let _ = writeln!(
                out,
                "{place}: not merged with what stands before it in {}: `{}`: {}",
                kept.process,
                shown_statement(map, kept.span),
                kept.reason
            );
        }
        for fact in &self.channels {
            let _ = match fact {
                ChannelFact::Exclusive { channel, process, receives: true } => {
                    writeln!(out, "{channel}: only {process} receives from it (`xr` put in)")
                }
                ChannelFact::Exclusive { channel, process, receives: false } => {
                    writeln!(out, "{channel}: only {process} sends to it (`xs` put in)")
                }
                ChannelFact::GivenBack { variable } => {
                    writeln!(out, "{variable}: only taken, and given back by who has it")
                }
                ChannelFact::Sufficient { channel, messages, capacity } => {
                    writeln!(out, "{channel}: always has room: {messages} of {capacity} messages at most")
                }
            };
        }
        let n = self.merged.len();
        let _ = writeln!(out, "{n} sequence{} merged", if n == 1 { "" } else { "s" });
        out
    }
}

impl Rule {
    /// The name of the rule, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pre => "pre",
            Self::PreReceive => "pre-receive",
            Self::Guard => "guard",
            Self::GuardReceive => "guard-receive",
            Self::Any => "any",
            Self::Existing => "existing",
            Self::Post => "post",
            Self::PostShared => "post-shared",
            Self::Selection => "selection",
            Self::Repetition => "repetition",
        }
    }

    /// The rule for people, with its place in the paper.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Pre => "waits for the next step: local (3.2, not a guard, 1 and 2)",
            Self::PreReceive => "waits for the next step: one reader, always room (3.2, not a guard, 3)",
            Self::Guard => "waits for the next step: a local guard (3.2, a guard, 1 and 2)",
            Self::GuardReceive => {
                "waits for the next step: a guard that receives, one reader, always room (3.2, a guard, 3)"
            }
            Self::Any => "the step that others may see",
            Self::Existing => "was atomic before",
            Self::Post => "follows at once: local (3.2, non blocking statements)",
            Self::PostShared => "follows at once: nobody can prevent or see it (F-independence)",
            Self::Repetition => "a loop that ends, with one rule for all that is in it",
            Self::Selection => "all alternatives are merged (3.2, 4)",
        }
    }
}

/// The start of a statement, in one line.
#[must_use]
pub fn shown_statement(map: &SourceMap, span: Span) -> String {
    let text = map.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("");
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    let start: String = line.chars().take(SHOWN - 2).collect();
    format!("{} …", start.trim_end())
}
