//! What a compiled transition can look at or change, whatever the state is.

use std::ops::Range;

use pdnet_net::{Effect, Place};

use crate::code::{Code, Operand, Reg};
use crate::layout::{Cells, Home, Layout};
use crate::transition::{Binding, Consume, Key, Member, Part, Prefix, Produce, Rule};

/// What binding a transition, or firing it, can look at or change, beside the words of the thread that moves and of threads that
/// were found where they were looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// Global words.
    pub(crate) words: Vec<Range<usize>>,
    /// Places on which any thread is looked for. Of threads that do not stand there, nothing else matters.
    pub(crate) places: Vec<Place>,
    /// Other threads, or which of them live.
    pub(crate) others: bool,
    /// The variables that are bound to threads which stand on these places.
    partners: Vec<Reg>,
}

impl Touched {
    /// Of binding a rule.
    pub(crate) fn by_binding(layout: &Layout, code: &Code, rule: &Rule) -> Self {
        let mut touched = Self { partners: partners(rule), ..Self::default() };
        for binding in &rule.bindings {
            touched.add_binding(layout, code, binding);
        }
        touched
    }

    /// Of firing a rule that is bound.
    pub(crate) fn by_firing(layout: &Layout, code: &Code, rule: &Rule) -> Self {
        let mut touched = Self { partners: partners(rule), ..Self::default() };
        for consume in &rule.consumes {
            match *consume {
                Consume::Frame { thread, .. } => touched.add_thread(thread),
                Consume::Member(Member { offset, rows, row, .. }) => {
                    touched.add_rows(layout, code, offset, rows, row);
                }
                Consume::Count { offset } => touched.words.push(offset..offset + 1),
                Consume::Drain { from, to } => {
                    touched.add_prefix(layout, code, &from);
                    match from {
                        Prefix::Count { .. } => touched.words.push(to..to + 1),
                        Prefix::Sets { rows, row, .. } => touched.add_rows(layout, code, to, rows, row),
                        Prefix::Frames { .. } => {}
                    }
                }
            }
        }
        for produce in &rule.produces {
            match *produce {
                Produce::Frame { thread, .. } => touched.add_thread(thread),
                Produce::Member(Member { offset, rows, row, .. }) => {
                    touched.add_rows(layout, code, offset, rows, row);
                }
                Produce::Count { offset } => touched.words.push(offset..offset + 1),
            }
        }
        for write in &rule.writes {
            touched.add_cells(code, &write.cells, &write.key, usize::from(write.count));
        }
        touched.others |= match rule.effect {
            Effect::None | Effect::Prune => false,
            // The process ends with its last thread.
            Effect::EndThread | Effect::EndProcess => true,
        };
        touched
    }

    fn add_binding(&mut self, layout: &Layout, code: &Code, binding: &Binding) {
        match binding {
            Binding::Choose { .. } | Binding::Compute { .. } | Binding::Holds { .. } => {}
            Binding::Frame { place, thread, .. } => match thread {
                Part::Bind(_) => self.places.push(*place),
                Part::Is(thread) => self.add_thread(*thread),
            },
            Binding::Member(Member { offset, rows, row, .. }) => {
                let row = row.and_then(|row| match row {
                    Part::Bind(_) => None,
                    Part::Is(row) => Some(row),
                });
                self.add_rows(layout, code, *offset, *rows, row);
            }
            Binding::Count { offset } => self.words.push(*offset..*offset + 1),
            Binding::Absent(prefix) => self.add_prefix(layout, code, prefix),
            Binding::Read { cells, key, .. } => self.add_cells(code, cells, key, 1),
            Binding::ReadRun { cells, index, count, .. } => {
                self.add_cells(code, cells, &Key::Own { index: Some(*index) }, usize::from(*count));
            }
        }
    }

    fn add_prefix(&mut self, layout: &Layout, code: &Code, prefix: &Prefix) {
        match *prefix {
            Prefix::Count { offset } => self.words.push(offset..offset + 1),
            Prefix::Sets { offset, rows, row, .. } => self.add_rows(layout, code, offset, rows, row),
            Prefix::Frames { place, thread, .. } => match thread {
                None => self.places.push(place),
                Some(thread) => self.add_thread(thread),
            },
        }
    }

    /// A thread.
    fn add_thread(&mut self, thread: Operand) {
        self.others |= !Code::is_own_thread(thread) && !Code::is_one_of(thread, &self.partners);
    }

    /// A row of sets, or any where it is not known.
    fn add_rows(&mut self, layout: &Layout, code: &Code, offset: usize, rows: u32, row: Option<Operand>) {
        let n_words = layout.set_words();
        let row = row.and_then(|row| code.constant_value(row)).and_then(|row| usize::try_from(row).ok());
        match row {
            Some(row) if row < rows as usize => {
                self.words.push(offset + row * n_words..offset + (row + 1) * n_words);
            }
            Some(_) | None => self.words.push(offset..offset + rows as usize * n_words),
        }
    }

    /// So many elements from that of the key on; all of them where it is not known which.
    fn add_cells(&mut self, code: &Code, cells: &Cells, key: &Key, count: usize) {
        let index = match *key {
            Key::Own { index } => index,
            Key::Any { thread, index, .. } => {
                self.add_thread(thread);
                index
            }
        };
        if cells.home != Home::Global {
            return;
        }
        let length = cells.length.unwrap_or(1) as usize;
        let first =
            index.and_then(|index| code.constant_value(index)).and_then(|at| usize::try_from(at).ok());
        match first {
            Some(first) if first < length => {
                let end = (first + count).min(length);
                self.words.push(cells.offset + first..cells.offset + end);
            }
            Some(_) | None => self.words.push(cells.offset..cells.offset + length),
        }
    }
}

/// The variables that are bound to threads which are looked for.
fn partners(rule: &Rule) -> Vec<Reg> {
    let partners = rule.bindings.iter().filter_map(|binding| match binding {
        Binding::Frame { thread: Part::Bind(var), .. } => Some(*var),
        Binding::Frame { thread: Part::Is(_), .. }
        | Binding::Choose { .. }
        | Binding::Member(_)
        | Binding::Count { .. }
        | Binding::Absent(_)
        | Binding::Read { .. }
        | Binding::ReadRun { .. }
        | Binding::Compute { .. }
        | Binding::Holds { .. } => None,
    });
    partners.collect()
}
