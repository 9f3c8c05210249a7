//! Condition variables.
//!
//! Giving up the mutex and starting to wait are one step; waking is the signaller's; taking the mutex again is
//! another.

use pdnet_net::{Action, ArcData, Base, Expr, Fault, IntType, Pattern, Place, TransitionBuilder};
use pdnet_source::Span;

use super::Lowerer;
use super::cancel::CancelPoint;
use super::cells::{Condition, Object};
use super::flow::frame_key;
use super::mutex::State;
use super::path::Root;
use super::points_to::Home;
use super::pthread::{EPERM, ETIMEDOUT, result_code};
use super::step::Step;
use crate::tree::Expr as TreeExpr;
use crate::types::{SyncKind, Type};

/// A thread that waits on a condition variable.
struct Waiting {
    /// Where it stands.
    at: Place,
    /// Ends its waiting without a signal.
    waits: ArcData,
    /// Finds it woken.
    woken: ArcData,
}

/// A condition variable or barrier that may be meant.
pub(crate) struct WaitingPlace {
    /// It is meant only where this is true.
    pub(crate) when: Option<Expr>,
    pub(crate) condition: Condition,
    /// Which of several.
    pub(crate) row: Vec<Expr>,
}

/// A call that waits.
#[derive(Clone, Copy)]
struct Wait<'a> {
    called: &'a str,
    /// The thread may also wake because its time is over, whenever that is.
    timed: bool,
    span: Span,
}

impl Lowerer<'_> {
    /// A call of a function for condition variables; `None` where the name is not one of these.
    pub(crate) fn condition_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let wait = |timed| Wait { called: name, timed, span };
        match (name, arguments) {
            ("pthread_cond_wait" | "cnd_wait", [condition, mutex]) => {
                return Some(self.wait(wait(false), condition, mutex));
            }
            ("pthread_cond_timedwait" | "cnd_timedwait", [condition, mutex, time])
            | ("pthread_cond_clockwait", [condition, mutex, _, time]) => {
                self.discard(time);
                return Some(self.wait(wait(true), condition, mutex));
            }
            ("pthread_cond_signal" | "cnd_signal", [condition]) => self.signal(name, condition, span),
            ("pthread_cond_broadcast" | "cnd_broadcast", [condition]) => {
                self.broadcast(name, condition, span);
            }
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    /// The condition variables or barriers that an argument can point to.
    pub(crate) fn waiting_places(
        &mut self,
        argument: &TreeExpr,
        kind: SyncKind,
    ) -> Option<Vec<WaitingPlace>> {
        let ty = Type::Sync(kind);
        let path = self.behind_path(argument, &ty);
        let mut path = self.never_silent(path, argument.span)?;
        self.fix_path(&mut path, true, argument.span);
        let homes = match &path.root {
            Root::Named(home) => {
                let home = *home;
                let found = self.named_leaf(home, &path, argument.span)?;
                return Some(vec![self.waiting_place(None, home, found.0, &found.1, argument.span)?]);
            }
            Root::Pointer(_, homes) => homes.clone(),
        };
        let address = self.path_address(&path);
        let targets = self.sync_targets(&address, &homes, &ty, argument.span);
        self.add_check(Expr::truth(address), Fault::NullPointer);
        let valid = targets.iter().map(|(when, ..)| when.clone()).fold(Expr::Const(0), Expr::either);
        self.add_check(valid, Fault::InvalidPointer);
        let mut found = Vec::new();
        for (when, home, leaf, key) in targets {
            found.push(self.waiting_place(Some(when), home, leaf, &key, argument.span)?);
        }
        Some(found)
    }

    fn waiting_place(
        &mut self,
        when: Option<Expr>,
        home: Home,
        leaf: usize,
        key: &[Expr],
        span: Span,
    ) -> Option<WaitingPlace> {
        let condition = self.condition_of(home, leaf, span)?;
        let shape = self.shape(home, span)?;
        let row = self.condition_row(home, &shape.leaves[leaf], key);
        Some(WaitingPlace { when, condition, row: row.into_iter().collect() })
    }

    /// Waits for a signal. A result that can be another one than 0 is in a temporary.
    fn wait(&mut self, wait: Wait<'_>, condition: &TreeExpr, mutex: &TreeExpr) -> Option<Expr> {
        let Wait { called, timed, span } = wait;
        let places = self.waiting_places(condition, SyncKind::Condition)?;
        let (mutex, state) = self.mutex(mutex)?;
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return Some(Expr::Const(0));
        }
        let result = (timed || state.has_kinds()).then(|| self.fresh_temporary(IntType::I32));
        let giving = |step: Step, code| match result {
            Some(result) => step.write(result, frame_key(), Expr::Const(result_code(called, code))),
            None => step,
        };
        let text = self.text(span);
        let next = self.fresh_place(span);
        self.add_check(Expr::either(state.is_mine(), state.tells_strangers()), Fault::NotOwner);
        let mut others = Vec::new();
        if state.has_kinds() {
            let step = Step::new(Action::Library, format!("{text} (the mutex is not held)"), Some(next));
            let step = step.calling(called).when(Expr::logical_not(state.is_mine()));
            others.push(giving(step, EPERM));
        }
        let point = self.cancel_point(span);
        let waiting = self.begin_wait(wait, places, (&mutex, &state), others, point.as_ref());
        for Waiting { at, waits, woken } in waiting {
            let again = |label: &str, code| {
                let step = Step::new(Action::Wait3, format!("{text} ({label})"), Some(next));
                let step = step.when(state.is_open()).write_object(&mutex, &state.locked());
                giving(step, code)
            };
            let mut steps = vec![again("goes on", 0).arc(woken)];
            if timed {
                let late = self.fresh_place(span);
                let over = Step::new(Action::Wait2, format!("{text} (its time is over)"), Some(late));
                steps.push(over.arc(waits.clone()));
                self.emit_from(late, span, again("goes on late", ETIMEDOUT));
            }
            if let Some(CancelPoint { is_cancelled, step: cancelled, place, .. }) = &point {
                // A cancelled thread takes the mutex again, too.
                let back = self.fresh_place(span);
                let leave = Step::new(Action::Wait2, format!("{text} (cancelled)"), Some(back)).arc(waits);
                steps.push(leave.when(is_cancelled.clone()));
                let mut again = again("cancelled", 0);
                again.to = Some(*place);
                again.writes.extend(cancelled.writes.iter().cloned());
                self.emit_from(back, span, again);
            }
            self.frame.current = Some(at);
            self.emit(span, steps);
        }
        self.frame.current = Some(next);
        if let Some(CancelPoint { place, .. }) = point {
            self.end_cancelled(place, span);
        }
        Some(result.map_or(Expr::Const(0), |result| Expr::Cell(result, frame_key())))
    }

    /// The steps that begin to wait: one for each condition variable that can be meant.
    fn begin_wait(
        &mut self,
        wait: Wait<'_>,
        places: Vec<WaitingPlace>,
        (mutex, state): (&Object, &State),
        others: Vec<Step>,
        point: Option<&CancelPoint>,
    ) -> Vec<Waiting> {
        let Wait { called, span, .. } = wait;
        let text = self.text(span);
        let mut steps: Vec<Step> = others;
        let mut waiting = Vec::new();
        for WaitingPlace { when, condition, row } in places {
            let token: Vec<Expr> = row.into_iter().chain([TransitionBuilder::thread()]).collect();
            let pattern: Vec<Pattern> = token.iter().cloned().map(Pattern::Is).collect();
            let at = self.fresh_place(span);
            let mut begin = Step::new(Action::Wait1, text.clone(), Some(at)).calling(called);
            if state.has_kinds() {
                begin = begin.when(state.is_mine());
            }
            begin = begin.arc(ArcData::Put { place: condition.waiters, token: token.clone() });
            begin = begin.write_object(mutex, &state.given_up());
            steps.push(when.into_iter().fold(begin, Step::when));
            let waits = ArcData::Take { place: condition.waiters, token: pattern.clone() };
            let woken = ArcData::Take { place: condition.woken, token: pattern };
            waiting.push((Waiting { at, waits, woken }, condition, token));
        }
        if let Some(CancelPoint { goes_on, step, .. }) = point {
            steps = steps.into_iter().map(|step| step.when(goes_on.clone())).collect();
            steps.push(step.clone());
        }
        self.emit(span, steps);
        if self.options.spurious_wakeups {
            for (Waiting { at, waits, .. }, condition, token) in &waiting {
                let wake = Step::new(Action::Wait2, format!("{text} (wakes without a signal)"), None);
                let wake = wake.arc(waits.clone());
                let wake = wake.arc(ArcData::Put { place: condition.woken, token: token.clone() });
                self.emit_from(*at, span, wake.arc(Self::put_frame(*at)));
            }
        }
        waiting.into_iter().map(|(waiting, ..)| waiting).collect()
    }

    fn signal(&mut self, called: &str, condition: &TreeExpr, span: Span) {
        let Some(places) = self.waiting_places(condition, SyncKind::Condition) else { return };
        if self.frame.current.is_none() {
            return self.frame.checks.clear();
        }
        let to = self.fresh_place(span);
        let text = self.text(span);
        let mut steps = Vec::new();
        for WaitingPlace { when, condition, row } in places {
            let mut wake = Step::new(Action::Signal, text.clone(), Some(to)).calling(called);
            let waiter = wake.binder("u", Base::Thread, None);
            let mut pattern: Vec<Pattern> = row.iter().cloned().map(Pattern::Is).collect();
            pattern.push(Pattern::Bind(waiter));
            let token = row.iter().cloned().chain([Expr::Var(waiter)]).collect();
            wake = wake.arc(ArcData::Take { place: condition.waiters, token: pattern });
            wake = wake.arc(ArcData::Put { place: condition.woken, token });
            let nobody = Step::new(Action::Signal, format!("{text} (nobody waits)"), Some(to));
            let nobody = nobody.calling(called);
            let nobody = nobody.arc(ArcData::Inhibit { place: condition.waiters, prefix: row });
            let when: Vec<Expr> = when.into_iter().collect();
            steps.extend([wake, nobody].map(|step| when.iter().cloned().fold(step, Step::when)));
        }
        self.emit(span, steps);
        self.frame.current = Some(to);
    }

    fn broadcast(&mut self, called: &str, condition: &TreeExpr, span: Span) {
        let Some(places) = self.waiting_places(condition, SyncKind::Condition) else { return };
        if self.frame.current.is_none() {
            return self.frame.checks.clear();
        }
        let to = self.fresh_place(span);
        let text = self.text(span);
        let mut steps = Vec::new();
        for WaitingPlace { when, condition: Condition { waiters, woken }, row } in places {
            let step = Step::new(Action::Broadcast, text.clone(), Some(to)).calling(called);
            let step = step.arc(ArcData::Drain { place: waiters, prefix: row, to: woken });
            steps.push(when.into_iter().fold(step, Step::when));
        }
        self.emit(span, steps);
        self.frame.current = Some(to);
    }
}
