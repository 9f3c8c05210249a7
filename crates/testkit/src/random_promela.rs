//! Random Promela models: processes with channels of all kinds, atomic sequences, `else`, `timeout` and `unless`, that look
//! at each other's labels and local variables, and formulas about them in SPIN's spelling.
//!
//! The models stay within what SPIN accepts without a complaint: no `else` beside a send or a receive, nothing that
//! blocks inside of a `d_step`, no label of another process there, and none of its variables in a condition. A number of a process belongs to one of
//! the proctype that is named, or to none. Values are kept small, so that most models have few states.

use std::fmt::Write as _;

use pdnet_base::Rng;

/// What a random model may have.
#[derive(Clone, Copy, Debug)]
pub struct PromelaConfig {
    /// The largest number of processes that run from the start.
    pub max_processes: usize,
    /// How many statements a process has about.
    pub size: usize,
    /// How deeply choices and sequences may be nested.
    pub depth: usize,
}

impl Default for PromelaConfig {
    fn default() -> Self {
        Self { max_processes: 3, size: 5, depth: 2 }
    }
}

/// A random model.
#[must_use]
pub fn random_promela(rng: &mut Rng, config: &PromelaConfig) -> String {
    let n_processes = 1 + rng.below(config.max_processes);
    let features = Features {
        channels: rng.chance(70),
        rendezvous: rng.chance(40),
        atomic: rng.chance(60),
        timeout: rng.chance(15),
        unless: rng.chance(10),
        run: rng.chance(20),
        messages: rng.chance(20),
        remote: rng.chance(30),
    };
    let mut writer = Writer {
        rng,
        config,
        features,
        text: String::new(),
        n_left: 0,
        in_loop: false,
        in_d_step: false,
        known: Vec::new(),
    };
    writer.model(n_processes);
    writer.text
}

/// A random formula about such a model, without next, as SPIN and pdnet both read it.
#[must_use]
pub fn random_promela_formula(rng: &mut Rng) -> String {
    let (a, b) = (atom(rng), atom(rng));
    match rng.below(8) {
        0 => format!("[] ({a})"),
        1 => format!("<> ({a})"),
        2 => format!("[] (({a}) -> <> ({b}))"),
        3 => format!("[] <> ({a})"),
        4 => format!("<> [] !({a})"),
        5 => format!("({a}) U ({b})"),
        6 => format!("[] (({a}) -> (({a}) U ({b})))"),
        _ => format!("(<> ({a})) -> ([] <> ({b}))"),
    }
}

fn atom(rng: &mut Rng) -> String {
    let value = rng.below(3);
    match rng.below(5) {
        0 => format!("x == {value}"),
        1 => format!("y != {value}"),
        2 => "b".to_owned(),
        3 => format!("a[{}] == {value}", rng.below(2)),
        _ => format!("x < y + {value}"),
    }
}

/// Which parts of the language a model uses.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a part of the language, present or not")]
struct Features {
    channels: bool,
    rendezvous: bool,
    atomic: bool,
    timeout: bool,
    unless: bool,
    run: bool,
    messages: bool,
    remote: bool,
}

/// A proctype that others can look into.
struct Known {
    name: String,
    /// Numbers that its processes may have, and nobody else's.
    numbers: Vec<usize>,
    /// Its labels that stand up to here.
    labels: Vec<String>,
}

struct Writer<'a> {
    rng: &'a mut Rng,
    config: &'a PromelaConfig,
    features: Features,
    text: String,
    /// How many statements the process may still have.
    n_left: usize,
    in_loop: bool,
    in_d_step: bool,
    /// The proctypes up to here, the present one last.
    known: Vec<Known>,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Inside {
    depth: usize,
    indent: usize,
    /// Inside of `atomic`, where another one means nothing.
    atomic: bool,
}

impl Inside {
    const fn deeper(self) -> Self {
        Self { depth: self.depth + 1, indent: self.indent + 1, ..self }
    }
}

impl Writer<'_> {
    fn model(&mut self, n_processes: usize) {
        self.text += "byte x;\nbyte y = 1;\nbool b;\nbyte a[2];\n";
        if self.features.messages {
            self.text += "mtype = { red, green };\n";
        }
        if self.features.channels {
            let capacity = 1 + self.rng.below(2);
            let _ = writeln!(self.text, "chan q = [{capacity}] of {{ byte }};");
            let _ = writeln!(self.text, "chan p = [{}] of {{ byte, bool }};", 1 + self.rng.below(2));
        }
        if self.features.rendezvous {
            self.text += "chan r = [0] of { byte };\n";
        }
        if self.features.messages {
            self.text += "chan m = [1] of { mtype, byte };\n";
        }
        let has_two = n_processes < 3 && self.rng.chance(30);
        let n_active = n_processes + usize::from(has_two);
        if self.features.run {
            self.process("proctype child(byte n)", "child", (n_active..n_active + 2).collect());
        }
        let mut next = 0;
        for number in 0..n_processes {
            let copies = if number == 0 && has_two { "[2] " } else { "" };
            let name = format!("p{number}");
            let n_copies = if copies.is_empty() { 1 } else { 2 };
            // A number of a process that has ended may be given to a child.
            let numbers = if self.features.run { Vec::new() } else { (next..next + n_copies).collect() };
            self.process(&format!("active {copies}proctype {name}()"), &name, numbers);
            next += n_copies;
        }
    }

    fn process(&mut self, head: &str, name: &str, numbers: Vec<usize>) {
        self.known.push(Known { name: name.to_owned(), numbers, labels: Vec::new() });
        let _ = writeln!(self.text, "{head}\n{{");
        self.text += "\tbyte i;\n\tbyte k = 1;\n";
        self.n_left = self.config.size;
        let inside = Inside { depth: 0, indent: 1, atomic: false };
        let label = self.rng.chance(40).then(|| {
            let kind = if self.rng.chance(50) { "end" } else { "again" };
            format!("{kind}_{name}")
        });
        if let Some(label) = &label {
            let _ = writeln!(self.text, "{label}:");
        }
        let count = 1 + self.rng.below(self.config.size);
        self.in_loop = false;
        if self.features.remote {
            for number in 0..count {
                if self.rng.chance(40) {
                    let label = format!("at{number}");
                    let _ = writeln!(self.text, "{label}:");
                    self.statement(inside, name);
                    self.known.last_mut().expect("the present proctype").labels.push(label);
                } else {
                    self.statement(inside, name);
                }
            }
        } else {
            self.sequence(inside, count, name);
        }
        if let Some(label) = label.filter(|_| self.rng.chance(60)) {
            self.line(inside, &format!("goto {label}"));
        } else {
            self.line(inside, "skip");
        }
        self.text += "}\n";
    }

    fn line(&mut self, inside: Inside, text: &str) {
        let _ = writeln!(self.text, "{}{text};", "\t".repeat(inside.indent));
    }

    fn open(&mut self, inside: Inside, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "\t".repeat(inside.indent));
    }

    fn sequence(&mut self, inside: Inside, count: usize, process: &str) {
        for _ in 0..count.max(1) {
            self.statement(inside, process);
        }
    }

    fn statement(&mut self, inside: Inside, process: &str) {
        self.n_left = self.n_left.saturating_sub(1);
        let nests = inside.depth < self.config.depth && self.n_left > 0;
        match self.rng.below(if nests { 16 } else { 9 }) {
            0..=3 => {
                let text = self.assignment(process);
                self.line(inside, &text);
            }
            4 => {
                let text = self.condition();
                self.line(inside, &text);
            }
            5..=7 => {
                let text = self.communication();
                self.line(inside, &text);
            }
            8 => {
                let text = self.oddity(process);
                self.line(inside, &text);
            }
            9 | 10 => self.choice(inside, "if", "fi", process),
            11 | 12 => {
                let before = std::mem::replace(&mut self.in_loop, true);
                self.choice(inside, "do", "od", process);
                self.in_loop = before;
            }
            13 if self.features.atomic && !inside.atomic => self.group(inside, "atomic {", process),
            14 if self.features.atomic => self.deterministic(inside, process),
            15 if self.features.unless && !inside.atomic => self.unless(inside, process),
            _ => {
                let text = self.assignment(process);
                self.line(inside, &text);
            }
        }
    }

    fn group(&mut self, inside: Inside, head: &str, process: &str) {
        self.open(inside, head);
        let count = 1 + self.rng.below(3);
        self.sequence(Inside { atomic: true, ..inside.deeper() }, count, process);
        self.open(inside, "};");
    }

    /// A `d_step`: a condition that may block, then what cannot.
    fn deterministic(&mut self, inside: Inside, process: &str) {
        // A loop before it must not end with a jump into it.
        self.line(inside, "skip");
        self.open(inside, "d_step {");
        self.in_d_step = true;
        let deeper = inside.deeper();
        if self.rng.chance(50) {
            let text = self.condition();
            self.line(deeper, &text);
        }
        for _ in 0..=self.rng.below(2) {
            let text = self.assignment(process);
            self.line(deeper, &text);
        }
        if self.rng.chance(30) {
            let condition = self.plain_condition();
            let (then, otherwise) = (self.assignment(process), self.assignment(process));
            self.line(deeper, &format!("if :: {condition} -> {then} :: else -> {otherwise} fi"));
        }
        self.in_d_step = false;
        self.open(inside, "};");
    }

    fn unless(&mut self, inside: Inside, process: &str) {
        self.open(inside, "{");
        let count = 1 + self.rng.below(2);
        let before = std::mem::replace(&mut self.in_loop, false);
        self.sequence(inside.deeper(), count, process);
        self.open(inside, "} unless {");
        let condition = self.condition();
        self.line(inside.deeper(), &condition);
        self.in_loop = before;
        let text = self.assignment(process);
        self.line(inside.deeper(), &text);
        self.open(inside, "};");
    }

    fn choice(&mut self, inside: Inside, begin: &str, end: &str, process: &str) {
        self.open(inside, begin);
        let n_options = 1 + self.rng.below(3);
        // Beside `else` there are conditions only.
        let has_else = self.rng.chance(40);
        let is_loop = begin == "do";
        for _ in 0..n_options {
            let guard = match self.rng.below(4) {
                0 if !has_else => self.communication(),
                1 if !has_else => self.assignment(process),
                _ if has_else => self.plain_condition(),
                _ => self.condition(),
            };
            self.open(inside, &format!(":: {guard} ->"));
            self.option(inside, process);
        }
        if has_else {
            self.open(inside, ":: else ->");
            if is_loop {
                self.line(inside.deeper(), "break");
            } else {
                self.option(inside, process);
            }
        } else if is_loop && self.rng.chance(70) {
            let guard = self.condition();
            self.open(inside, &format!(":: {guard} -> break"));
        }
        self.open(inside, &format!("{end};"));
    }

    fn option(&mut self, inside: Inside, process: &str) {
        let count = 1 + self.rng.below(2);
        self.sequence(inside.deeper(), count, process);
        if self.in_loop && self.rng.chance(20) {
            self.line(inside.deeper(), "break");
        }
    }

    fn assignment(&mut self, process: &str) -> String {
        let value = self.value(process);
        match self.rng.below(6) {
            0 => format!("x = {value}"),
            1 => format!("y = {value}"),
            2 => format!("b = ({value} > 1)"),
            3 => format!("a[{}] = {value}", self.index()),
            4 => format!("i = {value}"),
            _ => format!("k = {value}"),
        }
    }

    /// Whether a process is at a label, or the value of a local variable of a process; the second is from 0 to 2.
    fn look(&mut self) -> Option<(String, String)> {
        if !self.features.remote || !self.rng.chance(50) {
            return None;
        }
        let known = &self.known[self.rng.below(self.known.len())];
        let mut who = known.name.clone();
        if !known.numbers.is_empty() && self.rng.chance(70) {
            let _ = write!(who, "[{}]", self.rng.pick(&known.numbers));
        } else if self.rng.chance(10) {
            // Nobody.
            who += "[9]";
        }
        let label = (!known.labels.is_empty()).then(|| format!("{who}@{}", self.rng.pick(&known.labels)));
        let variable = format!("{who}:{}", self.rng.pick(&["i", "k"]));
        Some((label.unwrap_or_else(|| format!("{variable} == 1")), variable))
    }

    /// A value from 0 to 2.
    fn value(&mut self, process: &str) -> String {
        if let Some((label, variable)) = self.look() {
            let names_label = !self.in_d_step && self.rng.chance(50);
            return if names_label { format!("({label} -> 2 : k) % 3") } else { variable };
        }
        match self.rng.below(9) {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            2 => "2".to_owned(),
            3 => "(x + 1) % 3".to_owned(),
            4 => "(y + k) % 3".to_owned(),
            5 => "(i + 1) % 3".to_owned(),
            6 => format!("a[{}] % 3", self.index()),
            7 if process == "child" => "n % 3".to_owned(),
            7 => "_pid % 2".to_owned(),
            _ => "(b -> i : k) % 3".to_owned(),
        }
    }

    fn index(&mut self) -> &'static str {
        self.rng.pick::<&'static str>(&["0", "1", "i % 2", "x % 2", "_pid % 2"])
    }

    fn condition(&mut self) -> String {
        let value = self.rng.below(3);
        match self.rng.below(10) {
            0 if self.features.channels => {
                format!("({}(q))", self.rng.pick(&["full", "empty", "nfull", "nempty"]))
            }
            1 if self.features.channels => format!("(len(p) < {value} || x > y)"),
            2 if self.features.channels => format!("(q?[{value}])"),
            _ => self.plain_condition(),
        }
    }

    /// A condition without channels.
    fn plain_condition(&mut self) -> String {
        let value = self.rng.below(3);
        if !self.in_d_step
            && let Some((label, variable)) = self.look()
        {
            return match self.rng.below(4) {
                0 => format!("({variable} == {value})"),
                1 => format!("(!({label}))"),
                2 => format!("({label} && x != {value})"),
                _ => format!("({label})"),
            };
        }
        match self.rng.below(8) {
            0 => format!("(x == {value})"),
            1 => format!("(y < {value})"),
            2 => "(b)".to_owned(),
            3 => "(!b)".to_owned(),
            4 => format!("(i == {value})"),
            5 => format!("(k != {value})"),
            6 => format!("(a[{}] >= {value})", self.index()),
            _ => "(x <= y)".to_owned(),
        }
    }

    fn communication(&mut self) -> String {
        let mut ways: Vec<String> = Vec::new();
        let value = self.rng.below(3);
        if self.features.channels {
            ways.extend(
                ["q!x", "q!i", "q!!k", "q?x", "q?i", "q??k", "p?i,b", "p!k,b", "q?<i>", "p?_,b"]
                    .map(String::from),
            );
            ways.extend([
                format!("q?{value}"),
                format!("q??{value}"),
                format!("q!{value}"),
                format!("p?{value},b"),
            ]);
            ways.push("p?eval(k),b".to_owned());
        }
        if self.features.rendezvous {
            ways.extend(["r!x", "r!i", "r?y", "r?k", "r?eval(i)"].map(String::from));
            ways.extend([format!("r!{value}"), format!("r?{value}")]);
        }
        if self.features.messages {
            ways.extend(["m!red,x", "m!green(i)", "m?red,i", "m?green(k)", "m??green,i"].map(String::from));
        }
        if ways.is_empty() {
            return self.condition();
        }
        self.rng.pick(&ways).clone()
    }

    fn oddity(&mut self, process: &str) -> String {
        match self.rng.below(6) {
            0 | 1 => format!("assert({} || x < 3)", self.condition()),
            2 => format!("assert({})", self.condition()),
            3 if self.features.timeout => "timeout".to_owned(),
            4 if self.features.run && process != "child" => format!("run child({})", self.rng.below(3)),
            5 if self.in_loop => "break".to_owned(),
            _ => "printf(\"%d\\n\", i)".to_owned(),
        }
    }
}
