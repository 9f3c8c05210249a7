//! Steps of two processes: one sends over a channel without a buffer, the other receives at once.
//!
//! There is a transition for each send and each receive that can meet. It is the sender's step: its priorities decide,
//! and in an atomic sequence only its owner can send so. Where the receiver is in an atomic sequence, it goes on
//! alone; else nobody does, also where the sender was in one. All of this is what SPIN's verifier does.

use pdnet_net::legend::{Deed, PartnerWords};
use pdnet_net::{Action, BinaryOp as NetOp, Expr as NetExpr};

use super::Lower;
use super::channels::Class;
use super::graph::NodeKind;
use super::process::Place;
use super::remote::Before;
use super::step::{Step, int_op};
use super::value::Access;
use crate::tree::{Expr, Proc, ReceiveArg, StmtKind};

/// A send or a receive of a control state.
struct Half<'m, A> {
    place: Place,
    channel: &'m Expr,
    args: &'m [A],
}

impl<'m> Lower<'m> {
    /// Adds all steps of two processes.
    pub(super) fn add_rendezvous(&mut self) {
        let mut sends: Vec<Half<'m, Expr>> = Vec::new();
        let mut receives: Vec<Half<'m, ReceiveArg>> = Vec::new();
        for proc in self.model.procs.indices() {
            for place in self.all_moves(proc) {
                let node = self.move_at(place).node;
                let NodeKind::Basic(statement) = self.graphs[proc].shape.nodes[node].kind else { continue };
                match statement {
                    StmtKind::Send { channel, args, .. } if self.may_meet(channel) => {
                        sends.push(Half { place, channel, args });
                    }
                    StmtKind::Receive { channel, args, .. } if self.may_meet(channel) => {
                        receives.push(Half { place, channel, args });
                    }
                    _ => {}
                }
            }
        }
        for send in &sends {
            for receive in &receives {
                self.add_meeting(send, receive);
            }
        }
    }

    fn all_moves(&self, proc: Proc) -> Vec<Place> {
        let graph = &self.graphs[proc];
        let moves = graph.states.iter().flat_map(|&state| {
            (0..graph.moves[state].len()).map(move |number| Place { proc, state, number })
        });
        moves.collect()
    }

    /// Whether an expression can denote a channel without a buffer.
    fn may_meet(&self, channel: &Expr) -> bool {
        let targets = self.channels.targets(self.model, channel);
        targets.channels.iter().any(|&(site, _)| self.channels.sites[site].ty.capacity == 0)
    }

    fn add_meeting(&mut self, send: &Half<'m, Expr>, receive: &Half<'m, ReceiveArg>) {
        let own = self.channels.targets(self.model, send.channel);
        let other = self.channels.targets(self.model, receive.channel);
        if own.channels.is_disjoint(&other.channels) {
            return;
        }
        let (span, id) = self.span_and_id(send.place.proc, self.move_at(send.place).node);
        let (_, other_id) = self.span_and_id(receive.place.proc, self.move_at(receive.place).node);
        let rank = self.rank(send.place);
        let mut found = Vec::new();
        // One transition for each class in which they can meet; nearly always there is but one.
        let mut probe = self.begin(send.place, Action::Assign, "");
        let classes: Vec<_> = probe.accesses(send.channel).iter().map(|access| access.class).collect();
        for class in classes {
            if self.channels.classes[class].ty.capacity > 0 {
                continue;
            }
            let Some(step) = self.meeting(Action::Assign, send, receive, class) else { continue };
            if step.is_impossible() {
                continue;
            }
            found.push(step.finish().rank(rank));
            let failing = self.meeting(Action::AssertFail, send, receive, class);
            found.extend(failing.and_then(Step::finish_mismatch).map(|made| made.rank(rank)));
        }
        for made in found {
            self.push(made, span, (id, Some(other_id)));
        }
    }

    /// The step in which two processes meet on a channel of a class.
    fn meeting(
        &self,
        action: Action,
        send: &Half<'m, Expr>,
        receive: &Half<'m, ReceiveArg>,
        class: Class,
    ) -> Option<Step<'_, 'm>> {
        let (sender, receiver) = (self.move_at(send.place), self.move_at(receive.place));
        let text = |place: Place, node| self.text(self.span_and_id(place.proc, node).0);
        let own_text = text(send.place, sender.node);
        let other_text = text(receive.place, receiver.node);
        let label = format!("{own_text} with {other_text}");
        let from = self.places[receive.place.proc][&receive.place.state];
        let source = self.places[send.place.proc][&send.place.state];
        let mut step = self.begin(send.place, action, &label);
        let partner = step.partner(receive.place.proc, from);
        if from == source {
            step.require(int_op(NetOp::Ne, step.actor.thread.clone(), partner.thread.clone()));
        }
        let in_class = |access: &&Access| access.class == class;
        let accesses = step.accesses(send.channel);
        let own = accesses.iter().find(in_class).cloned()?;
        step.require(own.condition());
        let values: Vec<NetExpr> = send.args.iter().map(|arg| step.value(arg)).collect();
        let values: Vec<NetExpr> = values
            .into_iter()
            .enumerate()
            .map(|(number, value)| step.as_field(&own, number, value))
            .collect();
        let message = step.message(std::slice::from_ref(&own), &values);
        step.deeds.push(Deed::Hand(message));
        step.text = own_text;
        step.partner_words = Some(PartnerWords { thread: partner.thread.clone(), text: other_text });
        for sends in [true, false] {
            step.event(sends, std::slice::from_ref(&own), &values);
        }
        step.forget_dead(sender.node);
        step.show(Before::State(send.place.state), sender.target);
        step.go(sender.target);
        let may_own = self.owners[send.place.proc].contains(&send.place.state);
        step.actor = partner;
        step.provided();
        let accesses = step.accesses(receive.channel);
        let other = accesses.iter().find(in_class).cloned()?;
        step.require(other.condition());
        if own.instance != other.instance {
            step.require(int_op(NetOp::Eq, own.instance.clone(), other.instance.clone()));
        }
        let value_of = |number: usize| values.get(number).cloned().unwrap_or(NetExpr::Const(0));
        for (number, arg) in receive.args.iter().enumerate() {
            if let ReceiveArg::Match(expr) = arg {
                let expected = step.value(expr);
                step.require(int_op(NetOp::Eq, expected, value_of(number)));
            }
        }
        step.store_fields(receive.args, (0..receive.args.len()).map(value_of).collect());
        step.forget_dead(receiver.node);
        let alone = int_op(NetOp::Add, step.actor.thread.clone(), NetExpr::Const(1));
        step.own(receiver.atomic.then_some(alone), may_own);
        step.note_last();
        step.show(Before::State(receive.place.state), receiver.target);
        step.go(receiver.target);
        Some(step)
    }
}
