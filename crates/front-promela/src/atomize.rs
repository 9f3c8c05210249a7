//! Promela to Promela: the same model with `atomic` around steps that can as well be one.
//!
//! This is Section 3 of "Adapting Petri Nets Reductions to Promela Specifications" (Pajault, Pradat-Peyre, Rousseau),
//! with the rules in files of their own. The text is kept as it is, comments and all; only `atomic {`, `}`, `xr` and `xs`
//! are put in. The result is read again and compared with what it should be, so that no macro or odd layout can make
//! something else of it.
//!
//! | file | what it does |
//! | --- | --- |
//! | `local.rs` | which statements touch only what nobody else sees |
//! | `post.rs` | statements that follow a step at once |
//! | `pre.rs` | statements that wait for the next step |
//! | `guard.rs` | choices that nobody else can change |
//! | `channel.rs` | who uses a channel, and whether there is always room |
//! | `instances.rs` | which processes there are, and which channels they have |
//! | `tokens.rs` | what processes take and give back |
//! | `repeat.rs` | loops that are sure to end |
//! | `chain.rs` | what SPIN makes one step of by itself |
//! | `order.rs` | what a merged sequence costs SPIN's partial order reduction |
//! | `swap.rs` | assignments that come behind a statement that waits |
//! | `region.rs` | the shape of a merged sequence; selections |
//! | `facts.rs` | what is asked of the whole model |
//! | `plan.rs` | goes through the proctypes and picks sequences |
//! | `file.rs` | from a file, read again after the change |
//! | `edit.rs` | changes of the text |
//! | `report.rs` | what was done and why, for people |
//!
//! What is preserved: invalid end states, assertions, non-progress and acceptance cycles, and formulas without X, also
//! under weak fairness. The argument is in `region.rs`; it holds because labels that mean something, locals that a
//! formula asks for, and globals in general are never touched by a step that changes its place. Where the model can count
//! steps (`X`, a `never` claim, `_last`, `enabled`, `pc_value`, priorities), nothing is merged.

mod chain;
mod channel;
mod edit;
mod facts;
mod file;
mod guard;
mod instances;
mod local;
mod order;
mod plan;
mod post;
mod pre;
mod region;
mod repeat;
mod report;
mod swap;
mod tokens;

use pdnet_base::FxHashSet;
use pdnet_source::{Diagnostic, File, SourceMap, Span};

use crate::tree::{ExclusiveKind, LtlBlock, Model};
use crate::{Loaded, dump};
use edit::apply;
use facts::{Facts, obstacle};
use plan::Planner;

pub use file::atomize_file;
pub use region::Rule;
pub use report::shown_statement;

/// What to do beside the default.
#[derive(Clone, Debug, Default)]
pub struct AtomizeOptions {
    /// The `ltl` blocks and `never` claims that will be asked of the model, by name; all of them where none is named.
    pub claims: Vec<String>,
    /// Take it that the `never` claims of the model do not count steps.
    pub trust_claims: bool,
    /// Merge local steps also with a following step that waits for others, such as a condition on globals. That is as
    /// right as the rest; it makes fewer states without partial order reduction, and often more with it.
    pub before_waits: bool,
    /// Weak fairness will not be asked for (`pan -f`). It matters only where cycles are looked for.
    pub no_fairness: bool,
}

/// A model with fewer interleavings.
#[derive(Clone, Debug)]
pub struct Atomized {
    /// The new text.
    pub text: String,
    /// The sequences that were merged, in the order of the text.
    pub merged: Vec<Merged>,
    /// Why other statements were not, in the order of the text.
    pub kept: Vec<Kept>,
    /// What was found out about channels.
    pub channels: Vec<ChannelFact>,
    /// Why nothing was done at all, where that is so.
    pub obstacle: Option<String>,
}

/// One `atomic` that was put in.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The proctype.
    pub process: String,
    /// From the first statement to the last.
    pub span: Span,
    /// The statements and their rules, in the order in which they are executed now.
    pub rules: Vec<(Span, Rule)>,
    /// How many local assignments at the front now come behind the statement after them.
    pub exchanged: usize,
}

/// A statement that could not be merged with those before it.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The proctype.
    pub process: String,
    /// The statement.
    pub span: Span,
    /// Why.
    pub reason: String,
}

/// Something that was found out about a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelFact {
    /// Only one process receives from it or sends to it, and that is now said with `xr` or `xs`.
    Exclusive {
        /// The channel.
        channel: String,
        /// The proctype.
        process: String,
        /// Whether it is about receiving.
        receives: bool,
    },
    /// A lock or counter is only ever taken, and given back by who has taken it.
    GivenBack {
        /// The variable.
        variable: String,
    },
    /// There is room for all messages that are ever sent.
    Sufficient {
        /// The channel.
        channel: String,
        /// How many messages are sent at most.
        messages: u64,
        /// How many have room.
        capacity: u32,
    },
}

/// Merges what can be merged.
///
/// `file` has the text of `loaded`. `reload` reads a changed text in the same way as that one was read. `formulas` are
/// asked of the model beside its own.
///
/// # Errors
/// The diagnostics of `reload`, where the text cannot be read although nothing was changed.
pub fn atomize(
    map: &SourceMap,
    file: File,
    loaded: &Loaded,
    formulas: &[&LtlBlock],
    options: &AtomizeOptions,
    reload: &mut dyn FnMut(&str) -> Result<Model, Vec<Diagnostic>>,
) -> Result<Atomized, Vec<Diagnostic>> {
    let model = &asked(&loaded.model, &options.claims);
    let text = map.file(file).text.clone();
    let unchanged = |reason: String| Atomized {
        text: text.clone(),
        merged: Vec::new(),
        kept: Vec::new(),
        channels: Vec::new(),
        obstacle: Some(reason),
    };
    if let Some(reason) = obstacle(model, formulas, &loaded.warnings, options.trust_claims) {
        return Ok(unchanged(reason));
    }
    let facts = Facts::new(model, formulas, options.no_fairness);
    if facts.channels.else_beside_rendezvous {
        return Ok(unchanged("an `else` or `unless` asks whether a rendezvous is possible".to_owned()));
    }
    if dump(&reload(&text)?) != dump(&loaded.model) {
        return Ok(unchanged("the text does not say the same when it is read again".to_owned()));
    }
    let planner = Planner { facts: &facts, file, text: &text, before_waits: options.before_waits };
    let everything = planner.plan(&|_| true);
    let n_changes = everything.n_changes;
    let mut fits = |chosen: &FxHashSet<usize>| {
        let plan = planner.plan(&|change| chosen.contains(&change));
        let model = reload(&apply(&text, &plan.edits)).ok()?;
        let mut expected = plan.model.clone();
        expected.formulas.clone_from(&loaded.model.formulas);
        expected.claims.clone_from(&loaded.model.claims);
        (dump(&model) == dump(&expected)).then_some(plan)
    };
    let all: FxHashSet<usize> = (0..n_changes).collect();
    let plan = match fits(&all) {
        Some(plan) => plan,
        None => {
            // Some place is not what it seems to be, because of a macro: take what can be taken one by one.
            let mut chosen = FxHashSet::default();
            let mut best = planner.plan(&|_| false);
            for change in 0..n_changes {
                chosen.insert(change);
                match fits(&chosen) {
                    Some(plan) => best = plan,
                    None => {
                        chosen.remove(&change);
                    }
                }
            }
            best.refuse_rest(&everything, &chosen);
            best
        }
    };
    let mut channels = plan.promises;
    for (var, messages, capacity) in facts.channels.roomy() {
        let channel = model.vars[var].name.clone();
        channels.push(ChannelFact::Sufficient { channel, messages, capacity });
    }
    channels.extend(facts.tokens.resources.iter().map(|&var| {
        let variable = model.vars[var].name.clone();
        ChannelFact::GivenBack { variable }
    }));
    let merged: Vec<Merged> = plan.merged.into_iter().map(|(_, merged)| merged).collect();
    let kept = once_each(plan.kept, &merged);
    Ok(Atomized { text: apply(&text, &plan.edits), merged, kept, channels, obstacle: None })
}

/// What is to be said of statements that were not merged: once of each, the first reason that was found, and nothing of
/// those that were merged with what stands before them after all, in a shorter sequence.
fn once_each(kept: Vec<Kept>, merged: &[Merged]) -> Vec<Kept> {
    let behind = merged.iter().flat_map(|merged| &merged.rules[1..]);
    let mut seen: FxHashSet<Span> = behind.map(|&(span, _)| span).collect();
    kept.into_iter().filter(|kept| seen.insert(kept.span)).collect()
}

/// The model with only those formulas and claims that are asked for.
fn asked(model: &Model, claims: &[String]) -> Model {
    let mut model = model.clone();
    if !claims.is_empty() {
        model.formulas.retain(|block| claims.contains(&block.name));
        model.claims.retain(|claim| claims.contains(&claim.name));
    }
    model
}

/// The word of a promise.
pub(crate) const fn promise_word(kind: ExclusiveKind) -> &'static str {
    match kind {
        ExclusiveKind::Receive => "xr",
        ExclusiveKind::Send => "xs",
    }
}
