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
    /// Writes a word, wrapped to the type; nothing where the index is outside of the array.
    Store {
        /// The word.
        to: Element,
        /// What it becomes.
        value: Value,
        /// The type of the word.
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
    /// Registers.
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
    /// Where it is no program: a jump that does not go forward, or an array of more words than there can be.
    pub fn bounds(&self) -> Result<Bounds, NoCode> {
        let mut bounds = Bounds::default();
        for (at, inst) in self.insts.iter().enumerate() {
            for value in inst.operands().into_iter().flatten() {
                bounds.add_value(value);
            }
            match *inst {
                Inst::Unary { dst, .. }
                | Inst::Binary { dst, .. }
                | Inst::Convert { dst, .. }
                | Inst::Copy { dst, .. } => bounds.add_value(Value::Reg(dst)),
                Inst::JumpIfZero { to, .. } | Inst::Jump { to } => {
                    if to as usize <= at || to as usize > self.insts.len() {
                        return Err(NoCode("a jump that does not go forward".to_owned()));
                    }
                }
                Inst::FailIfZero { .. } => {}
                Inst::Load { dst, from } => {
                    bounds.add_value(Value::Reg(dst));
                    bounds.add_words(from)?;
                }
                Inst::Store { to, .. } => {
                    bounds.stores = true;
                    bounds.add_words(to)?;
                }
            }
        }
        bounds.add_value(self.result);
        for &reg in &self.kept {
            bounds.add_value(Value::Reg(reg));
        }
        Ok(bounds)
    }
}

impl Bounds {
    fn add_value(&mut self, value: Value) {
        if let Value::Reg(reg) = value {
            self.registers = self.registers.max(usize::from(reg) + 1);
        }
    }

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
    /// The values that it works on.
    #[must_use]
    pub fn operands(&self) -> [Option<Value>; 2] {
        let index = |element: Element| element.index.map(|(index, _)| index);
        match *self {
            Self::Unary { a, .. }
            | Self::Convert { a, .. }
            | Self::Copy { a, .. }
            | Self::JumpIfZero { a, .. }
            | Self::FailIfZero { a } => [Some(a), None],
            Self::Binary { a, b, .. } => [Some(a), Some(b)],
            Self::Jump { .. } => [None, None],
            Self::Load { from, .. } => [index(from), None],
            Self::Store { to, value, .. } => [index(to), Some(value)],
        }
    }
}
