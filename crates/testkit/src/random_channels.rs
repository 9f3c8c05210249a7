//! Random Promela models of processes that are connected by channels: who sends to which channel is a matter of
//! parameters, of variables that change, and of channels that are handed over.
//!
//! Here what a step can get in the way of depends on values, unlike in [`crate::random_promela`].

use std::fmt::Write as _;

use pdnet_base::Rng;

/// How many channels the array has.
const N_CHANNELS: usize = 3;

/// A random model with the variables of [`crate::random_promela_formula`].
#[must_use]
pub fn random_channels(rng: &mut Rng) -> String {
    let mut text = "byte x;\nbyte y = 1;\nbool b;\nbyte a[2];\n".to_owned();
    let capacity = 1 + rng.below(2);
    let _ = writeln!(text, "chan q[{N_CHANNELS}] = [{capacity}] of {{ byte }};");
    text += "chan h = [1] of { chan };\n";
    let provided = if rng.chance(10) { " provided (x < 2)" } else { "" };
    let _ = writeln!(text, "proctype node(chan in, out; byte n){provided}\n{{\n\tbyte i;\n\tchan c = out;");
    // Formulas look at who is in an atomic sequence, where there are some, and then see all steps.
    let has_atomic = rng.chance(50);
    let mut writer = Writer { rng, text, in_loop: false, has_atomic };
    let n_statements = 1 + writer.rng.below(4);
    writer.statements(n_statements, 0);
    writer.text += "}\n";
    writer.start();
    writer.text
}

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    in_loop: bool,
    has_atomic: bool,
}

impl Writer<'_> {
    /// The process that starts the others, most often each with an end of its own.
    fn start(&mut self) {
        let n_nodes = 2 + self.rng.below(2);
        let is_ring = self.rng.chance(60);
        self.text += "init\n{\n";
        let is_atomic = self.has_atomic && self.rng.chance(80);
        self.text += if is_atomic { "\tatomic {\n" } else { "\tbyte i;\n" };
        for node in 0..n_nodes {
            let (from, to) = match is_ring {
                true => (node, (node + 1) % n_nodes),
                false => (self.rng.below(N_CHANNELS), self.rng.below(N_CHANNELS)),
            };
            let _ = writeln!(self.text, "\t\trun node(q[{from}], q[{to}], {node});");
        }
        for _ in 0..self.rng.below(3) {
            let channel = self.rng.below(n_nodes);
            let value = self.rng.below(2);
            let _ = writeln!(self.text, "\t\tq[{channel}]!{value};");
        }
        self.text += if is_atomic { "\t}\n}\n" } else { "\t\tx = 0;\n\t\tassert(y < 3)\n}\n" };
    }

    fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    fn line(&mut self, statement: &str) {
        let _ = writeln!(self.text, "\t{statement};");
    }

    fn statement(&mut self, depth: usize) {
        match self.rng.below(10) {
            0 if depth < 2 => self.choice(depth, false),
            1 if depth < 2 && !self.in_loop => self.choice(depth, true),
            2 if depth < 2 && self.has_atomic => {
                self.text += "\tatomic {\n";
                let count = 1 + self.rng.below(3);
                self.statements(count, 2);
                self.text += "\t};\n";
            }
            3 if depth < 1 && self.rng.chance(40) => {
                self.text += "\t{\n";
                self.statements(2, 2);
                let guard = self.guard();
                let _ = writeln!(self.text, "\t}} unless {{ {guard} -> x = 2 }};");
            }
            4 => {
                let guard = self.guard();
                self.line(&guard);
            }
            _ => {
                let simple = self.simple();
                self.line(&simple);
                if simple.contains("?i") && self.rng.chance(50) {
                    // What arrives, and in which order, is what steps can get wrong.
                    let condition = match self.rng.below(4) {
                        0 => "i != 0",
                        1 => "i != 1",
                        2 => "i != n",
                        _ => "i == x",
                    };
                    self.line(&format!("assert({condition})"));
                }
            }
        }
    }

    fn choice(&mut self, depth: usize, is_loop: bool) {
        let was_in_loop = self.in_loop;
        self.in_loop |= is_loop;
        self.text += if is_loop { "\tdo\n" } else { "\tif\n" };
        for _ in 0..1 + self.rng.below(3) {
            let guard = if self.rng.chance(70) { self.exchange() } else { self.guard() };
            let _ = writeln!(self.text, "\t:: {guard};");
            let count = self.rng.below(3);
            self.statements(count, depth + 1);
            if is_loop && self.rng.chance(25) {
                self.line("break");
            }
        }
        match self.rng.below(6) {
            0 => self.text += "\t:: timeout -> x = (x + 1) % 3; break\n",
            1 if is_loop => self.text += "\t:: else -> break\n",
            2 => self.text += "\t:: else -> x = 1\n",
            _ => {}
        }
        let end = if is_loop { "\tod;\n" } else { "\tfi;\n" };
        if !is_loop {
            // A way to leave is only for loops.
            let start = self.text.rfind("\tif\n").unwrap_or(0);
            let last = self.text.split_off(start).replace("x = (x + 1) % 3; break", "x = (x + 1) % 3");
            self.text += &last;
        }
        self.text += end;
        self.in_loop = was_in_loop;
    }

    /// A send or a receive.
    fn exchange(&mut self) -> String {
        let value = self.rng.below(2);
        match self.rng.below(14) {
            0..4 => format!("out!{}", self.rng.pick(&["0", "1", "i", "x", "n", "n"])),
            4..8 => "in?i".to_owned(),
            8 => format!("in?{value}"),
            9 => format!("c!{value}"),
            10 => "c?i".to_owned(),
            11 => format!("q[i % {N_CHANNELS}]!{value}"),
            12 => format!("in??{value}"),
            _ => format!("out!!{value}"),
        }
    }

    /// A condition.
    fn guard(&mut self) -> String {
        let value = self.rng.below(3);
        match self.rng.below(9) {
            0 => format!("len(in) < {value}"),
            1 => "nempty(in)".to_owned(),
            2 => "full(out)".to_owned(),
            3 => format!("in?[{value}]"),
            4 => format!("x == {value}"),
            5 => "b".to_owned(),
            6 => format!("a[n % 2] != {value}"),
            7 => format!("i < {value}"),
            _ => "empty(c)".to_owned(),
        }
    }

    fn simple(&mut self) -> String {
        let value = self.rng.below(3);
        match self.rng.below(16) {
            0..7 => self.exchange(),
            7 => format!("x = {}", self.rng.pick(&["i", "n", "y"])),
            8 => "y = (y + 1) % 3".to_owned(),
            9 => "a[n % 2] = i".to_owned(),
            10 => format!("assert(x != {value} || y != 1)"),
            11 => format!("c = q[{}]", self.rng.pick(&["0", "n", "i % 3"])),
            12 => "h!out".to_owned(),
            13 => "h?c".to_owned(),
            14 => "b = !b".to_owned(),
            _ => format!("i = {value}"),
        }
    }
}
