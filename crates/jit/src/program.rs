//! Programs that can be compiled.

use pdnet_net::{BinaryOp, IntType, UnaryOp};

use crate::NoCode;

/// A register.
pub type Reg = u16;

/// What an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// What a register has.
    Reg(Reg),
    /// A constant.
    Const(i64),
}

/// Words outside of the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// The global ones.
    Globals,
    /// Those of the thread.
    Thread,
    /// Those of the thread from the base of its frame on.
    Frame,
}

/// One of the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Which words.
    pub words: Words,
    /// The first word of the array, or the only one.
    pub first: u32,
    /// The index and the length, where it is an array.
    pub index: Option<(Value, u32)>,
}

/// One instruction. Jumps go forward only, to instructions of the same program or to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inst {
    /// [`UnaryOp::apply`].
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its type.
        ty: IntType,
        /// Where the value goes.
        dst: Reg,
        /// The operand.
        a: Value,
    },
    /// [`BinaryOp::apply`].
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Its type.
        ty: IntType,
        /// Where the value goes.
        dst: Reg,
        /// The left operand.
        a: Value,
        /// The right operand.
        b: Value,
    },
    /// [`IntType::wrap`].
    Convert {
        /// The type to convert to.
        ty: IntType,
        /// Where the value goes.
        dst: Reg,
        /// The operand.
        a: Value,
    },
    /// A value is copied.
    Copy {
        /// Where it goes.
        dst: Reg,
        /// The value.
        a: Value,
    },
    /// Goes on elsewhere where a value is 0.
    JumpIfZero {
        /// The value.
        a: Value,
        /// The number of the instruction to go on with.
        to: u32,
    },
    /// Goes on elsewhere.
    Jump {
        /// The number of the instruction to go on with.
        to: u32,
    },
    /// Ends the program with 0 where a value is 0. No register has changed then.
    FailIfZero {
        /// The value.
        a: Value,
    },
    /// Reads a word: 0 where the index is outside of the array.
    Load {
        /// Where it goes.
        dst: Reg,
        /// The word.
        from: Element,
    },
    /// Reads elements of an array that follow each other into registers that do; those outside of the array are 0.
    LoadRun {
        /// Where the first goes.
        dst: Reg,
        /// How many.
        count: Reg,
        /// The first of them.
        from: Element,
    },
    /// Writes a word, wrapped to the type; nothing where the index is outside of the array.
    Store {
        /// The word.
        to: Element,
        /// What it becomes.
        value: Value,
        /// The type of the word.
        ty: IntType,
    },
    /// Writes elements of an array that follow each other, as far as they are inside of it.
    StoreRun {
        /// The first of them.
        to: Element,
        /// How many.
        count: Reg,
        /// The register of the first value; the others follow it.
        value: Reg,
        /// The type of the words.
        ty: IntType,
    },
}

/// A program: instructions, the value at the end, and what is left in registers for others.
#[derive(Clone, Debug)]
pub struct Program {
    /// The instructions.
    pub insts: Vec<Inst>,
    /// What it returns where it comes to its end.
    pub result: Value,
    /// Registers that have their new values afterwards, where it came to its end. All others are as they were.
    pub kept: Vec<Reg>,
}

/// How many registers and words a program can touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Registers that have a value before or afterwards. Others are none of the caller's business.
    pub registers: usize,
    /// Global words.
    pub globals: usize,
    /// Words of the thread.
    pub thread: usize,
    /// Words of the frame.
    pub frame: usize,
    /// It writes words.
    pub stores: bool,
}

impl Program {
    /// How many registers and words it can touch.
    ///
    /// # Errors
    /// Where it is no program: a jump that does not go forward, a register that cannot be, or an array of more words than there
    /// can be.
    pub fn bounds(&self) -> Result<Bounds, NoCode> {
        let mut bounds = Bounds::default();
        for (at, inst) in self.insts.iter().enumerate() {
            match *inst {
                Inst::Unary { .. }
                | Inst::Binary { .. }
                | Inst::Convert { .. }
                | Inst::Copy { .. }
                | Inst::FailIfZero { .. } => {}
                Inst::JumpIfZero { to, .. } | Inst::Jump { to } => {
                    if to as usize <= at || to as usize > self.insts.len() {
                        return Err(NoCode("a jump that does not go forward".to_owned()));
                    }
                }
                Inst::Load { from, .. } => bounds.add_words(from)?,
                Inst::LoadRun { dst, count, from } => {
                    dst.checked_add(count).ok_or_else(|| NoCode("too many registers".to_owned()))?;
                    bounds.add_words(from)?;
                }
                Inst::Store { to, .. } => {
                    bounds.stores = true;
                    bounds.add_words(to)?;
                }
                Inst::StoreRun { to, count, value, .. } => {
                    value.checked_add(count).ok_or_else(|| NoCode("too many registers".to_owned()))?;
                    bounds.stores = true;
                    bounds.add_words(to)?;
                }
            }
        }
        let seen = self.needed().into_iter().chain(self.kept.iter().copied());
        bounds.registers = seen.map(|reg| usize::from(reg) + 1).max().unwrap_or(0);
        Ok(bounds)
    }

    /// How many registers it has, those included that are its own business.
    #[must_use]
    pub fn n_registers(&self) -> usize {
        let values = self.insts.iter().flat_map(|inst| inst.reads().chain(inst.writes()));
        let result = match self.result {
            Value::Reg(reg) => Some(reg),
            Value::Const(_) => None,
        };
        values
            .chain(self.kept.iter().copied())
            .chain(result)
            .map(|reg| usize::from(reg) + 1)
            .max()
            .unwrap_or(0)
    }

    /// The registers whose values from before may be needed: those that are read, or kept, where not every way has set them.
    #[must_use]
    pub fn needed(&self) -> Vec<Reg> {
        let mut found = Vec::new();
        // What every way to an instruction has set; nothing where no way is known yet.
        let mut set_at: Vec<Option<Vec<Reg>>> = vec![None; self.insts.len() + 1];
        set_at[0] = Some(Vec::new());
        let join = |known: &mut Option<Vec<Reg>>, set: &[Reg]| match known {
            None => *known = Some(set.to_vec()),
            Some(known) => known.retain(|reg| set.contains(reg)),
        };
        let need = |reg: Reg, set: &[Reg], found: &mut Vec<Reg>| {
            if !set.contains(&reg) && !found.contains(&reg) {
                found.push(reg);
            }
        };
        for (at, inst) in self.insts.iter().enumerate() {
            let Some(mut set) = set_at[at].take() else { continue };
            inst.reads().for_each(|reg| need(reg, &set, &mut found));
            set.extend(inst.writes());
            if let Inst::JumpIfZero { to, .. } | Inst::Jump { to } = *inst {
                join(&mut set_at[to as usize], &set);
            }
            if !matches!(inst, Inst::Jump { .. }) {
                join(&mut set_at[at + 1], &set);
            }
        }
        let set = set_at[self.insts.len()].take().unwrap_or_default();
        self.kept.iter().for_each(|&reg| need(reg, &set, &mut found));
        if let Value::Reg(reg) = self.result {
            need(reg, &set, &mut found);
        }
        found
    }
}

impl Bounds {
    fn add_words(&mut self, element: Element) -> Result<(), NoCode> {
        let length = element.index.map_or(1, |(_, length)| length);
        // Offsets of bytes have 31 bits.
        let end = element.first.checked_add(length).filter(|&end| end < 1 << 28);
        let Some(end) = end else { return Err(NoCode("too many words".to_owned())) };
        let bound = match element.words {
            Words::Globals => &mut self.globals,
            Words::Thread => &mut self.thread,
            Words::Frame => &mut self.frame,
        };
        *bound = (*bound).max(end as usize);
        Ok(())
    }
}

impl Inst {
    /// The registers that it reads.
    fn reads(&self) -> impl Iterator<Item = Reg> + use<> {
        let index = |element: Element| element.index.map(|(index, _)| index);
        let (values, run) = match *self {
            Self::Unary { a, .. }
            | Self::Convert { a, .. }
            | Self::Copy { a, .. }
            | Self::JumpIfZero { a, .. }
            | Self::FailIfZero { a } => ([Some(a), None], 0..0),
            Self::Binary { a, b, .. } => ([Some(a), Some(b)], 0..0),
            Self::Jump { .. } => ([None, None], 0..0),
            Self::Load { from, .. } | Self::LoadRun { from, .. } => ([index(from), None], 0..0),
            Self::Store { to, value, .. } => ([index(to), Some(value)], 0..0),
            Self::StoreRun { to, count, value, .. } => {
                ([index(to), None], value..value.saturating_add(count))
            }
        };
        let single = values.into_iter().flatten().filter_map(|value| match value {
            Value::Reg(reg) => Some(reg),
            Value::Const(_) => None,
        });
        single.chain(run)
    }

    /// The registers that it writes.
    fn writes(&self) -> impl Iterator<Item = Reg> + use<> {
        match *self {
            Self::Unary { dst, .. }
            | Self::Binary { dst, .. }
            | Self::Convert { dst, .. }
            | Self::Copy { dst, .. }
            | Self::Load { dst, .. } => dst..dst.saturating_add(1),
            Self::LoadRun { dst, count, .. } => dst..dst.saturating_add(count),
            Self::JumpIfZero { .. }
            | Self::Jump { .. }
            | Self::FailIfZero { .. }
            | Self::Store { .. }
            | Self::StoreRun { .. } => 0..0,
        }
    }
}
