//! The front ends behind one interface: a program in its tree, what is asked of it, and its net.
//!
//! Everything that depends on the language of the program is chosen here; the commands do not know which it is.

use std::path::Path;

use pdnet_check::{Property, StopReason};
use pdnet_front_c::{Loaded, LowerOptions, lower};
use pdnet_net::{Bound, Net};
use pdnet_report::Answer;
use pdnet_source::{Diagnostic, SourceMap};

use crate::args::{DataModel, FrontArgs, Language, ProgramArgs, PropertyArgs, Reduce};
use crate::exit::Failure;
use crate::inputs::load_program;
use crate::models::{self, Question};
use crate::pipeline::{lower_options, properties_of, refused, verify};
use crate::properties::{Properties, resolve_properties};
use crate::session::Session;
use crate::slicing::Settled;
use crate::task::Task;

/// Endings of files with Promela models.
const PROMELA_ENDINGS: [&str; 5] = ["pml", "pm", "prom", "promela", "spin"];

/// A program as it was read.
#[derive(Debug)]
pub(crate) enum Source {
    /// A C program.
    C(Box<Loaded>),
    /// A Promela model.
    Promela(Box<pdnet_front_promela::Loaded>),
}

/// What is asked of a program.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// What languages have in common, and all that is asked of a C program.
    pub(crate) common: Properties,
    /// What is asked of a Promela model.
    pub(crate) questions: Vec<Question>,
}

/// The net of a program, and what is asked of it in terms of the net.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) net: Net,
    pub(crate) properties: Vec<Property>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// SPIN's numbers for the steps of transitions, for trails. Empty where the program is no model of SPIN.
    pub(crate) spin_ids: Vec<(u32, Option<u32>)>,
}

/// The language of a program.
pub(crate) fn language(program: &ProgramArgs, front: &FrontArgs) -> Language {
    let is_promela = |path: &Path| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| PROMELA_ENDINGS.contains(&ending.as_str()))
    };
    let by_name =
        if program.files.iter().any(|path| is_promela(path)) { Language::Promela } else { Language::C };
    front.language.unwrap_or(by_name)
}

impl Source {
    /// Text to tree.
    ///
    /// # Errors
    /// What is wrong with the files.
    pub(crate) fn load(
        map: &mut SourceMap,
        program: &ProgramArgs,
        front: &FrontArgs,
        data_model: DataModel,
    ) -> Result<Self, Vec<Diagnostic>> {
        match language(program, front) {
            Language::C => Ok(Self::C(Box::new(load_program(map, program, front, data_model)?))),
            Language::Promela => Ok(Self::Promela(Box::new(models::load_model(map, program, front)?))),
        }
    }

    /// What the user should know about the text.
    pub(crate) fn warnings(&self) -> &[Diagnostic] {
        match self {
            Self::C(loaded) => &loaded.warnings,
            Self::Promela(loaded) => &loaded.warnings,
        }
    }

    /// Finds out what is to be checked.
    ///
    /// # Errors
    /// What is wrong with formulas and names.
    pub(crate) fn ask(
        &mut self,
        map: &mut SourceMap,
        args: &PropertyArgs,
        task: Option<&Task>,
        reduce: Reduce,
    ) -> Result<Asked, Vec<Diagnostic>> {
        match self {
            Self::C(loaded) => {
                models::refuse_claims(map, args)?;
                let common = resolve_properties(map, args, task, &loaded.annotations, reduce)?;
                Ok(Asked { common, questions: Vec::new() })
            }
            Self::Promela(loaded) => {
                let (questions, notes) = models::resolve_questions(map, args, loaded, reduce)?;
                Ok(Asked { common: Properties { notes, ..Properties::default() }, questions })
            }
        }
    }

    /// Tree to net.
    ///
    /// # Errors
    /// What has no net, and nets that break the rules.
    pub(crate) fn model(
        &self,
        session: &Session,
        asked: &Asked,
        front: &FrontArgs,
    ) -> Result<Model, Failure> {
        match self {
            Self::C(loaded) => c_model(session, loaded, asked, &lower_options(front, &asked.common)),
            Self::Promela(loaded) => {
                models::model(session, loaded, &asked.questions, front, models::FEW_PROCESSES)
            }
        }
    }

    /// Another net, in which answers may be found that this one does not give: a larger one, and so not the first.
    ///
    /// # Errors
    /// As for the first.
    pub(crate) fn larger_model(
        &self,
        session: &Session,
        asked: &Asked,
        front: &FrontArgs,
        answers: &[Settled],
    ) -> Result<Option<Model>, Failure> {
        match self {
            Self::C(loaded) => {
                // Some run reads memory that was never written. Only for such programs there is a net in which it has
                // arbitrary values.
                let options = lower_options(front, &asked.common);
                if options.uninitialised || !answers.iter().any(needs_unset) {
                    return Ok(None);
                }
                let options = LowerOptions { arbitrary_memory: true, ..options };
                c_model(session, loaded, asked, &options).map(Some)
            }
            Self::Promela(loaded) => {
                if front.max_threads.is_some() || !answers.iter().any(needs_processes) {
                    return Ok(None);
                }
                models::model(session, loaded, &asked.questions, front, models::MOST_PROCESSES).map(Some)
            }
        }
    }
}

fn c_model(
    session: &Session,
    loaded: &Loaded,
    asked: &Asked,
    options: &LowerOptions,
) -> Result<Model, Failure> {
    let lowered = lower(&session.map, &loaded.program, &asked.common.formulas(), options).map_err(refused)?;
    verify(&lowered.net)?;
    let properties = properties_of(&asked.common, &lowered)?;
    Ok(Model { net: lowered.net, properties, warnings: lowered.warnings, spin_ids: Vec::new() })
}

/// Whether an answer is missing because some run reads memory that was never written.
fn needs_unset(settled: &Settled) -> bool {
    matches!(&settled.answer, Answer::Unknown(StopReason::Undefined { fault, .. }) if fault.needs_unset())
}

/// Whether an answer is missing because some run makes more processes than the net has.
fn needs_processes(settled: &Settled) -> bool {
    matches!(&settled.answer, Answer::Unknown(StopReason::Bound { bound: Bound::Threads, .. }))
}
