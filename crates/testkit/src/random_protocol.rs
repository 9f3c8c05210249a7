//! Random Promela models in which processes own channels, locks and tokens: what `pdnet atomize` looks for.
//!
//! Two processes in a row, linked by channels that come as parameters, and a third one. They take locks, tokens and
//! places and mostly give them back, count in loops, and now and then do what spoils it: look whether a lock is free, ask for the
//! length of a channel, give back what they have not taken, send to a channel of another process.

use std::fmt::Write as _;

use pdnet_base::Rng;

/// A random model.
#[must_use]
pub fn random_protocol(rng: &mut Rng) -> String {
    let mut writer = Writer {
        spoils: rng.chance(40),
        polls: rng.chance(15),
        capacity: 1 + rng.below(2),
        forever: rng.chance(30),
        rng,
        text: String::new(),
        n_left: 0,
    };
    writer.model();
    writer.text
}

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    /// Somebody does what is not expected.
    spoils: bool,
    /// Somebody asks how full channels are.
    polls: bool,
    capacity: usize,
    /// The processes begin again when they are done.
    forever: bool,
    /// How many statements a process may still have.
    n_left: usize,
}

impl Writer<'_> {
    fn model(&mut self) {
        self.text += "byte x;\nbyte y = 1;\nbool b;\nbyte a[2];\nbool busy[2];\nbyte room;\n";
        let _ = writeln!(self.text, "chan link[3] = [{}] of {{ byte }};", self.capacity);
        let _ = writeln!(self.text, "chan own[3] = [{}] of {{ byte }};", 1 + self.rng.below(2));
        let _ = writeln!(self.text, "chan token = [{}] of {{ bit }};", 1 + self.rng.below(2));
        self.process("proctype node(chan in; chan out; byte me)", true);
        self.process("proctype worker(byte me)", false);
        let n_nodes = 1 + self.rng.below(2);
        let n_workers = 1 + self.rng.below(2);
        let _ = writeln!(
            self.text,
            "init {{\n\tbyte n;\n\tatomic {{\n\t\ttoken!1;\n\t\tdo\n\
             \t\t:: n < {n_nodes} -> run node(link[n], link[n + 1], n); n++\n\
             \t\t:: n >= {n_nodes} && n < {n} -> run worker(n); n++\n\t\t:: n == {n} -> break\n\t\tod\n\t}}\n}}",
            n = n_nodes + n_workers
        );
    }

    fn process(&mut self, head: &str, is_node: bool) {
        let _ = writeln!(self.text, "{head}\n{{\n\tbyte i;\n\tbyte k = 1;");
        self.n_left = 7;
        if self.forever {
            self.line(1, "do\n\t:: skip");
        }
        for _ in 0..2 + self.rng.below(3) {
            self.statement(1 + usize::from(self.forever), is_node);
        }
        if self.forever {
            self.text += "\tod\n";
        }
        self.text += "\tskip\n}\n";
    }

    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text};", "\t".repeat(indent));
    }

    fn open(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "\t".repeat(indent));
    }

    fn some(&mut self, indent: usize, most: usize, is_node: bool) {
        for _ in 0..=self.rng.below(most) {
            self.statement(indent, is_node);
        }
    }

    fn statement(&mut self, indent: usize, is_node: bool) {
        self.n_left = self.n_left.saturating_sub(1);
        let nests = self.n_left > 0 && indent < 5;
        match self.rng.below(if nests { 18 } else { 9 }) {
            0..=2 => {
                let text = self.local();
                self.line(indent, &text);
            }
            3 | 4 => {
                let text = self.global();
                self.line(indent, &text);
            }
            5..=8 => {
                let text = self.communication(is_node);
                self.line(indent, &text);
            }
            9..=11 => self.hold(indent, is_node),
            12 | 13 => self.counted(indent, is_node),
            14 if is_node => self.reception(indent, is_node),
            15 if self.spoils => self.spoil(indent, is_node),
            16 => {
                self.open(indent, "atomic {");
                self.some(indent + 1, 2, is_node);
                self.open(indent, "};");
            }
            _ => {
                let (one, other) = if self.rng.chance(50) { ("i == 0", "else") } else { ("k > 1", "k <= 1") };
                self.open(indent, "if");
                self.open(indent, &format!(":: {one} ->"));
                self.some(indent + 1, 2, is_node);
                self.open(indent, &format!(":: {other} ->"));
                self.some(indent + 1, 1, is_node);
                self.open(indent, "fi;");
            }
        }
    }

    fn local(&mut self) -> String {
        let ways = ["i = (i + 1) % 3", "k = i", "i = 0", "k = (k + 2) % 3", "(i < 3)", "i = me % 2", "k = 2"];
        self.rng.pick(&ways).to_string()
    }

    fn global(&mut self) -> String {
        let ways = [
            "x = i",
            "x = (x + 1) % 3",
            "y = x % 3",
            "(x < 2)",
            "(x != y)",
            "b = (k > 1)",
            "a[me % 2] = k",
            "assert(x < 3)",
            "assert(x < 2 || y < 2)",
            "assert(b || i < 3)",
        ];
        self.rng.pick(&ways).to_string()
    }

    fn communication(&mut self, is_node: bool) -> String {
        let mut ways = vec!["own[me]!k", "own[me]!2", "own[me]?i", "own[me]?k"];
        if is_node {
            ways.extend(["in?i", "in?k", "in?1", "out!i", "out!k", "out!1", "out!2", "in??1", "in?<i>"]);
        } else {
            ways.extend(["link[0]!k", "link[0]!1", "link[0]!0"]);
        }
        if self.polls {
            ways.extend(["(len(own[me]) < 1)", "(nempty(link[0]))"]);
        }
        self.rng.pick(&ways).to_string()
    }

    /// Takes something, and gives it back later.
    fn hold(&mut self, indent: usize, is_node: bool) {
        let index = self.rng.pick(&["0", "1", "me % 2", "i % 2"]).to_string();
        let (take, give) = match self.rng.below(4) {
            0 | 1 => (
                format!("atomic {{ !busy[{index}] -> busy[{index}] = true }}"),
                format!("busy[{index}] = false"),
            ),
            2 => (format!("atomic {{ room < {} -> room++ }}", 1 + self.rng.below(2)), "room--".to_owned()),
            _ => ("token?_".to_owned(), "token!1".to_owned()),
        };
        self.line(indent, &take);
        self.some(indent, 2, is_node);
        self.line(indent, &give);
    }

    fn counted(&mut self, indent: usize, is_node: bool) {
        let (reset, guard, end, step) = match self.rng.below(4) {
            0 => ("i = 0", "i < 2", "else", "i++"),
            1 => ("i = 0", "i < 2", "i >= 2", "i++"),
            2 => ("i = 2", "i > 0", "i == 0", "i--"),
            _ => ("i = 0", "i != 2", "i == 2", "i++"),
        };
        self.line(indent, reset);
        self.open(indent, "do");
        self.open(indent, &format!(":: {guard} ->"));
        let text = match self.rng.below(3) {
            0 => "k = (k + i) % 3".to_owned(),
            1 => self.global(),
            _ => self.communication(is_node).replace("?i", "?k").replace("<i>", "<k>"),
        };
        self.line(indent + 1, &text);
        // Now and then the loop does not end.
        if !self.rng.chance(5) {
            self.line(indent + 1, step);
        }
        self.open(indent, &format!(":: {end} -> break"));
        self.open(indent, "od;");
    }

    fn reception(&mut self, indent: usize, is_node: bool) {
        self.open(indent, "if");
        for value in 0..3 {
            self.open(indent, &format!(":: in?{value} ->"));
            self.some(indent + 1, 1, is_node);
        }
        if self.rng.chance(20) {
            self.open(indent, ":: i == 0 -> k = 0");
        }
        self.open(indent, "fi;");
    }

    fn spoil(&mut self, indent: usize, is_node: bool) {
        match self.rng.below(8) {
            0 => self.line(
                indent,
                "if :: atomic { !busy[0] -> busy[0] = true }; busy[0] = false :: else -> x = 2 fi",
            ),
            1 => self.line(indent, "busy[0] = false"),
            2 => self.line(indent, "assert(!busy[1] || room < 3)"),
            3 => self.line(indent, "if :: own[me]?i :: else -> k = 0 fi"),
            4 => self.line(indent, "own[0]!1"),
            5 => self.line(indent, "if :: token?_ -> token!1 :: timeout -> skip fi"),
            6 => {
                self.open(indent, "{");
                self.some(indent + 1, 2, is_node);
                self.open(indent, "} unless { atomic { !busy[0] -> busy[0] = true }; busy[0] = false };");
            }
            _ => self.line(indent, "token!0"),
        }
    }
}
