//! What of the values that a search observes it still has to see, by the state of its automaton.

use pdnet_base::IndexVec;
use pdnet_check::AtomData;
use pdnet_logic::{AutState, Automaton};
use pdnet_net::Expr;

use crate::graph::Graph;

/// So many sights beside the whole one a graph has at most. Automata rarely have more than two, and each has edges of its own.
pub(crate) const MOST: usize = 7;

/// The number of what a search sees of the values that it observes: steps that change nothing of that may go before others
/// ([`pdnet_space::Stubborn`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sight(u8);

impl Sight {
    /// All of them.
    pub(crate) const WHOLE: Self = Self(0);

    /// The narrow one of that number.
    #[expect(clippy::cast_possible_truncation, reason = "there are few")]
    pub(crate) const fn narrow(number: usize) -> Self {
        Self(number as u8 + 1)
    }

    /// The number of a narrow one.
    #[inline]
    pub(crate) const fn number(self) -> Option<usize> {
        match self.0 {
            0 => None,
            above => Some(above as usize - 1),
        }
    }
}

/// What a search of a product has to see at each state of the automaton: what the automaton can still look at from there on.
///
/// A node (s, q) of the product has the steps of s that are enough for who sees V(q), where V(q) has at least the atoms A(q) that edges ask for
/// which the automaton can take from q on. So after `a` in `F(a && G !b)`, steps that change `a` are steps like others.
///
/// What is asked of V:
///
/// 1. it is the same for all states of a component of the automaton;
/// 2. where it changes along an edge p → q of the automaton, what q accepts is stutter-invariant ([`Automaton::stutter_invariant_states`]).
///    That need not be so for every state of a nondeterministic automaton, even where the whole accepts what is.
///
/// Automata are those of formulas without `X`, or are said to be stutter-invariant. A formula that does not look at states inside of
/// atomic sections ([`pdnet_logic::Ltl::ignores`]) is invariant in another sense: words count as equal whose other states are equal but for
/// repetitions. For these, 2 is known of deterministic automata only.
///
/// Source: Jensen, Srba, Ulrik, Virenfeldt, *Automata-driven partial order reduction and guided search for LTL model checking* (VMCAI 2022), has the idea of
/// asking the state of the automaton, and goes further: there, steps are put off that only matter to edges that cannot be taken yet.
///
/// # Why nothing is lost
///
/// Let G(V) be the graph of the steps that are enough for who sees V. By the proof at [`pdnet_space::Stubborn`], for every infinite run σ from *any*
/// state s, G(V) has a run from s with the same word, repetitions aside, as far as V goes. That a state is later is said
/// by the marks of states, whatever the sight is: in G(V), too, a state of which steps are left out has edges only to states with larger marks, and marks do not
/// change. So no cycle of G(V) puts off a step forever, also where its states were found with another sight.
///
/// *Claim:* if the word of a run from s is accepted from q, where q is the initial state or one at which V changes,
/// then the product has an accepting run from (s, q). By induction over the components of the automaton, the last ones first: let V = V(q). G(V) has
/// a run σ from s with that word, up to repetitions and what is outside of V. What q accepts does not depend on what is outside, as A(q) ⊆ V, nor on
/// repetitions, by 2; so q accepts the word of σ. Take an accepting run of the automaton over it. If V stays the same on it, it is, with σ, a run of the
/// product. If not, let q' be the first of its states where V is another one, and s' the state of σ there. The product has the
/// way from (s, q) to (s', q'). The rest of σ is a run of the whole graph, and its word is accepted from q', which is in a later component, by 1. By induction there is an accepting run from (s', q').
/// The same is so of finite runs up to a step that has to be noted, and words over which the automaton has a run: every state of it accepts something,
/// so that these are the beginnings of accepted words.
///
/// *A run that is found is a violation:* steps that are not shown change nothing within V. So, from the last change of V backwards, the word of
/// the run as it is differs from the one that the automaton has read only in repetitions and in what is outside of V, and is accepted where that is.
///
/// Steps that are enough for who sees more are enough for who sees less, with the same marks. So where the edges of a state are known for
/// the whole sight, and steps were left out there, they are taken for others as they are; and which of the two it is, is decided once for each state and sight.
#[derive(Clone, Debug)]
pub(crate) struct Sights(IndexVec<AutState, Sight>);

impl Sights {
    /// The sights for an automaton over these atoms, those that are unseen in all states aside ([`crate::stepper::seen_atoms`]).
    pub(crate) fn new(
        graph: &mut Graph<'_>,
        automaton: &Automaton,
        atoms: &[AtomData],
        is_unseen: impl Fn(usize) -> bool,
    ) -> Self {
        let whole = Self(IndexVec::filled(Sight::WHOLE, automaton.states.len()));
        let has_unseen = (0..atoms.len()).any(&is_unseen);
        let Some(views) = graph.is_guided().then(|| views(automaton, has_unseen)).flatten() else {
            return whole;
        };
        let mut known: Vec<(u64, Sight)> = vec![(views[automaton.initial], Sight::WHOLE)];
        let mut sight_of = |view: u64| {
            let found = known.iter().find(|(other, _)| *other == view).map(|(_, sight)| *sight);
            found.unwrap_or_else(|| {
                let is_seen = |number: usize| number < 64 && view >> number & 1 == 1 && !is_unseen(number);
                let seen = atoms.iter().enumerate().filter(|(number, _)| is_seen(*number));
                let seen: Vec<&Expr> = seen.map(|(_, atom)| &atom.expr).collect();
                let sight = graph.sight(&seen);
                known.push((view, sight));
                sight
            })
        };
        Self(views.iter().map(|&view| sight_of(view)).collect())
    }

    #[inline]
    pub(crate) fn of(&self, at: AutState) -> Sight {
        self.0[at]
    }
}

/// For each state of the automaton the atoms that are seen there, as bits; nothing where these are the same for all.
fn views(automaton: &Automaton, has_unseen: bool) -> Option<IndexVec<AutState, u64>> {
    let mut views = automaton.atoms_ahead();
    if views.iter().all(|view| *view == views[automaton.initial]) {
        return None;
    }
    let is_invariant = if has_unseen {
        IndexVec::filled(automaton.is_deterministic(), automaton.states.len())
    } else {
        automaton.stutter_invariant_states(true)
    };
    loop {
        let mut is_changed = false;
        for (state, data) in automaton.states.iter_enumerated() {
            for edge in &data.edges {
                let (before, after) = (views[state], views[edge.target]);
                views[state] |= after;
                if !is_invariant[edge.target] {
                    views[edge.target] |= views[state];
                }
                is_changed |= (views[state], views[edge.target]) != (before, after);
            }
        }
        if !is_changed {
            return Some(views);
        }
    }
}
