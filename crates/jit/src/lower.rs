//! A program as a function of Cranelift.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, Function, InstBuilder as _, MemFlagsData, Signature, Value as Ssa, types,
};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use pdnet_net::{BinaryOp, IntType, UnaryOp};

use crate::NoCode;
use crate::program::{Element, Inst, Program, Reg, Value, Words};

/// The size of a word.
const BYTES: i32 = 8;

/// The function takes four addresses, of the registers, of the global words, of the thread's words and of its frame, and
/// returns a word.
pub(crate) fn signature() -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params = vec![AbiParam::new(types::I64); 4];
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// Fills the function.
pub(crate) fn lower(
    program: &Program,
    function: &mut Function,
    config: TargetFrontendConfig,
    context: &mut FunctionBuilderContext,
) -> Result<(), NoCode> {
    let mut builder = FunctionBuilder::new(function, context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let addresses = <[Ssa; 4]>::try_from(builder.block_params(entry))
        .map_err(|_| NoCode("a function without its parameters".to_owned()))?;
    let variables = (0..program.n_registers()).map(|_| builder.declare_var(types::I64)).collect();
    let mut lowering = Lowering { builder, addresses, variables };
    lowering.lower(program)?;
    let Lowering { mut builder, .. } = lowering;
    builder.seal_all_blocks();
    builder.finalize(config);
    Ok(())
}

/// Where a word is: the address of the words, where the array begins there, and the index and the length.
#[derive(Clone, Copy)]
struct Place {
    address: Ssa,
    offset: i32,
    index: Option<(At, u32)>,
}

/// An index.
#[derive(Clone, Copy)]
enum At {
    Const(i64),
    Value(Ssa),
}

/// Where the code for elements that follow each other goes on.
struct Run {
    address: Ssa,
    outside: Block,
    next: Block,
}

struct Lowering<'a> {
    builder: FunctionBuilder<'a>,
    addresses: [Ssa; 4],
    variables: Vec<Variable>,
}

impl Lowering<'_> {
    fn lower(&mut self, program: &Program) -> Result<(), NoCode> {
        for reg in program.needed() {
            let value =
                self.builder.ins().load(types::I64, flags(), self.addresses[0], BYTES * i32::from(reg));
            self.set(reg, value);
        }
        let blocks = self.blocks(program);
        for (inst, block) in program.insts.iter().zip(&blocks) {
            self.enter(*block);
            self.lower_inst(inst, &blocks)?;
        }
        self.enter(blocks[program.insts.len()]);
        for &reg in &program.kept {
            let value = self.value(Value::Reg(reg));
            self.builder.ins().store(flags(), value, self.addresses[0], BYTES * i32::from(reg));
        }
        let result = self.value(program.result);
        self.builder.ins().return_(&[result]);
        Ok(())
    }

    /// The blocks that begin with an instruction to which a jump goes, one more for the end.
    fn blocks(&mut self, program: &Program) -> Vec<Option<Block>> {
        let mut blocks = vec![None; program.insts.len() + 1];
        for inst in &program.insts {
            if let Inst::JumpIfZero { to, .. } | Inst::Jump { to } = *inst {
                let block = &mut blocks[to as usize];
                *block = Some(block.unwrap_or_else(|| self.builder.create_block()));
            }
        }
        blocks
    }

    /// Goes on in a block, if one begins here.
    fn enter(&mut self, block: Option<Block>) {
        if let Some(block) = block {
            self.builder.ins().jump(block, &[]);
            self.builder.switch_to_block(block);
        }
    }

    fn lower_inst(&mut self, inst: &Inst, blocks: &[Option<Block>]) -> Result<(), NoCode> {
        match *inst {
            Inst::Unary { op, ty, dst, a } => {
                let a = self.value(a);
                let value = match op {
                    UnaryOp::Neg => self.builder.ins().ineg(a),
                    UnaryOp::Not => self.builder.ins().bnot(a),
                    UnaryOp::FloatNeg
                    | UnaryOp::FloatFromSigned
                    | UnaryOp::FloatFromUnsigned
                    | UnaryOp::FloatToSigned
                    | UnaryOp::FloatToUnsigned
                    | UnaryOp::FloatWiden
                    | UnaryOp::FloatNarrow => return Err(floating()),
                };
                let value = self.wrap(ty, value);
                self.set(dst, value);
            }
            Inst::Binary { op, ty, dst, a, b } => {
                let value = self.binary(op, ty, a, b)?;
                self.set(dst, value);
            }
            Inst::Convert { ty, dst, a } => {
                let a = self.value(a);
                let value = self.wrap(ty, a);
                self.set(dst, value);
            }
            Inst::Copy { dst, a } => {
                let value = self.value(a);
                self.set(dst, value);
            }
            Inst::JumpIfZero { a, to } => {
                let a = self.value(a);
                let next = self.builder.create_block();
                let to = target(blocks, to)?;
                self.builder.ins().brif(a, next, &[], to, &[]);
                self.builder.switch_to_block(next);
            }
            Inst::Jump { to } => {
                let to = target(blocks, to)?;
                self.builder.ins().jump(to, &[]);
                // What follows is come to by other jumps only.
                let next = self.builder.create_block();
                self.builder.switch_to_block(next);
            }
            Inst::FailIfZero { a } => {
                let a = self.value(a);
                let (next, failed) = (self.builder.create_block(), self.builder.create_block());
                self.builder.ins().brif(a, next, &[], failed, &[]);
                self.builder.switch_to_block(failed);
                self.builder.set_cold_block(failed);
                let zero = self.constant(0);
                self.builder.ins().return_(&[zero]);
                self.builder.switch_to_block(next);
            }
            Inst::Load { dst, from } => {
                let from = self.place(from);
                let value = self.load(from);
                self.set(dst, value);
            }
            Inst::LoadRun { dst, count, from } => {
                let from = self.place(from);
                self.load_run(dst, count, from);
            }
            Inst::Store { to, value, ty } => {
                let value = self.value(value);
                let value = self.wrap(ty, value);
                let to = self.place(to);
                self.store(to, value);
            }
            Inst::StoreRun { to, count, value, ty } => {
                let values: Vec<Ssa> = (value..value + count)
                    .map(|reg| {
                        let value = self.value(Value::Reg(reg));
                        self.wrap(ty, value)
                    })
                    .collect();
                let to = self.place(to);
                self.store_run(to, &values);
            }
        }
        Ok(())
    }

    fn binary(&mut self, op: BinaryOp, ty: IntType, left: Value, right: Value) -> Result<Ssa, NoCode> {
        let (a, b) = (self.value(left), self.value(right));
        let value = match op {
            BinaryOp::Add => self.builder.ins().iadd(a, b),
            BinaryOp::Sub => self.builder.ins().isub(a, b),
            BinaryOp::Mul => self.builder.ins().imul(a, b),
            BinaryOp::Div => return Ok(self.divide(ty, a, b)),
            BinaryOp::Rem => return Ok(self.remainder(ty, a, b)),
            BinaryOp::And => return Ok(self.builder.ins().band(a, b)),
            BinaryOp::Or => return Ok(self.builder.ins().bor(a, b)),
            BinaryOp::Xor => self.builder.ins().bxor(a, b),
            BinaryOp::Shl => {
                let count = self.count(ty, b);
                self.builder.ins().ishl(a, count)
            }
            BinaryOp::Shr => {
                let count = self.count(ty, b);
                let shifted = if ty.signed {
                    self.builder.ins().sshr(a, count)
                } else {
                    self.builder.ins().ushr(a, count)
                };
                return Ok(shifted);
            }
            BinaryOp::Eq => return Ok(self.compare(IntCC::Equal, a, b)),
            BinaryOp::Ne => return Ok(self.compare(IntCC::NotEqual, a, b)),
            BinaryOp::Lt if ty.signed => return Ok(self.compare(IntCC::SignedLessThan, a, b)),
            BinaryOp::Lt => return Ok(self.compare(IntCC::UnsignedLessThan, a, b)),
            BinaryOp::Le if ty.signed => return Ok(self.compare(IntCC::SignedLessThanOrEqual, a, b)),
            BinaryOp::Le => return Ok(self.compare(IntCC::UnsignedLessThanOrEqual, a, b)),
            // Results that are no number may have other bits in another order of operands.
            BinaryOp::FloatAdd
            | BinaryOp::FloatSub
            | BinaryOp::FloatMul
            | BinaryOp::FloatDiv
            | BinaryOp::FloatEq
            | BinaryOp::FloatLt
            | BinaryOp::FloatLe => return Err(floating()),
        };
        Ok(self.wrap(ty, value))
    }

    fn compare(&mut self, condition: IntCC, a: Ssa, b: Ssa) -> Ssa {
        let bit = self.builder.ins().icmp(condition, a, b);
        self.builder.ins().uextend(types::I64, bit)
    }

    /// A division of the processor traps where the divisor is 0 or the quotient has no room. Neither is asked of it.
    fn divide(&mut self, ty: IntType, a: Ssa, b: Ssa) -> Ssa {
        let (zero, one) = (self.constant(0), self.constant(1));
        let is_zero = self.builder.ins().icmp(IntCC::Equal, b, zero);
        if !ty.signed {
            let divisor = self.builder.ins().select(is_zero, one, b);
            let quotient = self.builder.ins().udiv(a, divisor);
            return self.builder.ins().select(is_zero, zero, quotient);
        }
        let minus = self.constant(-1);
        let is_minus = self.builder.ins().icmp(IntCC::Equal, b, minus);
        let is_special = self.builder.ins().bor(is_zero, is_minus);
        let divisor = self.builder.ins().select(is_special, one, b);
        let quotient = self.builder.ins().sdiv(a, divisor);
        let negative = self.builder.ins().ineg(a);
        let quotient = self.builder.ins().select(is_minus, negative, quotient);
        let quotient = self.builder.ins().select(is_zero, zero, quotient);
        self.wrap(ty, quotient)
    }

    /// The remainder by 0 is 0 here, and so are those by 1 and by -1.
    fn remainder(&mut self, ty: IntType, a: Ssa, b: Ssa) -> Ssa {
        let (zero, one) = (self.constant(0), self.constant(1));
        let is_zero = self.builder.ins().icmp(IntCC::Equal, b, zero);
        if !ty.signed {
            let divisor = self.builder.ins().select(is_zero, one, b);
            return self.builder.ins().urem(a, divisor);
        }
        let minus = self.constant(-1);
        let is_minus = self.builder.ins().icmp(IntCC::Equal, b, minus);
        let is_special = self.builder.ins().bor(is_zero, is_minus);
        let divisor = self.builder.ins().select(is_special, one, b);
        let remainder = self.builder.ins().srem(a, divisor);
        self.wrap(ty, remainder)
    }

    /// The count of a shift: the lower half of the word, modulo the width.
    fn count(&mut self, ty: IntType, count: Ssa) -> Ssa {
        let bits = i64::from(ty.bits);
        if ty.bits.is_power_of_two() {
            return self.builder.ins().band_imm_s(count, bits - 1);
        }
        let half = self.builder.ins().ireduce(types::I32, count);
        let half = self.builder.ins().uextend(types::I64, half);
        self.builder.ins().urem_imm_s(half, bits)
    }

    /// [`IntType::wrap`].
    fn wrap(&mut self, ty: IntType, value: Ssa) -> Ssa {
        let narrow = match ty.bits {
            8 => types::I8,
            16 => types::I16,
            32 => types::I32,
            64.. => return value,
            bits => {
                let shift = 64 - i64::from(bits);
                let up = self.builder.ins().ishl_imm_s(value, shift);
                return if ty.signed {
                    self.builder.ins().sshr_imm_s(up, shift)
                } else {
                    self.builder.ins().ushr_imm_s(up, shift)
                };
            }
        };
        let narrow = self.builder.ins().ireduce(narrow, value);
        if ty.signed {
            self.builder.ins().sextend(types::I64, narrow)
        } else {
            self.builder.ins().uextend(types::I64, narrow)
        }
    }

    fn load(&mut self, from: Place) -> Ssa {
        let Place { address, offset, index } = from;
        match index {
            None => self.builder.ins().load(types::I64, flags(), address, offset),
            Some((At::Const(index), length)) => match inside(index, length) {
                Some(index) => self.builder.ins().load(types::I64, flags(), address, offset + BYTES * index),
                None => self.constant(0),
            },
            Some((At::Value(_), 0)) => self.constant(0),
            Some((At::Value(index), length)) => {
                let zero = self.constant(0);
                let is_inside =
                    self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, index, i64::from(length));
                // Outside of the array its first word is looked at, and not taken.
                let index = self.builder.ins().select(is_inside, index, zero);
                let bytes = self.builder.ins().ishl_imm_s(index, 3);
                let address = self.builder.ins().iadd(address, bytes);
                let value = self.builder.ins().load(types::I64, flags(), address, offset);
                self.builder.ins().select(is_inside, value, zero)
            }
        }
    }

    fn store(&mut self, to: Place, value: Ssa) {
        let Place { address, offset, index } = to;
        match index {
            None => {
                self.builder.ins().store(flags(), value, address, offset);
            }
            Some((At::Const(index), length)) => {
                if let Some(index) = inside(index, length) {
                    self.builder.ins().store(flags(), value, address, offset + BYTES * index);
                }
            }
            Some((At::Value(index), length)) => {
                let is_inside =
                    self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, index, i64::from(length));
                let (stores, next) = (self.builder.create_block(), self.builder.create_block());
                self.builder.ins().brif(is_inside, stores, &[], next, &[]);
                self.builder.switch_to_block(stores);
                let bytes = self.builder.ins().ishl_imm_s(index, 3);
                let address = self.builder.ins().iadd(address, bytes);
                self.builder.ins().store(flags(), value, address, offset);
                self.builder.ins().jump(next, &[]);
                self.builder.switch_to_block(next);
            }
        }
    }

    fn load_run(&mut self, dst: Reg, count: Reg, from: Place) {
        let run = self.run(from, usize::from(count));
        if let Some(run) = &run {
            for (at, reg) in (0..).zip(dst..dst + count) {
                let value =
                    self.builder.ins().load(types::I64, flags(), run.address, from.offset + BYTES * at);
                self.set(reg, value);
            }
            self.builder.ins().jump(run.next, &[]);
            self.builder.switch_to_block(run.outside);
        }
        for (offset, reg) in (0..).zip(dst..dst + count) {
            let from = self.later(from, offset);
            let value = self.load(from);
            self.set(reg, value);
        }
        self.end_run(run);
    }

    fn store_run(&mut self, to: Place, values: &[Ssa]) {
        let run = self.run(to, values.len());
        if let Some(run) = &run {
            for (at, &value) in (0..).zip(values) {
                self.builder.ins().store(flags(), value, run.address, to.offset + BYTES * at);
            }
            self.builder.ins().jump(run.next, &[]);
            self.builder.switch_to_block(run.outside);
        }
        for (offset, &value) in (0..).zip(values) {
            let to = self.later(to, offset);
            self.store(to, value);
        }
        self.end_run(run);
    }

    fn end_run(&mut self, run: Option<Run>) {
        if let Some(run) = run {
            self.builder.ins().jump(run.next, &[]);
            self.builder.switch_to_block(run.next);
        }
    }

    /// Goes on where all elements of a run are inside of the array, with the address of the first; nothing where the index is
    /// known already, or they never are.
    fn run(&mut self, first: Place, count: usize) -> Option<Run> {
        let Some((At::Value(index), length)) = first.index else { return None };
        let last = (length as usize).checked_sub(count)?;
        let is_inside = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, index, last as i64);
        let inside = self.builder.create_block();
        let (outside, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(is_inside, inside, &[], outside, &[]);
        self.builder.set_cold_block(outside);
        self.builder.switch_to_block(inside);
        let bytes = self.builder.ins().ishl_imm_s(index, 3);
        let address = self.builder.ins().iadd(first.address, bytes);
        Some(Run { address, outside, next })
    }

    /// An element so many behind another.
    fn later(&mut self, place: Place, offset: i64) -> Place {
        let index = place.index.map(|(index, length)| match index {
            At::Const(index) => (At::Const(index.wrapping_add(offset)), length),
            At::Value(index) => (At::Value(self.builder.ins().iadd_imm_s(index, offset)), length),
        });
        Place { index, ..place }
    }

    /// Where an element is.
    fn place(&mut self, element: Element) -> Place {
        let address = match element.words {
            Words::Globals => self.addresses[1],
            Words::Thread => self.addresses[2],
            Words::Frame => self.addresses[3],
        };
        #[expect(clippy::cast_possible_wrap, reason = "words have at most 28 bits, see Program::bounds")]
        let first = element.first as i32;
        let index = element.index.map(|(index, length)| match index {
            Value::Const(index) => (At::Const(index), length),
            Value::Reg(_) => (At::Value(self.value(index)), length),
        });
        Place { address, offset: BYTES * first, index }
    }

    fn value(&mut self, value: Value) -> Ssa {
        match value {
            Value::Reg(reg) => self.builder.use_var(self.variables[usize::from(reg)]),
            Value::Const(value) => self.constant(value),
        }
    }

    fn constant(&mut self, value: i64) -> Ssa {
        self.builder.ins().iconst(types::I64, value)
    }

    fn set(&mut self, reg: Reg, value: Ssa) {
        self.builder.def_var(self.variables[usize::from(reg)], value);
    }
}

/// Loads and stores of words that are there and aligned.
const fn flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

fn target(blocks: &[Option<Block>], to: u32) -> Result<Block, NoCode> {
    blocks[to as usize].ok_or_else(|| NoCode("a jump to nowhere".to_owned()))
}

fn floating() -> NoCode {
    NoCode("floating values".to_owned())
}

/// The index, if it is inside of the array.
fn inside(index: i64, length: u32) -> Option<i32> {
    i32::try_from(index).ok().filter(|index| (0..i64::from(length)).contains(&i64::from(*index)))
}
