//! The net of a program as a model in Promela, so that SPIN can check pdnet's answers.
//!
//! The model does what the net does, step by step: every firing is one `d_step` of the process of its thread, and every
//! state of the model is a marking. What Promela cannot compute exactly is refused. docs/promela.md says which parts
//! of the model are which of the net's, and what SPIN's messages mean.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `model` | the variables of the model |
//! | `values`, `span`, `narrow` | where frames can be, which values cells can have |
//! | `expr` | expressions |
//! | `step` | transitions |
//! | `property` | formulas and checks |
//! | `names` | names |

mod expr;
mod model;
mod names;
mod narrow;
mod property;
mod span;
mod step;
mod values;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pdnet_check::{Property, PropertyKind};
use pdnet_net::{Net, Transition};
use pdnet_source::Diagnostic;

use self::expr::Refusal;
use self::model::Model;
use self::names::comment;
use self::property::{flag_name, is_askable, ltl_block, names_of_inputs, observed, property_name};
use self::step::{ASSUMPTION, BOUND, FAULT, StepWriter, step_comment};

/// A model with more options is refused.
const MAX_OPTIONS: usize = 50_000;

/// What is to be exported.
#[derive(Debug)]
pub struct PromelaExport<'a> {
    /// The version of pdnet.
    pub version: &'a str,
    /// What the user calls the program.
    pub input: &'a str,
    /// The net, sliced or not.
    pub net: &'a Net,
    /// How it was sliced, in a word.
    pub slicing: &'a str,
    /// The properties, in terms of the net.
    pub properties: &'a [Property],
    /// How many threads there can be at most.
    pub n_threads: u32,
}

/// A model.
#[derive(Debug)]
pub struct PromelaModel {
    /// The text.
    pub text: String,
    /// What is not in it though it was asked for.
    pub warnings: Vec<Diagnostic>,
}

/// The model of a net.
///
/// # Errors
/// What Promela has no exact counterpart of, one diagnostic for each.
pub fn promela(export: &PromelaExport<'_>) -> Result<PromelaModel, Vec<Diagnostic>> {
    let mut refusals = of_other_languages(export.net);
    let (asked, left_out): (Vec<&Property>, Vec<&Property>) =
        export.properties.iter().partition(|property| is_askable(property));
    let warnings: Vec<Diagnostic> = left_out.iter().map(|property| not_asked(property)).collect();
    if asked.is_empty() && !warnings.is_empty() {
        refusals.push(Refusal::new("none of the properties is one that SPIN can be asked about"));
    }
    if !refusals.is_empty() {
        return Err(diagnostics(refusals));
    }
    let model =
        Model::new(export.net, export.n_threads, &observed(export.properties)).map_err(diagnostics)?;
    let writer = Writer { export, model: &model, asked };
    let text = writer.text().map_err(diagnostics)?;
    Ok(PromelaModel { text, warnings })
}

fn diagnostics(refusals: Vec<Refusal>) -> Vec<Diagnostic> {
    let one = |refusal: Refusal| {
        let message = format!("cannot be written in Promela: {}", refusal.message);
        let found = Diagnostic::error("not-in-promela", message);
        match refusal.help {
            Some(help) => found.help(help),
            None => found,
        }
    };
    refusals.into_iter().map(one).collect()
}

fn not_asked(property: &Property) -> Diagnostic {
    let name = &property.name;
    Diagnostic::warning(
        "not-in-promela",
        format!("`{name}` is left out of the model: SPIN has no such check"),
    )
}

/// What only nets of other languages than C have.
fn of_other_languages(net: &Net) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if net.ended.is_none() || net.done.is_none() {
        refusals.push(Refusal::new("a net without places for ended threads and the end of the process"));
    }
    if !net.is_plain() {
        refusals.push(Refusal::new(
            "a net with priorities, indivisible sequences, or steps of two threads at once, which C has not",
        ));
    }
    refusals
}

struct Writer<'a> {
    export: &'a PromelaExport<'a>,
    model: &'a Model<'a>,
    asked: Vec<&'a Property>,
}

impl Writer<'_> {
    fn text(&self) -> Result<String, Vec<Refusal>> {
        let failing = self.failing();
        let (processes, n_kept) = self.processes(&failing)?;
        let can_stop = processes.contains("stop(");
        let mut formulas = String::new();
        let mut names: Vec<(String, &Property)> = Vec::new();
        for property in &self.asked {
            let mut name = property_name(property);
            while names.iter().any(|(other, _)| *other == name) {
                name.push('x');
            }
            if let Some(block) =
                ltl_block(self.model, property, &name, can_stop).map_err(|found| vec![found])?
            {
                formulas += &block;
                names.push((name, property));
            }
        }
        let is_open =
            processes.contains(&format!("stop({FAULT})")) || processes.contains(&format!("stop({BOUND})"));
        if is_open {
            let _ = writeln!(
                formulas,
                "\n/* Every run is followed to its end: where this is violated, `errors: 0` is not all. */\n\
                 ltl all_followed {{ [] (stopped < {FAULT}) }}"
            );
        }
        let (declarations, n_bytes) = self.model.declarations()?;
        let mut text = self.header(&names, can_stop, is_open, n_bytes);
        text += &declarations;
        let flags: Vec<String> = self
            .asked
            .iter()
            .filter(|property| is_check(property))
            .map(|property| flag_name(property))
            .collect();
        if !flags.is_empty() {
            text += "\n/* Steps that a check forbids were taken. */\n";
            flags.iter().for_each(|flag| text += &format!("bool {flag};\n"));
            text += "#ifdef ONLY_LTL\n#define FAIL(flag) flag = 1\n\
                     #else\n#define FAIL(flag) flag = 1; assert(!flag)\n#endif\n";
        }
        if can_stop {
            let _ = writeln!(
                text,
                "\n/* The run is not followed: {ASSUMPTION} an assumption failed, so that it is no run, {FAULT} undefined \
                 behaviour, {BOUND} a bound of the model. */\nbyte stopped;"
            );
        }
        if n_kept > 0 {
            text += "\n/* What a step reads before it writes. */\n";
            (0..n_kept).for_each(|number| text += &format!("hidden int kept_{number};\n"));
        }
        text += &self.inlines(can_stop);
        text += &processes;
        if self.asked.iter().any(|property| matches!(property.kind, PropertyKind::NoDeadlock)) {
            text += &self.watch(can_stop);
        }
        text += &formulas;
        Ok(text)
    }

    /// The flags that each transition sets.
    fn failing(&self) -> BTreeMap<Transition, Vec<String>> {
        let mut failing: BTreeMap<Transition, Vec<String>> = BTreeMap::new();
        for property in &self.asked {
            if let PropertyKind::NeverFires(transitions) = &property.kind {
                for transition in transitions {
                    failing.entry(*transition).or_default().push(flag_name(property));
                }
            }
        }
        failing
    }

    /// One process for each thread, and how many hidden variables they need.
    fn processes(
        &self,
        failing: &BTreeMap<Transition, Vec<String>>,
    ) -> Result<(String, usize), Vec<Refusal>> {
        let mut text = String::new();
        let mut refusals: Vec<Refusal> = Vec::new();
        let (mut n_kept, mut n_options) = (0, 0);
        for thread in 0..self.model.n_threads {
            let mut options = String::new();
            for (transition, data) in self.export.net.transitions.iter_enumerated() {
                let Some(source) = data.source() else { continue };
                let from = (source, thread, i64::MIN)..=(source, thread, i64::MAX);
                for &(_, _, depth) in self.model.possible.frames.range(from) {
                    let failing = failing.get(&transition).map_or(&[][..], Vec::as_slice);
                    let step = StepWriter { model: self.model, data, thread, depth, failing };
                    let found = match step.options() {
                        Ok(found) => found,
                        Err(refusal) => {
                            let message = format!("{} in `{}`", refusal.message, step_comment(data));
                            let refusal = Refusal { message, ..refusal };
                            if !refusals.contains(&refusal) {
                                refusals.push(refusal);
                            }
                            continue;
                        }
                    };
                    if !found.is_empty() {
                        let _ = writeln!(options, "    /* {} */", step_comment(data));
                    }
                    n_options += found.len();
                    for option in found {
                        n_kept = n_kept.max(option.n_kept);
                        let statements = option.statements.join("; ");
                        let _ =
                            writeln!(options, "    :: d_step {{ ({}) -> {statements} }}", option.condition);
                    }
                    if n_options > MAX_OPTIONS {
                        let refusal =
                            Refusal::new(format!("the model would have more than {MAX_OPTIONS} options"));
                        return Err(vec![
                            refusal.help("a smaller `--depth` or `--max-threads` makes it smaller"),
                        ]);
                    }
                }
            }
            if !options.is_empty() {
                let _ = writeln!(
                    text,
                    "\nactive proctype thread_{thread}() {{\nend:\n    do\n{options}    od\n}}"
                );
            }
        }
        if refusals.is_empty() { Ok((text, n_kept)) } else { Err(refusals) }
    }

    /// The ends of threads and of the process, and of runs that are not followed.
    fn inlines(&self, can_stop: bool) -> String {
        let model = self.model;
        let slots = model.slots();
        let ended =
            model.count_text(self.export.net.ended.unwrap_or_else(|| unreachable!("refused before")), "0");
        let clear = |only: Option<i64>| {
            let mut statements = Vec::new();
            for &(thread, depth) in slots.iter().filter(|(thread, _)| only.is_none_or(|only| *thread == only))
            {
                statements.push(format!("pc[{}] = 0", model.frame_index(thread, depth)));
                model.reset(thread, depth, &mut statements);
            }
            statements
        };
        let mut process = clear(None);
        process.push(format!("{ended}++"));
        let mut text = format!(
            "\n/* The process ends, with all its threads. */\ninline end_process() {{\n    {}\n}}\n",
            process.join(";\n    ")
        );
        let mut threads: Vec<i64> = slots.iter().map(|(thread, _)| *thread).collect();
        threads.dedup();
        for thread in threads {
            let mut statements = clear(Some(thread));
            if let Some(done) = self.export.net.done {
                statements.push(format!("{}++", model.count_text(done, &thread.to_string())));
            }
            let others = slots.iter().filter(|(other, _)| *other != thread);
            let gone: Vec<String> = others
                .map(|&(other, depth)| format!("pc[{}] == 0", model.frame_index(other, depth)))
                .collect();
            let gone = if gone.is_empty() { "true".to_owned() } else { gone.join(" && ") };
            statements.push(format!("if :: ({gone}) -> end_process() :: else fi"));
            let _ = write!(
                text,
                "\n/* Thread {thread} ends; the last one ends the process. */\ninline end_thread_{thread}() {{\n    {}\n}}\n",
                statements.join(";\n    ")
            );
        }
        if can_stop {
            let cleared: Vec<String> =
                slots.iter().map(|&(t, d)| format!("pc[{}] = 0", model.frame_index(t, d))).collect();
            let _ = write!(
                text,
                "\n/* The run is not followed any further. */\ninline stop(why) {{\n    stopped = why;\n    {}\n}}\n",
                cleared.join(";\n    ")
            );
        }
        text
    }

    /// The process that must come to its end, so that a deadlock is an invalid end state.
    fn watch(&self, can_stop: bool) -> String {
        let ended = self.export.net.ended.map_or_else(String::new, |ended| self.model.count_text(ended, "0"));
        let stopped = if can_stop { " || stopped != 0" } else { "" };
        format!(
            "\n/* Stands for the process of the program: where it cannot end and no thread can move, there is a deadlock. */\n\
             active proctype program() {{\n    ({ended} > 0{stopped})\n}}\n"
        )
    }

    /// What the model is and how it is used.
    fn header(
        &self,
        formulas: &[(String, &Property)],
        can_stop: bool,
        is_open: bool,
        n_bytes: i64,
    ) -> String {
        let net = self.export.net;
        let mut lines = vec![
            format!("{}, as a model for SPIN; made by pdnet {}.", self.export.input, self.export.version),
            format!(
                "{} transitions of the net (slicing: {}), at most {} threads, calls at most {} deep.",
                net.transitions.len(),
                self.export.slicing,
                self.export.n_threads,
                net.max_depth
            ),
            String::new(),
            "Each d_step is one step of the program, and thread_0 is the thread of main.".to_owned(),
        ];
        // The state has some more bytes for each process, and SPIN's default has room for 1024.
        let n_bytes = n_bytes + 256;
        let vector = if n_bytes > 1024 { format!(" -DVECTORSZ={n_bytes}") } else { String::new() };
        let checks: Vec<&&Property> = self.asked.iter().filter(|property| is_check(property)).collect();
        let deadlock = self.asked.iter().any(|property| matches!(property.kind, PropertyKind::NoDeadlock));
        if !checks.is_empty() || deadlock {
            lines.push(String::new());
            lines.push(format!(
                "  spin -a MODEL && gcc -fwrapv -DSAFETY -DNOCLAIM{vector} -o pan pan.c && ./pan"
            ));
            lines.push(String::new());
            for property in &checks {
                lines.push(format!(
                    "`assertion violated !({})` is a violation of pdnet's `{}`: {}.",
                    flag_name(property),
                    property.name,
                    property.text
                ));
            }
            if deadlock {
                lines.push("`invalid end state` is a violation of pdnet's `deadlock`.".to_owned());
            }
            lines.push("-A leaves out assertions, -E leaves out end states.".to_owned());
        }
        if !formulas.is_empty() {
            lines.push(String::new());
            lines.push("Formulas, each without the assertions of the checks:".to_owned());
            lines.push(String::new());
            for (name, property) in formulas {
                lines.push(format!(
                    "  spin -DONLY_LTL -a MODEL && gcc -fwrapv{vector} -o pan pan.c && ./pan -a -N {name}"
                ));
                lines.push(format!("    pdnet's `{}`: {}", property.name, property.text));
            }
            lines.push(String::new());
            lines.push(
                "Without -f that is --fair none; -f is weak fairness for at most so many processes as -DNFAIR says."
                    .to_owned(),
            );
            lines.push("A run that ends repeats its last state forever, for SPIN as for pdnet.".to_owned());
        }
        if can_stop {
            lines.push(String::new());
            lines.push("Runs with `stopped` end there and count for no formula.".to_owned());
        }
        if is_open {
            lines.push(
                "After undefined behaviour and bounds of the model (2 and 3) anything may follow.".to_owned(),
            );
            lines.push(
                "Where they are reached, SPIN's `errors: 0` is pdnet's UNKNOWN; that is asked by".to_owned(),
            );
            lines.push(String::new());
            lines.push(format!(
                "  spin -DONLY_LTL -a MODEL && gcc -fwrapv{vector} -o pan pan.c && ./pan -a -N all_followed"
            ));
        }
        let sampled = names_of_inputs(net);
        if !sampled.is_empty() {
            let sampled: Vec<String> = sampled.into_iter().collect();
            lines.push(String::new());
            lines.push(format!(
                "Not all values of these inputs are tried, so that `errors: 0` is pdnet's UNKNOWN: {}.",
                sampled.join(", ")
            ));
        }
        let mut text = String::new();
        for (number, line) in lines.iter().enumerate() {
            let line = comment(line);
            let start = if number == 0 { "/* " } else { " * " };
            text += format!("{start}{line}").trim_end();
            text.push('\n');
        }
        text + " */\n\n"
    }
}

/// Whether it becomes assertions.
const fn is_check(property: &Property) -> bool {
    matches!(property.kind, PropertyKind::NeverFires(_))
}
