//! Statements of random programs.

use super::{Kind, Place, Writer};

impl Writer<'_> {
    /// The camp that a statement works in.
    fn camp(&mut self, place: &Place) -> usize {
        if self.rng.chance(75) { place.home } else { 1 - place.home }
    }

    /// Something of a camp that can be read and assigned to.
    fn value(&mut self, place: &Place, camp: usize) -> String {
        if place.has_local && camp == place.home && self.rng.chance(15) {
            return "v".to_owned();
        }
        if place.has_pointer && self.rng.chance(15) {
            return "*q".to_owned();
        }
        if self.has.array == Some(camp) && self.rng.chance(25) {
            let index = Self::of_camp(camp)[0];
            return (*self.rng.pick(&["a0[0]", "a0[1]", &format!("a0[{index} & 1]")])).to_owned();
        }
        if self.has.record == Some(camp) && self.rng.chance(25) {
            return (*self.rng.pick(&["s0.f", "s0.k"])).to_owned();
        }
        if self.rng.chance(15) {
            return format!("z{camp}");
        }
        (*self.rng.pick(&Self::of_camp(camp))).to_owned()
    }

    pub(super) fn expr(&mut self, place: &Place, camp: usize) -> String {
        let camp = if self.rng.chance(92) { camp } else { 1 - camp };
        let value = self.value(place, camp);
        match self.rng.below(10) {
            0..3 => self.rng.below(3).to_string(),
            3..5 => value,
            5 => format!("{value} + 1"),
            6 => format!("!{value}"),
            7 => format!("{value} == {}", self.rng.below(2)),
            8 => format!("{value} ^ 1"),
            _ => format!("{value} + {}", self.value(place, camp)),
        }
    }

    fn condition(&mut self, place: &Place, camp: usize) -> String {
        if self.offers(Kind::Input) && self.rng.chance(15) {
            return "__VERIFIER_nondet_bool()".to_owned();
        }
        let value = self.value(place, camp);
        let op = *self.rng.pick(&["==", "==", "!=", "<"]);
        format!("{value} {op} {}", 1 + self.rng.below(2))
    }

    pub(super) fn statement(&mut self, place: &Place) {
        let kind = *self.rng.pick(&self.menu);
        let camp = self.camp(place);
        // Rarely something blocks in an atomic section.
        let may_block = !place.in_atomic || self.rng.chance(5);
        let may_leave = !place.in_atomic && (place.held.is_empty() || self.rng.chance(10));
        let opens = place.nesting > 0;
        match kind {
            Kind::If if opens => self.if_statement(place, camp),
            Kind::For if opens => {
                let counter = self.fresh("i");
                self.line(&format!("for (int {counter} = 0; {counter} < 2; {counter}++) {{"));
                self.block(&Place { in_loop: place.held.is_empty() && !place.in_atomic, ..place.clone() });
                self.line("}");
            }
            Kind::While | Kind::Do | Kind::Spin | Kind::Forever | Kind::Break
                if opens && !place.in_atomic =>
            {
                self.endless(place, kind, camp);
            }
            Kind::Switch if opens => self.switch(place, camp),
            Kind::Jump if may_leave => {
                let label = self.fresh("L");
                let condition = self.condition(place, camp);
                self.guarded(&condition, &format!("goto {label};"));
                self.block(place);
                self.line(&format!("{label}:;"));
                self.out.labels.push((place.function.clone(), label));
            }
            Kind::JumpBack if may_leave => {
                let label = self.fresh("L");
                self.line(&format!("{label}:;"));
                self.block(place);
                let condition = self.condition(place, camp);
                self.guarded(&condition, &format!("goto {label};"));
                self.out.labels.push((place.function.clone(), label));
            }
            Kind::Label => {
                let label = self.fresh("L");
                let value = self.value(place, camp);
                self.line(&format!("{label}: {value} = ({value} + 1) % 3;"));
                self.out.labels.push((place.function.clone(), label));
            }
            Kind::Lock | Kind::TryLock | Kind::Wait | Kind::Signal if may_block => {
                self.locked(place, kind, camp);
            }
            Kind::Down if may_block => self.line("sem_wait(&e0);"),
            Kind::Up => self.line("sem_post(&e0);"),
            Kind::Barrier if may_block && !place.in_loop => self.line("pthread_barrier_wait(&b0);"),
            Kind::Join if may_block && !place.is_main && !place.in_loop => {
                let thread = self.rng.below(self.has.n_threads.max(1));
                // A helper may stand before the handles.
                if self.out.text.contains("pthread_t t0;") {
                    let condition = self.condition(place, camp);
                    self.guarded(&condition, &format!("pthread_join(t{thread}, 0);"));
                }
            }
            Kind::Atomic if !place.in_atomic && place.held.is_empty() => {
                self.line("__VERIFIER_atomic_begin();");
                self.block(&Place { in_atomic: true, in_loop: false, ..place.clone() });
                self.line("__VERIFIER_atomic_end();");
            }
            Kind::Assume => {
                let value = self.value(place, camp);
                self.line(&format!("__VERIFIER_assume({value} != 2);"));
            }
            Kind::Assert => {
                let value = self.value(place, camp);
                let bad = 1 + self.rng.below(3);
                self.line(&format!("__pdnet_assert({value} != {bad});"));
            }
            Kind::Exit => self.exit(place, camp),
            Kind::ThreadExit if may_leave => {
                let condition = self.condition(place, camp);
                self.guarded(&condition, "pthread_exit(0);");
            }
            Kind::Return if may_leave && !place.is_main && place.has_local => {
                let condition = self.condition(place, camp);
                self.guarded(&condition, "return 0;");
            }
            Kind::Call | Kind::FunctionPointer | Kind::Recursion | Kind::Escape
                if place.may_call && may_block =>
            {
                self.call(place, kind, camp);
            }
            Kind::Deref | Kind::Repoint if self.out.has_pointer => self.pointer(place, kind, camp),
            Kind::Once if may_block && place.may_call => self.line("pthread_once(&o0, init);"),
            Kind::Heap => {
                let block = self.fresh("k");
                let (value, target) = (self.expr(place, camp), self.value(place, camp));
                self.line(&format!("int *{block} = malloc(sizeof(int));"));
                self.line(&format!("*{block} = ({value}) % 3;"));
                self.line(&format!("{target} = *{block};"));
                if self.rng.chance(70) {
                    self.line(&format!("free({block});"));
                }
            }
            Kind::Operation if self.rng.chance(50) => {
                self.line(&format!("__sync_fetch_and_xor(&z{camp}, 1);"));
            }
            Kind::Operation if opens => {
                self.line(&format!("if (__sync_bool_compare_and_swap(&z{camp}, 0, 1)) {{"));
                self.block(place);
                self.line("}");
            }
            Kind::Input => {
                let value = self.value(place, camp);
                self.line(&format!("{value} = __VERIFIER_nondet_bool();"));
            }
            Kind::Fault => self.fault(place, camp),
            Kind::Count => {
                let value = self.value(place, camp);
                let n = 2 + self.rng.below(2);
                self.line(&format!("{value} = ({value} + 1) % {n};"));
            }
            // What is not possible here becomes an assignment.
            _ => {
                let target = self.value(place, camp);
                let value = self.expr(place, camp);
                self.line(&format!("{target} = ({value}) % 3;"));
            }
        }
    }

    fn guarded(&mut self, condition: &str, statement: &str) {
        self.line(&format!("if ({condition}) {{"));
        self.line(statement);
        self.line("}");
    }

    fn if_statement(&mut self, place: &Place, camp: usize) {
        let condition = self.condition(place, camp);
        self.line(&format!("if ({condition}) {{"));
        self.block(place);
        if self.rng.chance(35) {
            self.line("} else {");
            self.block(place);
        }
        self.line("}");
    }

    /// Loops that may not end.
    fn endless(&mut self, place: &Place, kind: Kind, camp: usize) {
        let inner = Place { in_loop: place.held.is_empty(), ..place.clone() };
        let condition = self.condition(place, camp);
        match kind {
            Kind::Spin => {
                self.line(&format!("while ({condition}) {{"));
                self.line("}");
            }
            Kind::Forever => {
                self.line("while (1) {");
                if self.rng.chance(60) {
                    self.statements(&Place { nesting: 0, ..inner }, 1);
                }
                self.line("}");
            }
            Kind::Break => {
                self.line("while (1) {");
                self.block(&inner);
                let how = if self.rng.chance(65) { "break;" } else { "continue;" };
                self.guarded(&condition, how);
                if self.rng.chance(40) {
                    self.statements(&Place { nesting: 0, ..inner }, 1);
                }
                self.line("}");
            }
            Kind::Do => {
                self.line("do {");
                self.block(&inner);
                self.line(&format!("}} while ({condition});"));
            }
            _ => {
                self.line(&format!("while ({condition}) {{"));
                self.block(&inner);
                self.line("}");
            }
        }
    }

    fn switch(&mut self, place: &Place, camp: usize) {
        let value = self.value(place, camp);
        self.line(&format!("switch ({value}) {{"));
        for case in 0..1 + self.rng.below(2) {
            self.line(&format!("case {case}:;"));
            self.block(place);
            if self.rng.chance(70) {
                self.line("break;");
            }
        }
        if self.rng.chance(60) {
            self.line("default:;");
            self.block(place);
        }
        self.line("}");
    }

    fn locked(&mut self, place: &Place, kind: Kind, camp: usize) {
        let waits = matches!(kind, Kind::Wait | Kind::Signal);
        let number = if waits { self.has.condition.unwrap_or(camp) } else { camp };
        let mutex = format!("m{number}");
        if place.held.contains(&mutex) && self.rng.chance(95) {
            let value = self.value(place, camp);
            return self.line(&format!("{value} = !{value};"));
        }
        let wake = *self.rng.pick(&["signal", "broadcast"]);
        if kind == Kind::Signal && self.rng.chance(40) {
            return self.line(&format!("pthread_cond_{wake}(&c0);"));
        }
        let mut inner = place.clone();
        inner.held.push(mutex.clone());
        inner.in_loop = false;
        if kind == Kind::TryLock {
            self.line(&format!("if (pthread_mutex_trylock(&{mutex}) == 0) {{"));
        } else {
            self.line(&format!("pthread_mutex_lock(&{mutex});"));
        }
        if kind == Kind::Wait {
            let condition = self.condition(place, camp);
            let word = if self.rng.chance(70) { "while" } else { "if" };
            self.line(&format!("{word} ({condition}) {{"));
            self.line(&format!("pthread_cond_wait(&c0, &{mutex});"));
            self.line("}");
        }
        // The lock may matter by itself.
        if self.rng.chance(85) {
            self.block(&inner);
        }
        if kind == Kind::Signal {
            self.line(&format!("pthread_cond_{wake}(&c0);"));
        }
        match self.rng.below(12) {
            // It is kept.
            0 => {}
            // It is kept now and then.
            1 => {
                let condition = self.condition(place, camp);
                self.guarded(&condition, &format!("pthread_mutex_unlock(&{mutex});"));
            }
            _ => self.line(&format!("pthread_mutex_unlock(&{mutex});")),
        }
        if kind == Kind::TryLock {
            self.line("}");
        }
    }

    fn exit(&mut self, place: &Place, camp: usize) {
        if self.rng.chance(30) && !place.in_loop {
            return self.line("exit(0);");
        }
        let condition = self.condition(place, camp);
        let how = *self.rng.pick(&["exit(0);", "exit(0);", "abort();"]);
        self.guarded(&condition, how);
    }

    fn call(&mut self, place: &Place, kind: Kind, camp: usize) {
        let target = self.value(place, camp);
        let argument = self.expr(place, camp);
        match kind {
            Kind::Recursion => {
                let depth = 1 + self.rng.below(2);
                let call = if self.rng.chance(60) { format!("{target} = ") } else { String::new() };
                self.line(&format!("{call}rec({depth});"));
            }
            Kind::Escape => {
                let choices = if place.has_local { vec!["v", "z0", "z1"] } else { vec!["z0", "z1"] };
                let given = *self.rng.pick(&choices);
                self.line(&format!("give(&{given});"));
            }
            Kind::FunctionPointer => match self.rng.below(3) {
                0 => self.line("fp = other;"),
                _ => self.line(&format!("{target} = fp(({argument}) % 3);")),
            },
            _ => match self.rng.below(4) {
                0 if place.function != "h1" => self.line("h1();"),
                1 => self.line(&format!("h0(({argument}) % 3);")),
                2 => self.line(&format!("{target} = h0(h0(({argument}) % 3));")),
                _ => self.line(&format!("{target} = h0(({argument}) % 3);")),
            },
        }
    }

    fn pointer(&mut self, place: &Place, kind: Kind, camp: usize) {
        let value = self.expr(place, camp);
        if kind == Kind::Repoint {
            let targets = ["z0", "z1", if self.has.array.is_some() { "a0[1]" } else { "z0" }];
            let target = *self.rng.pick(&targets);
            return self.line(&format!("p0 = &{target};"));
        }
        match self.rng.below(4) {
            0 => {
                let target = self.value(place, camp);
                self.line(&format!("{target} = *p0 % 3;"));
            }
            1 => self.guarded("p0 == &z0", &format!("z0 = ({value}) % 3;")),
            _ => self.line(&format!("*p0 = ({value}) % 3;")),
        }
    }

    /// What may be undefined.
    fn fault(&mut self, place: &Place, camp: usize) {
        let value = self.value(place, camp);
        let target = self.value(place, camp);
        match self.rng.below(4) {
            0 if self.has.array.is_some() => self.line(&format!("a0[{value} + 1] = 1;")),
            1 if !self.out.mutexes.is_empty() => self.line(&format!("pthread_mutex_unlock(&m{camp});")),
            2 if self.out.has_pointer => self.guarded(&format!("{value} == 1"), "p0 = 0;"),
            _ => self.line(&format!("{target} = 2 / (1 - {value}) & 1;")),
        }
    }
}
