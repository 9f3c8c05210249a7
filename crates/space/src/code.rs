//! Expressions as register programs.
//!
//! The registers are the variables of the transition, then temporaries, then constants. Constants are loaded
//! once and never written, so that an operand is nothing but the number of a register, and a leaf of an
//! expression costs no instruction at all.

use pdnet_base::{FxHashMap, Idx as _};
use pdnet_net::{BinaryOp, Expr, IntType, Place, UnaryOp};

use crate::Unsupported;

/// A register.
pub(crate) type Reg = u16;

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Unary {
        op: UnaryOp,
        ty: IntType,
        dst: Reg,
        a: Reg,
    },
    Binary {
        op: BinaryOp,
        ty: IntType,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Convert {
        ty: IntType,
        dst: Reg,
        a: Reg,
    },
    Copy {
        dst: Reg,
        a: Reg,
    },
    JumpIfZero {
        a: Reg,
        to: u32,
    },
    Jump {
        to: u32,
    },
    /// The value of a cell; the key is in the registers from `first` on.
    Cell {
        dst: Reg,
        place: Place,
        first: Reg,
        n: u8,
    },
    /// Whether a token is there; the prefix is in the registers from `first` on.
    Marked {
        dst: Reg,
        place: Place,
        first: Reg,
        n: u8,
    },
    Deadlock {
        dst: Reg,
    },
}

/// An expression: instructions to run (often none), then the register that has its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    start: u32,
    end: u32,
    pub(crate) reg: Reg,
}

/// What an atom can see of a state; arc expressions see nothing.
pub(crate) trait Observed {
    fn cell(&self, place: Place, key: &[i64]) -> i64;
    fn marked(&self, place: Place, prefix: &[i64]) -> bool;
    fn deadlock(&self) -> bool;
}

/// The world of arc expressions, which speak of variables only.
pub(crate) struct Blind;

impl Observed for Blind {
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

/// The instructions of all expressions of a net, or of all atoms of a property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    ops: Vec<Op>,
    n_vars: usize,
    n_temps: usize,
    constants: Vec<i64>,
    constant_regs: FxHashMap<i64, Reg>,
    /// Expressions whose value is in a register already, where they occur in the transition at hand.
    known: FxHashMap<Expr, Reg>,
}

impl Code {
    /// Code for transitions with at most `n_vars` variables and expressions at most `n_temps` deep.
    pub(crate) fn new(n_vars: usize, n_temps: usize) -> Self {
        Self { n_vars, n_temps, ..Self::default() }
    }

    /// A register file with the constants in place.
    pub(crate) fn registers(&self) -> Vec<i64> {
        let mut registers = vec![0; self.n_vars + self.n_temps];
        registers.extend_from_slice(&self.constants);
        registers
    }

    /// Compiles an expression.
    pub(crate) fn compile(&mut self, expr: &Expr) -> Result<Operand, Unsupported> {
        let start = self.here()?;
        let reg = self.lower(expr, 0)?;
        Ok(Operand { start, end: self.here()?, reg })
    }

    /// Compiles an expression whose value is put into a register, and is taken from there where it occurs from now on.
    pub(crate) fn compile_known(&mut self, expr: &Expr, reg: Reg) -> Result<Operand, Unsupported> {
        let operand = self.compile(expr)?;
        self.known.insert(expr.clone(), reg);
        Ok(operand)
    }

    /// Forgets which registers have the values of expressions: another transition has others.
    pub(crate) fn forget_known(&mut self) {
        self.known.clear();
    }

    /// The variables that an operand needs.
    pub(crate) fn variables(&self, operand: Operand) -> Vec<Reg> {
        let mut used = vec![operand.reg];
        for op in &self.ops[operand.start as usize..operand.end as usize] {
            match *op {
                Op::Unary { a, .. }
                | Op::Convert { a, .. }
                | Op::Copy { a, .. }
                | Op::JumpIfZero { a, .. } => {
                    used.push(a);
                }
                Op::Binary { a, b, .. } => used.extend([a, b]),
                Op::Cell { first, n, .. } | Op::Marked { first, n, .. } => {
                    used.extend(first..first + Reg::from(n));
                }
                Op::Jump { .. } | Op::Deadlock { .. } => {}
            }
        }
        used.retain(|&reg| usize::from(reg) < self.n_vars);
        used
    }

    /// The instructions of an operand, and the number of the first, from which jumps count.
    pub(crate) fn ops(&self, operand: Operand) -> (&[Op], u32) {
        (&self.ops[operand.start as usize..operand.end as usize], operand.start)
    }

    /// The value of a register that has a constant.
    pub(crate) fn constant_of(&self, reg: Reg) -> Option<i64> {
        let position = usize::from(reg).checked_sub(self.n_vars + self.n_temps)?;
        self.constants.get(position).copied()
    }

    /// How many registers there are, constants included.
    pub(crate) const fn n_registers(&self) -> usize {
        self.n_vars + self.n_temps + self.constants.len()
    }

    /// The operand for a register without any instruction.
    pub(crate) const fn register(reg: Reg) -> Operand {
        Operand { start: 0, end: 0, reg }
    }

    /// Whether an operand is nothing but the moving thread.
    pub(crate) const fn is_own_thread(operand: Operand) -> bool {
        operand.start == operand.end && operand.reg == 0
    }

    /// Whether an operand is nothing but one of these variables.
    pub(crate) fn is_one_of(operand: Operand, vars: &[Reg]) -> bool {
        operand.start == operand.end && vars.contains(&operand.reg)
    }

    /// The value of an operand that is a constant.
    pub(crate) fn constant_value(&self, operand: Operand) -> Option<i64> {
        self.constant_of(operand.reg).filter(|_| operand.start == operand.end)
    }

    /// The value of an operand.
    #[inline]
    pub(crate) fn value(&self, operand: Operand, registers: &mut [i64]) -> i64 {
        if operand.start != operand.end {
            self.run(operand, registers, &Blind);
        }
        registers[operand.reg as usize]
    }

    /// The value of an operand that may look at a state.
    pub(crate) fn observe(&self, operand: Operand, registers: &mut [i64], observed: &impl Observed) -> i64 {
        self.run(operand, registers, observed);
        registers[operand.reg as usize]
    }

    fn run(&self, operand: Operand, registers: &mut [i64], observed: &impl Observed) {
        let mut at = operand.start as usize;
        let end = operand.end as usize;
        while at < end {
            match self.ops[at] {
                Op::Unary { op, ty, dst, a } => {
                    registers[dst as usize] = op.apply(ty, registers[a as usize]);
                }
                Op::Binary { op, ty, dst, a, b } => {
                    registers[dst as usize] = op.apply(ty, registers[a as usize], registers[b as usize]);
                }
                Op::Convert { ty, dst, a } => registers[dst as usize] = ty.wrap(registers[a as usize]),
                Op::Copy { dst, a } => registers[dst as usize] = registers[a as usize],
                Op::JumpIfZero { a, to } => {
                    if registers[a as usize] == 0 {
                        at = to as usize;
                        continue;
                    }
                }
                Op::Jump { to } => {
                    at = to as usize;
                    continue;
                }
                Op::Cell { dst, place, first, n } => {
                    let key = first as usize..first as usize + n as usize;
                    registers[dst as usize] = observed.cell(place, &registers[key]);
                }
                Op::Marked { dst, place, first, n } => {
                    let prefix = first as usize..first as usize + n as usize;
                    registers[dst as usize] = i64::from(observed.marked(place, &registers[prefix]));
                }
                Op::Deadlock { dst } => registers[dst as usize] = i64::from(observed.deadlock()),
            }
            at += 1;
        }
    }

    /// Appends the instructions for an expression that may use the temporaries from `level` on, and returns
    /// the register of its value: that of a leaf, or the temporary `level`.
    fn lower(&mut self, expr: &Expr, level: usize) -> Result<Reg, Unsupported> {
        if let Some(&known) = self.known.get(expr) {
            return Ok(known);
        }
        Ok(match expr {
            Expr::Const(value) => self.constant(*value)?,
            Expr::Var(var) => reg(var.index())?,
            Expr::Unary(op, ty, operand) => {
                let a = self.lower(operand, level)?;
                let dst = self.temp(level)?;
                self.ops.push(Op::Unary { op: *op, ty: *ty, dst, a });
                dst
            }
            Expr::Binary(op, ty, left, right) => {
                let a = self.lower(left, level)?;
                let b = self.lower(right, level + 1)?;
                let dst = self.temp(level)?;
                self.ops.push(Op::Binary { op: *op, ty: *ty, dst, a, b });
                dst
            }
            Expr::Convert(ty, operand) => {
                let a = self.lower(operand, level)?;
                let dst = self.temp(level)?;
                self.ops.push(Op::Convert { ty: *ty, dst, a });
                dst
            }
            Expr::If(condition, then, otherwise) => {
                let dst = self.temp(level)?;
                let a = self.lower(condition, level)?;
                let branch = self.ops.len();
                self.ops.push(Op::JumpIfZero { a, to: 0 });
                self.lower_into(then, level, dst)?;
                let jump = self.ops.len();
                self.ops.push(Op::Jump { to: 0 });
                self.ops[branch] = Op::JumpIfZero { a, to: self.here()? };
                self.lower_into(otherwise, level, dst)?;
                self.ops[jump] = Op::Jump { to: self.here()? };
                dst
            }
            Expr::Cell(place, key) => {
                let (first, n) = self.lower_list(key, level)?;
                self.ops.push(Op::Cell { dst: first, place: *place, first, n });
                first
            }
            Expr::Marked(place, prefix) => {
                let (first, n) = self.lower_list(prefix, level)?;
                self.ops.push(Op::Marked { dst: first, place: *place, first, n });
                first
            }
            Expr::Deadlock => {
                let dst = self.temp(level)?;
                self.ops.push(Op::Deadlock { dst });
                dst
            }
        })
    }

    fn lower_into(&mut self, expr: &Expr, level: usize, dst: Reg) -> Result<(), Unsupported> {
        let a = self.lower(expr, level)?;
        if a != dst {
            self.ops.push(Op::Copy { dst, a });
        }
        Ok(())
    }

    /// Puts the values of a list into temporaries that follow each other.
    fn lower_list(&mut self, list: &[Expr], level: usize) -> Result<(Reg, u8), Unsupported> {
        for (position, expr) in list.iter().enumerate() {
            let dst = self.temp(level + position)?;
            self.lower_into(expr, level + position, dst)?;
        }
        let n = u8::try_from(list.len()).map_err(|_| too_large())?;
        Ok((self.temp(level)?, n))
    }

    fn temp(&self, level: usize) -> Result<Reg, Unsupported> {
        if level >= self.n_temps {
            return Err(too_large());
        }
        reg(self.n_vars + level)
    }

    fn constant(&mut self, value: i64) -> Result<Reg, Unsupported> {
        if let Some(&found) = self.constant_regs.get(&value) {
            return Ok(found);
        }
        let new = reg(self.n_vars + self.n_temps + self.constants.len())?;
        self.constants.push(value);
        self.constant_regs.insert(value, new);
        Ok(new)
    }

    fn here(&self) -> Result<u32, Unsupported> {
        u32::try_from(self.ops.len()).map_err(|_| too_large())
    }
}

/// The most temporaries that an expression can need.
pub(crate) fn depth(expr: &Expr) -> usize {
    match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Deadlock => 1,
        Expr::Unary(_, _, operand) | Expr::Convert(_, operand) => depth(operand),
        Expr::Binary(_, _, left, right) => depth(left).max(depth(right) + 1),
        Expr::If(condition, then, otherwise) => depth(condition).max(depth(then)).max(depth(otherwise)),
        Expr::Cell(_, parts) | Expr::Marked(_, parts) => {
            let deepest = parts.iter().enumerate().map(|(position, part)| position + depth(part)).max();
            deepest.unwrap_or(1)
        }
    }
}

pub(crate) fn reg(number: usize) -> Result<Reg, Unsupported> {
    Reg::try_from(number).map_err(|_| too_large())
}

fn too_large() -> Unsupported {
    Unsupported("expressions with more than 2^16 values".to_owned())
}

#[cfg(test)]
mod tests {
    use pdnet_base::Rng;
    use pdnet_net::{Scalars, Var};

    use super::*;

    struct Values(Vec<i64>);
    impl Scalars for Values {
        fn var(&self, var: Var) -> i64 {
            self.0[var.index()]
        }
        fn cell(&self, place: Place, key: &[i64]) -> i64 {
            Observed::cell(self, place, key)
        }
        fn marked(&self, place: Place, prefix: &[i64]) -> bool {
            Observed::marked(self, place, prefix)
        }
        fn deadlock(&self) -> bool {
            true
        }
    }
    impl Observed for Values {
        fn cell(&self, place: Place, key: &[i64]) -> i64 {
            key.iter().fold(place.index() as i64, |acc, part| acc.wrapping_mul(31).wrapping_add(*part))
        }
        fn marked(&self, _: Place, prefix: &[i64]) -> bool {
            prefix.iter().fold(0_i64, |acc, part| acc ^ part) % 2 == 0
        }
        fn deadlock(&self) -> bool {
            true
        }
    }

    fn random_expr(rng: &mut Rng, height: usize) -> Expr {
        let ty = *rng.pick(&[IntType::I32, IntType::U8, IntType::U64, IntType::I64]);
        if height == 0 {
            return match rng.below(3) {
                0 => Expr::Const(rng.below(5) as i64 - 2),
                _ => Expr::Var(Var::new(rng.below(3))),
            };
        }
        let below = |rng: &mut Rng| {
            let height = rng.below(height);
            random_expr(rng, height)
        };
        match rng.below(8) {
            0 => Expr::Unary(*rng.pick(&UnaryOp::ALL), ty, Box::new(below(rng))),
            1 => Expr::Convert(ty, Box::new(below(rng))),
            2 => Expr::If(Box::new(below(rng)), Box::new(below(rng)), Box::new(below(rng))),
            3 => Expr::Cell(Place::new(7), vec![below(rng), below(rng)]),
            4 => Expr::Marked(Place::new(7), vec![below(rng)]),
            5 => Expr::Deadlock,
            _ => {
                let op = *rng.pick(&BinaryOp::ALL);
                Expr::Binary(op, ty, Box::new(below(rng)), Box::new(below(rng)))
            }
        }
    }

    #[test]
    fn compiled_expressions_have_the_value_that_the_tree_has() {
        let seed = Rng::test_seed(1);
        let mut rng = Rng::new(seed);
        for case in 0..3000 {
            let expr = random_expr(&mut rng, 6);
            let values = Values((0..3).map(|_| rng.below(9) as i64 - 4).collect());
            let mut code = Code::new(3, depth(&expr));
            let operand = code.compile(&expr).unwrap();
            let mut registers = code.registers();
            registers[..3].copy_from_slice(&values.0);
            let value = code.observe(operand, &mut registers, &values);
            assert_eq!(value, expr.eval(&values), "seed {seed}, case {case}: {expr}");
        }
    }
}
