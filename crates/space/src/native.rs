//! Rules as native code, where it pays.
//!
//! Of a rule two things can be native: the steps that bind it, up to the first that can bind in several ways or that looks at
//! other threads, and the cells that firing it writes. All else, and all of a rule for which there is no code, is left to the
//! register programs: what is native is a function of the same instructions, so that nobody can tell which of the two was at
//! work. The rules of a place are compiled together when the steps from there were looked for so often that it should pay.
//!
//! # Why it is right
//!
//! Every step and every instruction is translated one by one ([`Translation`]), and instructions mean the same there
//! ([`pdnet_jit`]). A native part reads what its operands read: variables, global words, words of the moving thread. Where
//! a guard does not hold, no register was changed, and the interpreter would not have come further. Where all do, all variables
//! that the steps have set are in the registers, and the interpreter goes on behind them. Temporaries are not: no instruction reads
//! one that the same operand has not set before.
//!
//! The words that firing writes are those of the writes, in their order. A chunk of the globals is marked as changed where the
//! interpreter would, and perhaps where the index is outside of the array, or chooses another of its chunks: a mark more
//! costs a look into the store and changes nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pdnet_base::{Idx as _, IndexVec};
use pdnet_jit::{Element, Function, Inst, NoCode, Program, Value, Words};
use pdnet_net::{BinaryOp, IntType, Place};

use crate::chunks::Chunks;
use crate::code::{Code, Op, Operand, Reg};
use crate::layout::{Cells, Home, Layout};
use crate::transition::{Binding, Key, Member, Part, Prefix, Rule, Write};
use crate::{Compiled, Successors};

/// Whether rules are run as native code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jit {
    /// Never.
    #[default]
    Off,
    /// Where the steps from a place were looked for often.
    Auto,
    /// From the first step on.
    On,
}

/// So often the steps from a place are looked for before its rules are compiled.
const PATIENCE: u32 = 20_000;

/// A longer run of elements is left to the interpreter, and so are more rows of sets.
const LONGEST_RUN: u16 = 64;
const MOST_ROWS: u32 = 4;

/// Parts of a rule as native code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Native {
    /// Binds it up to a step; the function returns 0 where a guard does not hold.
    bind: Option<(Function, usize)>,
    /// Writes its cells, and returns the chunks of the globals that were changed.
    write: Option<Function>,
    /// Some of the cells are the moving thread's.
    writes_thread: bool,
}

/// What was compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NativeCounts {
    /// How many transitions have native code.
    pub transitions: u64,
    /// How long it took to make it.
    pub time: Duration,
}

/// Which places of a net have native code.
#[derive(Clone, Debug)]
pub(crate) struct Natives {
    jit: Jit,
    places: IndexVec<Place, OnceLock<()>>,
    n_transitions: Arc<AtomicU64>,
    nanoseconds: Arc<AtomicU64>,
}

impl Natives {
    pub(crate) fn new(n_places: usize) -> Self {
        Self {
            jit: Jit::Off,
            places: IndexVec::filled(OnceLock::new(), n_places),
            n_transitions: Arc::default(),
            nanoseconds: Arc::default(),
        }
    }

    /// For a generator of successors: how often it looks for the steps from each place before they are compiled.
    pub(crate) fn patience(&self) -> Vec<u32> {
        match self.jit {
            Jit::Off => Vec::new(),
            Jit::Auto => vec![PATIENCE; self.places.len()],
            Jit::On => vec![1; self.places.len()],
        }
    }
}

impl Jit {
    /// Whether native code can be made and run here.
    ///
    /// # Errors
    /// The reason why not.
    pub fn is_possible() -> Result<(), NoCode> {
        let nothing = Program { insts: Vec::new(), result: Value::Const(1), kept: Vec::new() };
        pdnet_jit::compile(&[nothing]).map(|_| ())
    }
}

impl Compiled {
    /// The same net, with native code or without.
    #[must_use]
    pub fn with_jit(mut self, jit: Jit) -> Self {
        self.natives.jit = jit;
        self
    }

    /// What was compiled so far.
    #[must_use]
    pub fn native_counts(&self) -> NativeCounts {
        NativeCounts {
            transitions: self.natives.n_transitions.load(Ordering::Relaxed),
            time: Duration::from_nanos(self.natives.nanoseconds.load(Ordering::Relaxed)),
        }
    }

    /// Compiles the rules of the transitions from a place, once.
    #[cold]
    fn compile_place(&self, place: Place) {
        self.natives.places[place].get_or_init(|| {
            let start = Instant::now();
            let n_native = self.compile_rules(place);
            self.natives.n_transitions.fetch_add(n_native, Ordering::Relaxed);
            let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.natives.nanoseconds.fetch_add(spent, Ordering::Relaxed);
        });
    }

    /// Compiles what can be compiled of the rules of a place, and says how many have native code now.
    fn compile_rules(&self, place: Place) -> u64 {
        let translate =
            || Translation { layout: &self.layout, code: &self.code, insts: Vec::new(), kept: Vec::new() };
        let rules = || self.from[place].iter().map(|&transition| &self.transitions[transition]);
        let parts = rules()
            .map(|rule| (translate().bindings(&rule.bindings), translate().writes(&rule.writes)))
            .collect::<Vec<_>>();
        let binds = parts.iter().map(|(bind, _)| bind.as_ref().map(|(program, _)| program));
        let writes = parts.iter().map(|(_, write)| write.as_ref());
        let programs: Vec<Program> =
            binds.zip(writes).flat_map(|(bind, write)| [bind, write]).flatten().cloned().collect();
        if programs.is_empty() {
            return 0;
        }
        // Where there is no code, there is the interpreter.
        let Ok(functions) = pdnet_jit::compile(&programs) else { return 0 };
        let mut functions = functions.into_iter();
        let mut n_native = 0;
        for (rule, (bind, write)) in rules().zip(&parts) {
            let bind = bind.as_ref().and_then(|&(_, n_steps)| Some((functions.next()?, n_steps)));
            let write = write.as_ref().and_then(|_| functions.next());
            if bind.is_none() && write.is_none() {
                continue;
            }
            let writes_thread = rule.writes.iter().any(|write| write.cells.home != Home::Global);
            n_native += u64::from(rule.native.set(Native { bind, write, writes_thread }).is_ok());
        }
        n_native
    }
}

impl Successors<'_> {
    /// Notes that the steps of a frame on this place are looked for.
    #[inline]
    pub(crate) fn warm_up(&mut self, place: Place) {
        if let Some(patience) = self.patience.get_mut(place.index())
            && *patience > 0
        {
            *patience -= 1;
            if *patience == 0 {
                self.compiled.compile_place(place);
            }
        }
    }

    /// Binds as much of a rule as is native code, and says with which step to go on; nothing where a guard does not hold.
    #[inline]
    pub(crate) fn bind_natively(&mut self, rule: &Rule) -> Option<usize> {
        let Some(Native { bind: Some((function, position)), .. }) = rule.native.get() else { return Some(0) };
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "set by expand")]
        let thread = &self.current.threads[self.registers[0] as usize];
        let is_bound = function.look(&mut self.registers, &self.current.globals, thread, self.base) != 0;
        is_bound.then_some(*position)
    }

    /// Writes the cells of a rule that is fired, if that is native code.
    #[inline]
    pub(crate) fn write_natively(&mut self, rule: &Rule, moving: usize) -> bool {
        let Some(Native { write: Some(function), writes_thread, .. }) = rule.native.get() else {
            return false;
        };
        if *writes_thread {
            self.next.thread_mut(moving);
        }
        let (globals, thread) = (&mut self.next.globals, &mut self.next.threads[moving]);
        let chunks = function.act(&mut self.registers, globals, thread, self.base);
        self.next.mark_chunks(chunks.cast_unsigned());
        true
    }
}

/// Steps that become instructions.
struct Translation<'a> {
    layout: &'a Layout,
    code: &'a Code,
    insts: Vec<Inst>,
    /// Variables that were set.
    kept: Vec<Reg>,
}

/// What cannot be translated.
struct Foreign;

impl Translation<'_> {
    /// The program for the first steps that bind a rule, and how many those are; nothing where there are none.
    fn bindings(mut self, bindings: &[Binding]) -> Option<(Program, usize)> {
        let mut n_steps = 0;
        for binding in bindings {
            let (n_insts, n_kept) = (self.insts.len(), self.kept.len());
            if self.binding(binding).is_err() {
                self.insts.truncate(n_insts);
                self.kept.truncate(n_kept);
                break;
            }
            n_steps += 1;
        }
        let program = Program { insts: self.insts, result: Value::Const(1), kept: self.kept };
        (n_steps > 0).then_some((program, n_steps))
    }

    fn binding(&mut self, binding: &Binding) -> Result<(), Foreign> {
        match binding {
            Binding::Choose { .. } | Binding::Frame { .. } => Err(Foreign),
            Binding::Member(Member { offset, rows, row, thread }) => {
                let row = match row {
                    None => Some(Value::Const(0)),
                    Some(Part::Is(row)) => Some(self.operand(*row, 0)?),
                    Some(Part::Bind(_)) => None,
                };
                let (Some(row), Part::Is(thread)) = (row, thread) else { return Err(Foreign) };
                let thread = self.operand(*thread, 1)?;
                let is_there = self.member((*offset, *rows), row, thread)?;
                self.insts.push(Inst::FailIfZero { a: is_there });
                Ok(())
            }
            Binding::Count { offset } => {
                let count = self.global(*offset)?;
                self.insts.push(Inst::FailIfZero { a: count });
                Ok(())
            }
            Binding::Absent(prefix) => self.absent(prefix),
            Binding::Read { var, cells, key, when } => {
                let Key::Own { index } = key else { return Err(Foreign) };
                self.kept.push(*var);
                let Some(when) = when else {
                    let from = self.element(cells, *index, 0)?;
                    self.insts.push(Inst::Load { dst: *var, from });
                    return Ok(());
                };
                let condition = self.operand(*when, 0)?;
                let branch = self.insts.len();
                self.insts.push(Inst::Copy { dst: *var, a: Value::Const(0) });
                self.insts.push(Inst::JumpIfZero { a: condition, to: 0 });
                let from = self.element(cells, *index, 1)?;
                self.insts.push(Inst::Load { dst: *var, from });
                self.insts[branch + 1] = Inst::JumpIfZero { a: condition, to: self.here() };
                Ok(())
            }
            Binding::ReadRun { var, count, cells, index } => {
                if *count > LONGEST_RUN {
                    return Err(Foreign);
                }
                self.kept.extend(*var..*var + *count);
                let from = self.element(cells, Some(*index), 0)?;
                self.insts.push(Inst::LoadRun { dst: *var, count: *count, from });
                Ok(())
            }
            Binding::Compute { var, value } => {
                self.kept.push(*var);
                let a = self.operand(*value, 0)?;
                self.insts.push(Inst::Copy { dst: *var, a });
                Ok(())
            }
            Binding::Holds { condition } => {
                let a = self.operand(*condition, 0)?;
                self.insts.push(Inst::FailIfZero { a });
                Ok(())
            }
        }
    }

    fn absent(&mut self, prefix: &Prefix) -> Result<(), Foreign> {
        match *prefix {
            Prefix::Frames { .. } => Err(Foreign),
            Prefix::Count { offset } => {
                let count = self.global(offset)?;
                self.fail_unless_zero(count)
            }
            Prefix::Sets { offset, rows, row, thread: Some(thread) } => {
                let row = match row {
                    Some(row) => self.operand(row, 0)?,
                    None if rows == 1 => Value::Const(0),
                    None => return Err(Foreign),
                };
                let thread = self.operand(thread, 1)?;
                let is_there = self.member((offset, rows), row, thread)?;
                self.fail_unless_zero(is_there)
            }
            Prefix::Sets { offset, rows, row: Some(row), thread: None } => {
                self.small_sets()?;
                let row = self.operand(row, 0)?;
                let dst = self.scratch(2)?;
                let from = Element { words: Words::Globals, first: word(offset)?, index: Some((row, rows)) };
                self.insts.push(Inst::Load { dst, from });
                self.fail_unless_zero(Value::Reg(dst))
            }
            Prefix::Sets { offset, rows, row: None, thread: None } => {
                self.small_sets()?;
                if rows > MOST_ROWS {
                    return Err(Foreign);
                }
                for row in 0..rows as usize {
                    let set = self.global(offset + row)?;
                    self.fail_unless_zero(set)?;
                }
                Ok(())
            }
        }
    }

    /// Whether a thread is in a set, as a value: not where there is no such row or thread.
    fn member(&mut self, (offset, rows): (usize, u32), row: Value, thread: Value) -> Result<Value, Foreign> {
        self.small_sets()?;
        let ty = IntType::U64;
        let (set, inside) = (self.scratch(2)?, self.scratch(3)?);
        let from = Element { words: Words::Globals, first: word(offset)?, index: Some((row, rows)) };
        let (a, b) = (thread, Value::Const(i64::from(self.layout.max_threads)));
        self.insts.push(Inst::Binary { op: BinaryOp::Lt, ty, dst: inside, a, b });
        self.insts.push(Inst::Load { dst: set, from });
        self.insts.push(Inst::Binary { op: BinaryOp::Shr, ty, dst: set, a: Value::Reg(set), b: thread });
        let (a, b) = (Value::Reg(set), Value::Reg(inside));
        self.insts.push(Inst::Binary { op: BinaryOp::And, ty, dst: set, a, b });
        Ok(Value::Reg(set))
    }

    /// Sets of threads must be single words.
    fn small_sets(&self) -> Result<(), Foreign> {
        if self.layout.set_words() == 1 { Ok(()) } else { Err(Foreign) }
    }

    fn fail_unless_zero(&mut self, a: Value) -> Result<(), Foreign> {
        let dst = self.scratch(3)?;
        let b = Value::Const(0);
        self.insts.push(Inst::Binary { op: BinaryOp::Eq, ty: IntType::I64, dst, a, b });
        self.insts.push(Inst::FailIfZero { a: Value::Reg(dst) });
        Ok(())
    }

    /// A global word.
    fn global(&mut self, offset: usize) -> Result<Value, Foreign> {
        let dst = self.scratch(2)?;
        let from = Element { words: Words::Globals, first: word(offset)?, index: None };
        self.insts.push(Inst::Load { dst, from });
        Ok(Value::Reg(dst))
    }

    /// The program for all writes of a rule, if there are any and all can be translated.
    fn writes(mut self, writes: &[Write]) -> Option<Program> {
        if writes.is_empty() {
            return None;
        }
        let changed = self.scratch(4).ok()?;
        self.insts.push(Inst::Copy { dst: changed, a: Value::Const(0) });
        for write in writes {
            self.write(write, changed).ok()?;
        }
        Some(Program { insts: self.insts, result: Value::Reg(changed), kept: Vec::new() })
    }

    fn write(&mut self, write: &Write, changed: Reg) -> Result<(), Foreign> {
        let Key::Own { index } = write.key else { return Err(Foreign) };
        if write.count > LONGEST_RUN {
            return Err(Foreign);
        }
        let condition = write.when.map(|when| self.operand(when, 0)).transpose()?;
        let branch = self.insts.len();
        if let Some(a) = condition {
            self.insts.push(Inst::JumpIfZero { a, to: 0 });
        }
        let to = self.element(&write.cells, index, 0)?;
        let ty = write.cells.value;
        if write.count > 1 {
            self.insts.push(Inst::StoreRun { to, count: write.count, value: write.value.reg, ty });
        } else {
            let value = self.operand(write.value, 1)?;
            self.insts.push(Inst::Store { to, value, ty });
        }
        let bits = changed_chunks(&self.layout.chunks, self.code, write);
        if bits != 0 {
            let (a, b) = (Value::Reg(changed), Value::Const(bits.cast_signed()));
            self.insts.push(Inst::Binary { op: BinaryOp::Or, ty: IntType::U64, dst: changed, a, b });
        }
        if let Some(a) = condition {
            self.insts[branch] = Inst::JumpIfZero { a, to: self.here() };
        }
        Ok(())
    }

    /// A cell of the globals, of the moving thread or of its frame.
    fn element(&mut self, cells: &Cells, index: Option<Operand>, room: u16) -> Result<Element, Foreign> {
        let words = match cells.home {
            Home::Global => Words::Globals,
            Home::Thread => Words::Thread,
            Home::Frame(_) => Words::Frame,
        };
        let index = match (index, cells.length) {
            (_, None) => None,
            (Some(index), Some(length)) => Some((self.operand(index, room)?, length)),
            (None, Some(length)) => Some((Value::Const(0), length)),
        };
        Ok(Element { words, first: word(cells.offset)?, index })
    }

    /// The value of an operand, after its instructions. Where those are some, it is in a register of its own, since the temporaries
    /// are used again by the next operand.
    fn operand(&mut self, operand: Operand, room: u16) -> Result<Value, Foreign> {
        let (ops, first) = self.code.ops(operand);
        let here = self.here();
        let target = |to: u32| here + (to - first);
        for op in ops {
            let inst = match *op {
                Op::Unary { op, .. } if op.is_floating() => return Err(Foreign),
                Op::Binary { op, .. } if op.is_floating() => return Err(Foreign),
                Op::Unary { op, ty, dst, a } => Inst::Unary { op, ty, dst, a: self.value(a) },
                Op::Binary { op, ty, dst, a, b } => {
                    Inst::Binary { op, ty, dst, a: self.value(a), b: self.value(b) }
                }
                Op::Convert { ty, dst, a } => Inst::Convert { ty, dst, a: self.value(a) },
                Op::Copy { dst, a } => Inst::Copy { dst, a: self.value(a) },
                Op::JumpIfZero { a, to } => Inst::JumpIfZero { a: self.value(a), to: target(to) },
                Op::Jump { to } => Inst::Jump { to: target(to) },
                Op::Cell { .. } | Op::Marked { .. } | Op::Deadlock { .. } => return Err(Foreign),
            };
            self.insts.push(inst);
        }
        if ops.is_empty() {
            return Ok(self.value(operand.reg));
        }
        let dst = self.scratch(room)?;
        self.insts.push(Inst::Copy { dst, a: self.value(operand.reg) });
        Ok(Value::Reg(dst))
    }

    /// What a register of the interpreter has.
    fn value(&self, reg: Reg) -> Value {
        self.code.constant_of(reg).map_or(Value::Reg(reg), Value::Const)
    }

    /// A register that the interpreter does not have.
    fn scratch(&self, number: u16) -> Result<Reg, Foreign> {
        Reg::try_from(self.code.n_registers() + usize::from(number)).map_err(|_| Foreign)
    }

    /// The number of the next instruction.
    fn here(&self) -> u32 {
        // A program of that length is refused anyway.
        u32::try_from(self.insts.len()).unwrap_or(u32::MAX)
    }
}

fn word(offset: usize) -> Result<u32, Foreign> {
    u32::try_from(offset).map_err(|_| Foreign)
}

/// The chunks of the globals that a write can change.
fn changed_chunks(chunks: &Chunks, code: &Code, write: &Write) -> u64 {
    if write.cells.home != Home::Global {
        return 0;
    }
    let Cells { offset, length, .. } = write.cells;
    let length = length.unwrap_or(1) as usize;
    let index = match write.key {
        Key::Own { index } | Key::Any { index, .. } => index,
    };
    let first = index.and_then(|index| code.constant_value(index)).and_then(|at| usize::try_from(at).ok());
    match first {
        Some(first) if first < length => {
            chunks.bits(offset + first..offset + length.min(first + usize::from(write.count)))
        }
        Some(_) | None => chunks.bits(offset..offset + length),
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use pdnet_base::Rng;
    use pdnet_net::{Expr, Net, Scalars, UnaryOp, Var};

    use super::*;
    use crate::code::depth;

    struct Values<'a>(&'a [i64]);
    impl Scalars for Values<'_> {
        fn var(&self, var: Var) -> i64 {
            self.0[var.index()]
        }
        fn cell(&self, _: Place, _: &[i64]) -> i64 {
            0
        }
        fn marked(&self, _: Place, _: &[i64]) -> bool {
            false
        }
        fn deadlock(&self) -> bool {
            false
        }
    }

    const VARS: usize = 4;

    fn random_expr(rng: &mut Rng, height: usize) -> Expr {
        let ty = IntType { bits: *rng.pick(&[1, 7, 8, 16, 31, 32, 33, 64]), signed: rng.chance(50) };
        if height == 0 {
            return match rng.below(3) {
                0 => Expr::Const(*rng.pick(&[0, 1, -1, 2, 31, 32, 63, 64, 65, i64::MIN, i64::MAX])),
                _ => Expr::Var(Var::new(rng.below(VARS))),
            };
        }
        let below = |rng: &mut Rng| {
            let height = rng.below(height);
            Box::new(random_expr(rng, height))
        };
        match rng.below(6) {
            0 => Expr::Unary(*rng.pick(&[UnaryOp::Neg, UnaryOp::Not]), ty, below(rng)),
            1 => Expr::Convert(ty, below(rng)),
            2 => Expr::If(below(rng), below(rng), below(rng)),
            _ => {
                let op = *rng.pick(&BinaryOp::ALL);
                let op = if op.is_floating() { BinaryOp::Div } else { op };
                Expr::Binary(op, ty, below(rng), below(rng))
            }
        }
    }

    #[test]
    fn native_expressions_have_the_value_that_the_tree_has() {
        let seed = Rng::test_seed(3);
        let mut rng = Rng::new(seed);
        let layout = Layout::new(&Net::default()).unwrap();
        let cases: Vec<(Expr, Code, Operand)> = (0..1500)
            .map(|_| {
                let expr = random_expr(&mut rng, 5);
                let mut code = Code::new(VARS, depth(&expr));
                let operand = code.compile(&expr).unwrap();
                (expr, code, operand)
            })
            .collect();
        let programs: Vec<Program> = cases
            .iter()
            .map(|(expr, code, operand)| {
                let mut translation =
                    Translation { layout: &layout, code, insts: Vec::new(), kept: Vec::new() };
                let Ok(result) = translation.operand(*operand, 0) else { panic!("{expr}") };
                Program { insts: translation.insts, result, kept: Vec::new() }
            })
            .collect();
        let functions = pdnet_jit::compile(&programs).unwrap();
        for ((expr, code, operand), function) in cases.iter().zip(&functions) {
            for _ in 0..10 {
                let edges = [0, 1, -1, 2, i64::MIN, i64::MAX, 1 << 31, -(1 << 31), 255, 64];
                let values: Vec<i64> = (0..VARS).map(|_| *rng.pick(&edges)).collect();
                let mut registers = code.registers();
                registers[..VARS].copy_from_slice(&values);
                let found = function.look(&mut registers, &[], &[], 0);
                assert_eq!(found, expr.eval(&Values(&values)), "seed {seed}: {expr} of {values:?}");
                assert_eq!(found, code.value(*operand, &mut registers), "seed {seed}: {expr} of {values:?}");
            }
        }
    }

    #[test]
    fn floating_values_are_left_to_the_interpreter() {
        let layout = Layout::new(&Net::default()).unwrap();
        let one = || Box::new(Expr::Const(1));
        for op in BinaryOp::ALL {
            let expr = Expr::Binary(op, IntType::I64, one(), one());
            let mut code = Code::new(0, depth(&expr));
            let operand = code.compile(&expr).unwrap();
            let mut translation =
                Translation { layout: &layout, code: &code, insts: Vec::new(), kept: Vec::new() };
            assert_eq!(translation.operand(operand, 0).is_err(), op.is_floating(), "{op:?}");
        }
    }
}
