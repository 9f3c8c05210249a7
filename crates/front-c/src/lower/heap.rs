//! Memory that the program allocates.
//!
//! The blocks of one call of `malloc` in the source are kept together: each thread has a number of slots for
//! them, and a block is named by the call, the thread that allocated it, and its slot, the lowest one that
//! is free. So two threads that allocate in either order come to the same state. A cell for each slot
//! says what is in it: 0 at first, then the size times 8, plus [`ALIVE`] while the block is there, plus [`USED`],
//! plus a bit that tells the block from the one that was there before. Real allocators may give a new block
//! the address of an old one or another address: both are tried, by keeping that bit or changing it.
//! A freed block is all zero, so that equal heaps are equal states.

use pdnet_net::{Action, BinaryOp, Bound, CellData, Expr, Fault, IntType, Place, Scope, TransitionBuilder};
use pdnet_source::Span;

use super::Lowerer;
use super::cells::Target;
use super::flow::{binary, frame_key};
use super::path::{add, scaled};
use super::pointer::{is_in, offset_of, slot_of, thread_of};
use super::points_to::Home;
use super::shape::{Leaf, Shape, size_of};
use super::step::Step;
use super::survey::MANY;
use crate::tree::Expr as TreeExpr;
use crate::types::{IntKind, Type};

/// The bit that tells one block from the one before.
const TURN: i64 = 1;
/// The slot had a block.
const USED: i64 = 2;
/// The slot has a block.
const ALIVE: i64 = 4;
/// What the size is multiplied by.
const UNIT: i64 = 8;
/// The most elements for which there is room because constants of the program say so.
const MAX_ROOM: u64 = 1 << 10;
/// The largest block whose cells can be set back in one step.
const MAX_BLOCK: u64 = 1 << 16;

impl Lowerer<'_> {
    /// The type of the blocks of a site: an array of the elements that the program puts there.
    pub(crate) fn block_type(&self, site: usize) -> Type {
        let data = &self.survey.points_to.sites[site];
        let element = data.element.clone().unwrap_or(Type::Int(IntKind::Char));
        let size = size_of(self.program, &element).unwrap_or(1).max(1);
        let room = || {
            let known = data.most.map_or(0, |bytes| bytes.div_ceil(size));
            known.min(MAX_ROOM).max(u64::from(self.options.max_elements))
        };
        let count = data.size.map_or_else(room, |bytes| bytes.div_ceil(size));
        if count == 1 {
            return element;
        }
        Type::Array(Box::new(element.into()), Some(count.clamp(1, MAX_BLOCK)))
    }

    /// How many blocks of a site a thread can have.
    pub(crate) fn n_slots(&self, site: usize) -> u32 {
        let count = self.survey.n_blocks.get(&site).copied().unwrap_or(MANY);
        let limit = self.options.max_blocks.clamp(1, 127);
        if count >= MANY { limit } else { count.clamp(1, limit) }
    }

    pub(crate) fn block_scope(&self, site: usize) -> Scope {
        let function = self.survey.points_to.sites[site].function;
        if self.survey.only_main.contains(&function) { Scope::Global } else { Scope::Thread }
    }

    /// The cells that say what is in the slots.
    fn slots(&mut self, site: usize) -> Place {
        if let Some(&place) = self.slots.get(&site) {
            return place;
        }
        let cells = CellData {
            scope: self.block_scope(site),
            length: Some(self.n_slots(site)),
            value: IntType::I64,
            default: 0,
            listed: vec![],
        };
        let place = self.net.add_cells(&format!("{} (slots)", self.home_name(Home::Heap(site))), cells);
        self.net.places[place].internal = true;
        if self.survey.shared.contains(&Home::Heap(site)) {
            self.shared_cells.insert(place);
        }
        self.slots.insert(site, place);
        place
    }

    /// The slot that an address is in.
    pub(crate) fn slot_number(address: &Expr) -> Expr {
        Expr::binary(BinaryOp::Shr, IntType::U64, slot_of(address), Expr::Const(1))
    }

    /// What is in the slot that an address is in.
    fn slot_state(&mut self, site: usize, address: &Expr) -> Expr {
        let place = self.slots(site);
        let mut key = match self.block_scope(site) {
            Scope::Thread => vec![thread_of(address)],
            Scope::Global | Scope::Frame(_) => vec![],
        };
        key.push(Self::slot_number(address));
        Expr::Cell(place, key)
    }

    /// Whether the block at an address is there.
    pub(crate) fn is_block(&mut self, site: usize, address: &Expr) -> Expr {
        let state = self.slot_state(site, address);
        if !self.survey.freed.contains(&Home::Heap(site)) {
            return Expr::truth(state);
        }
        let bits = binary(BinaryOp::And, state, Expr::Const(ALIVE | TURN));
        let turn = binary(BinaryOp::And, slot_of(address), Expr::Const(TURN));
        Expr::equal(bits, add(turn, Expr::Const(ALIVE)))
    }

    /// The size of the block at an address.
    pub(crate) fn block_size(&mut self, site: usize, address: &Expr) -> Expr {
        match self.survey.points_to.sites[site].size {
            Some(size) => Expr::Const(i64::try_from(size).unwrap_or(i64::MAX)),
            None => {
                let state = self.slot_state(site, address);
                Expr::binary(BinaryOp::Shr, IntType::U64, state, Expr::Const(3))
            }
        }
    }

    /// Whether an access of some bytes stays in a block of which the size is known only when it runs.
    pub(crate) fn is_inside_block(&mut self, site: usize, address: &Expr, bytes: u64) -> Option<Expr> {
        let as_bytes = self.survey.points_to.as_bytes.contains(&Home::Heap(site));
        if self.survey.points_to.sites[site].size.is_some() && !as_bytes {
            return None;
        }
        let size = self.block_size(site, address);
        let end = add(offset_of(address), Expr::Const(i64::try_from(bytes).unwrap_or(i64::MAX)));
        Some(binary(BinaryOp::Le, end, size))
    }

    /// `malloc` and its relatives: the address of a new block, in a temporary.
    pub(crate) fn allocate(&mut self, called: &str, bytes: Expr, span: Span) -> Option<Expr> {
        let site = self.survey.points_to.site_number(span)?;
        let result = self.fresh_temporary(IntType::U64);
        let address = Expr::Cell(result, frame_key());
        let bytes = if self.is_shared_expr(&bytes) { self.spill(bytes, IntType::U64, span) } else { bytes };
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return Some(address);
        }
        let home = Home::Heap(site);
        let shape = self.shape(home, span)?;
        let place = self.slots(site);
        let owner = (self.block_scope(site) == Scope::Thread).then(TransitionBuilder::thread);
        let key = |slot: Expr| owner.iter().cloned().chain([slot]).collect::<Vec<_>>();
        let n_slots = i64::from(self.n_slots(site));
        let state = |slot: Expr| Expr::Cell(place, key(slot));
        let is_free =
            |slot| Expr::logical_not(binary(BinaryOp::And, state(Expr::Const(slot)), Expr::Const(ALIVE)));
        let slot = (0..n_slots).rev().fold(Expr::Const(n_slots), |otherwise, slot| {
            Expr::cond(is_free(slot), Expr::Const(slot), otherwise)
        });
        let has_room = binary(BinaryOp::Lt, slot.clone(), Expr::Const(n_slots));
        let capacity = Expr::Const(i64::try_from(shape.size).unwrap_or(i64::MAX));
        // The size first: it is read in any case, so that what is known of an input there counts.
        let is_small = Expr::binary(BinaryOp::Le, IntType::U64, bytes.clone(), capacity);
        let fits = Expr::both(is_small, has_room);
        let text = self.text(span);
        let next = self.fresh_place(span);
        let old = state(slot.clone());
        let turn = binary(BinaryOp::And, old.clone(), Expr::Const(TURN));
        let size = Expr::binary(BinaryOp::Mul, IntType::I64, bytes, Expr::Const(UNIT));
        let step = |turn: Expr, label: String| {
            let new = add(add(size.clone(), Expr::Const(ALIVE | USED)), turn.clone());
            let name = add(scaled(slot.clone(), 2), turn);
            let step = Step::new(Action::Library, label, Some(next)).calling(called);
            let step = step.when(fits.clone()).write(place, key(slot.clone()), new);
            step.write(result, frame_key(), self.address_of_block(site, owner.clone(), name))
        };
        let is_freed = self.survey.freed.contains(&home);
        let mut steps = vec![step(if is_freed { turn.clone() } else { Expr::Const(0) }, text.clone())];
        if is_freed {
            let other = binary(BinaryOp::Xor, turn, Expr::Const(TURN));
            let was_used = Expr::truth(binary(BinaryOp::And, old, Expr::Const(USED)));
            steps.push(step(other, format!("{text} (at a new address)")).when(was_used));
        }
        if let Some(counter) = self.live_blocks {
            let one_more = add(Expr::Cell(counter, vec![]), Expr::Const(1));
            steps = steps.into_iter().map(|step| step.write(counter, vec![], one_more.clone())).collect();
        }
        let bound = Step::new(Action::Bound(Bound::Heap), text, None).when(Expr::logical_not(fits));
        steps.push(bound);
        self.emit(span, steps);
        self.frame.current = Some(next);
        Some(address)
    }

    /// `free`.
    pub(crate) fn free(&mut self, called: &str, block: &TreeExpr, span: Span) {
        let homes = self.survey.points_to.value(self.program, block);
        let mut address = self.value(block);
        if self.is_shared_expr(&address) {
            address = self.spill(address, IntType::U64, block.span);
        }
        self.free_address(called, &address, &homes, span);
    }

    fn free_address(&mut self, called: &str, address: &Expr, homes: &super::points_to::Homes, span: Span) {
        if self.frame.current.is_none() {
            return self.frame.checks.clear();
        }
        let is_null = Expr::logical_not(address.clone());
        let mut is_valid = is_null.clone();
        let mut writes: Vec<(Target, Expr)> = Vec::new();
        for &home in homes {
            let Home::Heap(site) = home else { continue };
            let Some(number) = self.survey.points_to.number(home) else { continue };
            let is_object = is_in(address, number);
            let is_start = Expr::equal(offset_of(address), Expr::Const(0));
            let there = self.is_block(site, address);
            is_valid = Expr::either(is_valid, Expr::both(is_object.clone(), Expr::both(is_start, there)));
            let place = self.slots(site);
            let state = self.slot_state(site, address);
            let Expr::Cell(_, key) = state.clone() else { continue };
            let rest = binary(BinaryOp::And, state, Expr::Const(TURN | USED));
            let target = |place, key, stored| Target {
                when: Some(is_object.clone()),
                place,
                key,
                stored,
                slice: None,
            };
            writes.push((target(place, key.clone(), IntType::I64), rest));
            let owner = &key[..key.len() - 1];
            let Some(shape) = self.shape(home, span) else { continue };
            for (position, leaf) in shape.leaves.iter().enumerate() {
                if leaf.count() == 0 {
                    continue;
                }
                let Some(place) = self.leaf_place(home, position, span) else { continue };
                let count = i64::try_from(leaf.count()).unwrap_or(0);
                let first = scaled(Self::slot_number(address), count);
                for place in std::iter::once(place).chain(self.shadow_of(place)) {
                    for index in 0..count {
                        let at = add(first.clone(), Expr::Const(index));
                        let key = owner.iter().cloned().chain([at]).collect();
                        writes.push((target(place, key, leaf.value), Expr::Const(0)));
                    }
                }
            }
        }
        self.add_check(is_valid, Fault::InvalidFree);
        let mut step = Step::new(Action::Library, self.text(span), None).calling(called);
        step.writes = writes;
        if let Some(counter) = self.live_blocks {
            let one_less = add(Expr::Cell(counter, vec![]), Expr::Const(-1));
            let left = Expr::cond(is_null, Expr::Cell(counter, vec![]), one_less);
            step = step.write(counter, vec![], left);
        }
        self.advance(span, step);
    }

    /// `realloc`: a new block, the old contents, and the old block freed.
    pub(crate) fn reallocate(&mut self, block: &TreeExpr, bytes: &TreeExpr, span: Span) -> Option<Expr> {
        let homes = self.survey.points_to.value(self.program, block);
        let mut values = self.arguments(&[block.clone(), bytes.clone()]).into_iter();
        let (old, size) = (values.next()?, values.next()?);
        let old = self.spill(old, IntType::U64, block.span);
        let size = self.spill(size, IntType::U64, bytes.span);
        let site = self.survey.points_to.site_number(span)?;
        let new = self.allocate("realloc", size, span)?;
        let mut step = Step::new(Action::Assign, self.text(span), None);
        let home = Home::Heap(site);
        let shape = self.shape(home, span)?;
        let owner = (self.block_scope(site) == Scope::Thread).then(TransitionBuilder::thread);
        for &from in &homes {
            let (Home::Heap(from_site), Some(number)) = (from, self.survey.points_to.number(from)) else {
                continue;
            };
            let from_shape = self.shape(from, span)?;
            if !have_same_layout(&shape, &from_shape) {
                self.unsupported(span, "`realloc` of a block of another type is");
                return None;
            }
            let when = is_in(&old, number);
            let is_thread = self.block_scope(from_site) == Scope::Thread;
            for (position, (leaf, from_leaf)) in shape.leaves.iter().zip(&from_shape.leaves).enumerate() {
                let (to_place, from_place) =
                    (self.leaf_place(home, position, span)?, self.leaf_place(from, position, span)?);
                let pairs = [
                    (Some(to_place), Some(from_place)),
                    (self.shadow_of(to_place), self.shadow_of(from_place)),
                ];
                let (count, from_count) = (leaf.count(), from_leaf.count());
                for (to_place, from_place) in pairs {
                    let Some(to_place) = to_place else { continue };
                    for index in 0..count.min(from_count) {
                        let index = Expr::Const(i64::try_from(index).ok()?);
                        let at = |address: &Expr, count: u64| {
                            let count = i64::try_from(count).unwrap_or(i64::MAX);
                            add(scaled(Self::slot_number(address), count), index.clone())
                        };
                        let from_key = is_thread.then(|| thread_of(&old));
                        let from_key = from_key.into_iter().chain([at(&old, from_count)]).collect();
                        let key = owner.iter().cloned().chain([at(&new, count)]).collect();
                        let target = Target {
                            when: Some(when.clone()),
                            place: to_place,
                            key,
                            stored: leaf.value,
                            slice: None,
                        };
                        // What has no note of having been written has always been.
                        let value = from_place.map_or(Expr::Const(1), |place| Expr::Cell(place, from_key));
                        step.writes.push((target, value));
                    }
                }
            }
        }
        self.advance(span, step);
        self.free_address("free", &old, &homes, span);
        Some(new)
    }

    /// Blocks that are still there when the process ends.
    pub(crate) fn check_leaks(&mut self) {
        if let Some(counter) = self.live_blocks {
            let is_inner = Expr::truth(TransitionBuilder::depth());
            let is_empty = Expr::logical_not(Expr::Cell(counter, vec![]));
            self.add_check(Expr::either(is_inner, is_empty), Fault::Leak);
        }
    }

    /// Calls of the functions of `stdlib.h` that allocate and free; `None` where the name is not one of these.
    pub(crate) fn heap_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let result = match (name, arguments) {
            ("malloc" | "alloca" | "__builtin_alloca" | "valloc", [bytes]) => {
                let bytes = self.value(bytes);
                self.allocate(name, bytes, span)
            }
            ("aligned_alloc" | "memalign", [alignment, bytes]) => {
                let mut values = self.arguments(&[alignment.clone(), bytes.clone()]);
                self.allocate(name, values.pop()?, span)
            }
            ("calloc", [count, size]) => {
                let mut values = self.arguments(&[count.clone(), size.clone()]);
                let (size, count) = (values.pop()?, values.pop()?);
                let bytes = Expr::binary(BinaryOp::Mul, IntType::U64, count, size);
                self.allocate(name, bytes, span)
            }
            ("realloc", [block, bytes]) => self.reallocate(block, bytes, span),
            ("free" | "cfree", [block]) => {
                self.free(name, block, span);
                Some(Expr::Const(0))
            }
            _ => return None,
        };
        Some(result)
    }
}

/// Whether the blocks of two sites have the same parts at the same places, some more often than others.
fn have_same_layout(one: &Shape, other: &Shape) -> bool {
    let is_same = |(one, other): (&Leaf, &Leaf)| {
        let strides = |leaf: &Leaf| -> Vec<u64> { leaf.dimensions.iter().map(|d| d.stride).collect() };
        // A block of one element is no array.
        let is_single = one.dimensions.len() != other.dimensions.len();
        one.offset == other.offset
            && one.value == other.value
            && (is_single || strides(one) == strides(other))
    };
    one.leaves.len() == other.leaves.len() && one.leaves.iter().zip(&other.leaves).all(is_same)
}
