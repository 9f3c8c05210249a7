//! Native code against the meaning of programs: that of nets' operators, and a plain evaluator of instructions.

#![cfg(target_arch = "x86_64")]

use pdnet_base::Rng;
use pdnet_jit::{Element, Function, Inst, NoCode, Program, Value, Words, compile};
use pdnet_net::{BinaryOp, IntType, UnaryOp};

/// Types of all widths that matter: whole registers, halves, and those that no register has.
fn types() -> Vec<IntType> {
    let bits = [1, 2, 3, 7, 8, 9, 13, 16, 24, 31, 32, 33, 63, 64];
    bits.into_iter().flat_map(|bits| [false, true].map(|signed| IntType { bits, signed })).collect()
}

/// Values at the edges of a type, and of others.
fn edges(ty: IntType) -> Vec<i64> {
    let near = [ty.min(), ty.max(), 0]
        .into_iter()
        .flat_map(|at: i64| [-2, -1, 0, 1, 2].map(|by| at.wrapping_add(by)));
    let mut values: Vec<i64> =
        near.map(|value| ty.wrap(value)).chain([0, 1].map(|value| ty.wrap(value))).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Counts of shifts inside and outside of every width, and with bits that the lower half of a word does not have.
const COUNTS: [i64; 14] = [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, -1, i64::MIN, 1 << 32, (1 << 32) + 5];

fn only(program: Program) -> Result<Function, NoCode> {
    compile(&[program]).map(|functions| functions.into_iter().next().unwrap())
}

#[test]
fn operators_have_the_values_that_nets_give_them() {
    for op in BinaryOp::ALL {
        for ty in types() {
            let inst = |a, b| Inst::Binary { op, ty, dst: 2, a, b };
            let program = |a, b| Program { insts: vec![inst(a, b)], result: Value::Reg(2), kept: vec![] };
            let function = only(program(Value::Reg(0), Value::Reg(1)));
            if op.is_floating() {
                assert!(function.is_err(), "{op:?}");
                continue;
            }
            let function = function.unwrap();
            let rights = match op {
                BinaryOp::Shl | BinaryOp::Shr => COUNTS.to_vec(),
                _ => edges(ty),
            };
            for &a in &edges(ty) {
                for &b in &rights {
                    let found = function.look(&mut [a, b, 7], &[], &[], 0);
                    assert_eq!(found, op.apply(ty, a, b), "{op:?} {ty} of {a} and {b}");
                }
            }
            // The same with constants, of which the code generator may make something else.
            let pairs: Vec<(i64, i64)> =
                rights.iter().map(|&b| (edges(ty)[b.unsigned_abs() as usize % edges(ty).len()], b)).collect();
            let programs: Vec<Program> = pairs
                .iter()
                .flat_map(|&(a, b)| {
                    [
                        (Value::Reg(0), Value::Const(b)),
                        (Value::Const(a), Value::Reg(1)),
                        (Value::Const(a), Value::Const(b)),
                    ]
                })
                .map(|(a, b)| program(a, b))
                .collect();
            for (at, function) in compile(&programs).unwrap().iter().enumerate() {
                let (a, b) = pairs[at / 3];
                assert_eq!(
                    function.look(&mut [a, b, 7], &[], &[], 0),
                    op.apply(ty, a, b),
                    "{op:?} {ty} of {a} and {b}"
                );
            }
        }
    }
    for ty in types() {
        for op in UnaryOp::ALL {
            let inst = Inst::Unary { op, ty, dst: 0, a: Value::Reg(0) };
            let function = only(Program { insts: vec![inst], result: Value::Reg(0), kept: vec![] });
            match op {
                UnaryOp::Neg | UnaryOp::Not => {
                    let function = function.unwrap();
                    for &a in &edges(ty) {
                        assert_eq!(
                            function.look(&mut [a], &[], &[], 0),
                            op.apply(ty, a),
                            "{op:?} {ty} of {a}"
                        );
                    }
                }
                _ => assert!(function.is_err(), "{op:?}"),
            }
        }
        let inst = Inst::Convert { ty, dst: 0, a: Value::Reg(0) };
        let function = only(Program { insts: vec![inst], result: Value::Reg(0), kept: vec![] }).unwrap();
        for other in types() {
            for &a in &edges(other) {
                assert_eq!(function.look(&mut [a], &[], &[], 0), ty.wrap(a), "{ty} of {a}");
            }
        }
    }
}

/// The registers and words that a program works on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct World {
    registers: Vec<i64>,
    globals: Vec<i64>,
    thread: Vec<i64>,
    base: usize,
}

impl World {
    fn value(&self, value: Value) -> i64 {
        match value {
            Value::Reg(reg) => self.registers[usize::from(reg)],
            Value::Const(value) => value,
        }
    }

    fn word(&mut self, element: Element) -> Option<&mut i64> {
        let index = match element.index {
            None => 0,
            Some((index, length)) => {
                let index = self.value(index);
                (0..i64::from(length)).contains(&index).then_some(index as usize)?
            }
        };
        let at = element.first as usize + index;
        Some(match element.words {
            Words::Globals => &mut self.globals[at],
            Words::Thread => &mut self.thread[at],
            Words::Frame => &mut self.thread[self.base + at],
        })
    }

    /// What a program means.
    fn run(&mut self, program: &Program) -> i64 {
        let before = self.registers.clone();
        let mut at = 0;
        while let Some(inst) = program.insts.get(at) {
            at += 1;
            match *inst {
                Inst::Unary { op, ty, dst, a } => {
                    self.registers[usize::from(dst)] = op.apply(ty, self.value(a));
                }
                Inst::Binary { op, ty, dst, a, b } => {
                    self.registers[usize::from(dst)] = op.apply(ty, self.value(a), self.value(b));
                }
                Inst::Convert { ty, dst, a } => self.registers[usize::from(dst)] = ty.wrap(self.value(a)),
                Inst::Copy { dst, a } => self.registers[usize::from(dst)] = self.value(a),
                Inst::JumpIfZero { a, to } => at = if self.value(a) == 0 { to as usize } else { at },
                Inst::Jump { to } => at = to as usize,
                Inst::FailIfZero { a } => {
                    if self.value(a) == 0 {
                        self.registers = before;
                        return 0;
                    }
                }
                Inst::Load { dst, from } => {
                    self.registers[usize::from(dst)] = self.word(from).map_or(0, |word| *word);
                }
                Inst::LoadRun { dst, count, from } => {
                    // The index is that from before, whatever registers are set.
                    let from = Element {
                        index: from.index.map(|(at, length)| (Value::Const(self.value(at)), length)),
                        ..from
                    };
                    for offset in 0..count {
                        let word = self.word(later(from, offset)).map_or(0, |word| *word);
                        self.registers[usize::from(dst + offset)] = word;
                    }
                }
                Inst::StoreRun { to, count, value, ty } => {
                    for offset in 0..count {
                        let value = ty.wrap(self.value(Value::Reg(value + offset)));
                        let to = Element {
                            index: to.index.map(|(at, length)| (Value::Const(self.value(at)), length)),
                            ..to
                        };
                        if let Some(word) = self.word(later(to, offset)) {
                            *word = value;
                        }
                    }
                }
                Inst::Store { to, value, ty } => {
                    let value = ty.wrap(self.value(value));
                    if let Some(word) = self.word(to) {
                        *word = value;
                    }
                }
            }
        }
        let result = self.value(program.result);
        for (reg, before) in before.into_iter().enumerate() {
            if !program.kept.iter().any(|&kept| usize::from(kept) == reg) {
                self.registers[reg] = before;
            }
        }
        result
    }
}

/// The element so many behind another; the only word again where it is no array.
fn later(element: Element, offset: u16) -> Element {
    let index = element.index.map(|(index, length)| match index {
        Value::Const(index) => (Value::Const(index.wrapping_add(i64::from(offset))), length),
        Value::Reg(_) => unreachable!(),
    });
    Element { index, ..element }
}

const REGISTERS: usize = 6;
const WORDS: usize = 9;

fn random_value(rng: &mut Rng) -> Value {
    match rng.below(4) {
        0 => Value::Const(rng.below(7) as i64 - 2),
        _ => Value::Reg(rng.below(REGISTERS) as u16),
    }
}

fn random_element(rng: &mut Rng) -> Element {
    let words = *rng.pick(&[Words::Globals, Words::Thread, Words::Frame]);
    let first = rng.below(5) as u32;
    let index = rng.chance(50).then(|| (random_value(rng), rng.below(5) as u32));
    Element { words, first, index }
}

fn random_program(rng: &mut Rng, stores: bool) -> Program {
    let n_insts = rng.below(14);
    let types = [IntType::I32, IntType::U8, IntType::U64, IntType::I64, IntType { bits: 5, signed: true }];
    let insts = (0..n_insts).map(|at| {
        let ty = *rng.pick(&types);
        let dst = rng.below(REGISTERS) as u16;
        let to = (at + 1 + rng.below(n_insts - at)) as u32;
        match rng.below(14) {
            0 => Inst::Unary { op: *rng.pick(&[UnaryOp::Neg, UnaryOp::Not]), ty, dst, a: random_value(rng) },
            1 => Inst::Convert { ty, dst, a: random_value(rng) },
            2 => Inst::Copy { dst, a: random_value(rng) },
            3 => Inst::JumpIfZero { a: random_value(rng), to },
            4 => Inst::Jump { to },
            5 => Inst::FailIfZero { a: random_value(rng) },
            6 | 7 => Inst::Load { dst, from: random_element(rng) },
            10 => {
                let count = rng.below(4) as u16;
                Inst::LoadRun { dst: rng.below(REGISTERS - 3) as u16, count, from: random_element(rng) }
            }
            11 if stores => {
                let count = rng.below(4) as u16;
                let value = rng.below(REGISTERS - 3) as u16;
                Inst::StoreRun { to: random_element(rng), count, value, ty }
            }
            8 | 9 if stores => Inst::Store { to: random_element(rng), value: random_value(rng), ty },
            _ => {
                let op = loop {
                    let op = *rng.pick(&BinaryOp::ALL);
                    if !op.is_floating() {
                        break op;
                    }
                };
                Inst::Binary { op, ty, dst, a: random_value(rng), b: random_value(rng) }
            }
        }
    });
    let insts = insts.collect();
    let kept = (0..REGISTERS as u16).filter(|_| rng.chance(50)).collect();
    Program { insts, result: random_value(rng), kept }
}

#[test]
fn programs_do_what_they_mean() {
    let seed = Rng::test_seed(7);
    let mut rng = Rng::new(seed);
    let (mut n_failed, mut n_stored) = (0, 0);
    for case in 0..2000 {
        let stores = rng.chance(50);
        let program = random_program(&mut rng, stores);
        let function = only(program.clone()).unwrap();
        for _ in 0..6 {
            let mut random = |n: usize| (0..n).map(|_| rng.below(9) as i64 - 3).collect::<Vec<i64>>();
            let before = World {
                registers: random(REGISTERS),
                globals: random(WORDS),
                thread: random(WORDS + 3),
                base: 3,
            };
            let (mut wanted, mut found) = (before.clone(), before.clone());
            let result = wanted.run(&program);
            let World { registers, globals, thread, base } = &mut found;
            let is_storing = program.bounds().unwrap().stores;
            let value = if is_storing {
                function.act(registers, globals, thread, *base)
            } else {
                function.look(registers, globals, thread, *base)
            };
            assert_eq!(
                (value, &found),
                (result, &wanted),
                "case {case}, seed {seed}, from {before:?}: {program:?}"
            );
            n_failed += usize::from(value == 0);
            n_stored += usize::from(found.globals != before.globals);
        }
    }
    assert!(n_failed > 500 && n_stored > 500, "{n_failed} {n_stored}");
}

#[test]
fn a_call_with_too_few_words_is_refused() {
    let from = Element { words: Words::Frame, first: 1, index: Some((Value::Reg(0), 4)) };
    let load = Inst::Load { dst: 1, from };
    let function = only(Program { insts: vec![load], result: Value::Reg(1), kept: vec![1] }).unwrap();
    assert_eq!(function.look(&mut [3, 0], &[], &[0, 0, 0, 0, 0, 0, 9], 2), 9);
    let calls: [fn(&Function); 3] = [
        |function| {
            function.look(&mut [3], &[], &[0; 7], 2);
        },
        |function| {
            function.look(&mut [3, 0], &[], &[0; 6], 2);
        },
        |function| {
            function.look(&mut [3, 0], &[], &[0; 7], 8);
        },
    ];
    for call in calls {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| call(&function)));
        assert!(result.is_err());
    }
    let to = Element { words: Words::Globals, first: 0, index: None };
    let store = Inst::Store { to, value: Value::Const(1), ty: IntType::I64 };
    let function = only(Program { insts: vec![store], result: Value::Const(1), kept: vec![] }).unwrap();
    let result = std::panic::catch_unwind(|| function.look(&mut [], &[0], &[], 0));
    assert!(result.is_err(), "a program that stores was run on words that must not change");
}

#[test]
fn what_is_no_program_is_refused() {
    let back = [Inst::Copy { dst: 0, a: Value::Const(1) }, Inst::Jump { to: 0 }];
    let behind = [Inst::JumpIfZero { a: Value::Const(0), to: 2 }];
    let large = Element { words: Words::Globals, first: u32::MAX, index: Some((Value::Reg(0), 2)) };
    let large = [Inst::Load { dst: 0, from: large }];
    let many = [Inst::LoadRun {
        dst: u16::MAX,
        count: 2,
        from: Element { words: Words::Globals, first: 0, index: None },
    }];
    for insts in [back.to_vec(), behind.to_vec(), large.to_vec(), many.to_vec()] {
        assert!(compile(&[Program { insts, result: Value::Const(1), kept: vec![] }]).is_err());
    }
}
