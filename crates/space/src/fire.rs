//! Fires what is bound.

use pdnet_net::Effect;

use crate::Successors;
use crate::code::Operand;
use crate::layout::{Home, place_word, word_place};
use crate::transition::{Consume, Key, Member, Prefix, Produce, Rule, Write};

impl Successors<'_> {
    /// Changes `next` as the firing asks: consume, produce, write, leave the frames that were not put back,
    /// then what the action does beside its arcs.
    pub(crate) fn fire(&mut self, rule: &Rule) -> Result<(), &'static str> {
        let compiled = self.compiled;
        let layout = &compiled.layout;
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "set by expand")]
        let moving = self.registers[0] as usize;
        self.touched.by.add(rule.if_fired);
        self.taken.clear();
        match rule.moves_to {
            Some(place) => {
                let base = self.base;
                self.next.thread_mut(moving)[base] = place_word(place);
            }
            None => self.taken.push((self.registers[0], self.registers[1])),
        }
        for consume in &rule.consumes {
            self.consume(consume)?;
        }
        for produce in &rule.produces {
            self.produce(produce)?;
        }
        let is_written = self.write_natively(rule, moving);
        for write in rule.writes.iter().filter(|_| !is_written) {
            if write.count > 1 {
                self.write_run(write)?;
                continue;
            }
            if !self.holds(write.when) {
                continue;
            }
            let value = self.value(write.value);
            let key = match write.key {
                Key::Own { index } => {
                    let index = self.optional(index).unwrap_or(0);
                    if let (Home::Frame(_), None) = (write.cells.home, write.cells.length) {
                        let at = self.base + write.cells.offset;
                        self.next.thread_mut(moving)[at] = write.cells.value.wrap(value);
                        continue;
                    }
                    (self.registers[0], self.registers[1], index)
                }
                Key::Any { thread, depth, index } => {
                    (self.value(thread), self.optional(depth).unwrap_or(0), self.optional(index).unwrap_or(0))
                }
            };
            self.next.set_cell(layout, &write.cells, key, value)?;
        }
        match rule.effect {
            Effect::None => self.leave_frames(None),
            Effect::Prune => Ok(()),
            Effect::EndThread => {
                self.leave_frames(Some(self.registers[0]))?;
                self.next.clear_frames(layout, moving);
                if let Some((word, bit)) =
                    layout.done.and_then(|done| layout.member((done, 1), 0, self.registers[0]))
                {
                    self.insert(word, bit)?;
                }
                if self.next.live.is_empty() {
                    self.end_process();
                }
                Ok(())
            }
            Effect::EndProcess => {
                self.end_process();
                Ok(())
            }
        }
    }

    /// Writes elements of a global array that follow each other, where they are in it.
    fn write_run(&mut self, write: &Write) -> Result<(), &'static str> {
        let Key::Own { index } = write.key else { return Err("elements of an array that is not global") };
        let index = self.optional(index).unwrap_or(0);
        let (first, count) = (usize::from(write.value.reg), usize::from(write.count));
        for offset in 0..count {
            let key = (0, 0, index.wrapping_add(offset as i64));
            self.next.set_cell(&self.compiled.layout, &write.cells, key, self.registers[first + offset])?;
        }
        Ok(())
    }

    fn consume(&mut self, consume: &Consume) -> Result<(), &'static str> {
        match *consume {
            Consume::Frame { thread, depth } => {
                let token = (self.value(thread), self.value(depth));
                if token == (self.registers[0], self.registers[1]) {
                    return Err("a frame that is its own partner");
                }
                if !self.taken.contains(&token) {
                    self.taken.push(token);
                }
            }
            Consume::Member(member) => {
                if let Some((offset, bit)) = self.member(&member) {
                    let word = self.next.globals[offset] & !bit;
                    self.next.set_global(offset, word);
                }
            }
            Consume::Count { offset } => {
                let n = self.next.globals[offset];
                self.next.set_global(offset, (n - 1).max(0));
            }
            Consume::Drain { from, to } => match from {
                Prefix::Count { offset } => {
                    let n = self.current.globals[offset];
                    let left = (self.next.globals[offset] - n).max(0);
                    self.next.set_global(offset, left);
                    let sum = self.next.globals[to] + n;
                    self.next.set_global(to, sum);
                }
                Prefix::Sets { offset, rows, row, thread } => {
                    let (row, thread) = (self.optional(row), self.optional(thread));
                    for (word, bits) in self.compiled.layout.members((offset, rows), row, thread) {
                        let drained = self.current.globals[word] & bits;
                        let left = self.next.globals[word] & !drained;
                        self.next.set_global(word, left);
                        self.insert(to + (word - offset), drained)?;
                    }
                }
                Prefix::Frames { .. } => return Err("frames that are drained"),
            },
        }
        Ok(())
    }

    fn produce(&mut self, produce: &Produce) -> Result<(), &'static str> {
        let layout = &self.compiled.layout;
        match *produce {
            Produce::Frame { place, thread, depth } => {
                let (thread, depth) = (self.value(thread), self.value(depth));
                let Some(at) = self.taken.iter().position(|&token| token == (thread, depth)) else {
                    return self.next.push_frame(layout, thread, depth, place);
                };
                self.taken.remove(at);
                let (Some(base), Ok(thread)) =
                    (self.next.frame_base(layout, thread, depth), usize::try_from(thread))
                else {
                    return Err("a frame that was not there is put back");
                };
                let words = self.next.thread_mut(thread);
                if layout.owner[word_place(words[base])] != layout.owner[place] {
                    return Err("a frame that moves into another function");
                }
                words[base] = place_word(place);
            }
            Produce::Member(member) => match self.member(&member) {
                Some((offset, bit)) => self.insert(offset, bit)?,
                None => return Err("a token of a thread that cannot exist"),
            },
            Produce::Count { offset } => {
                let n = self.next.globals[offset] + 1;
                self.next.set_global(offset, n);
            }
        }
        Ok(())
    }

    /// The word and the bit of a member of a set; nothing where there is no such row or thread.
    fn member(&mut self, member: &Member<Operand>) -> Option<(usize, i64)> {
        let row = self.optional(member.row).unwrap_or(0);
        let thread = self.value(member.thread);
        self.compiled.layout.member((member.offset, member.rows), row, thread)
    }

    /// Puts threads into a set. A set cannot hold a thread twice.
    fn insert(&mut self, offset: usize, bits: i64) -> Result<(), &'static str> {
        let word = self.next.globals[offset];
        if word & bits != 0 {
            return Err("equal tokens of a thread on one place");
        }
        self.next.set_global(offset, word | bits);
        Ok(())
    }

    /// Removes the frames that were taken and not put back, except those of a thread that ends anyway.
    /// They must be on top of their stacks; several of one thread go from the top down.
    fn leave_frames(&mut self, ending: Option<i64>) -> Result<(), &'static str> {
        let layout = &self.compiled.layout;
        self.taken.retain(|&(thread, _)| Some(thread) != ending);
        while !self.taken.is_empty() {
            let is_top = |&(thread, depth): &(i64, i64)| {
                usize::try_from(thread).is_ok_and(|thread| self.next.n_frames(thread) as i64 == depth + 1)
            };
            let Some(at) = self.taken.iter().position(is_top) else {
                return Err("a frame that is left before those above it");
            };
            let (thread, _) = self.taken.remove(at);
            self.next.pop_frame(layout, usize::try_from(thread).unwrap_or(0));
        }
        Ok(())
    }

    fn end_process(&mut self) {
        let layout = &self.compiled.layout;
        for thread in self.next.live.iter() {
            self.next.clear_frames(layout, thread);
        }
        if let Some(ended) = layout.ended {
            let n = self.next.globals[ended] + 1;
            self.next.set_global(ended, n);
        }
    }
}
