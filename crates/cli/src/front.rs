//! The front ends behind one interface: a program in its tree, what is asked of it, and its net.
//!
//! Everything that depends on the language of the program is chosen here; the commands do not know which it is.

use std::path::Path;
use std::sync::Arc;

use pdnet_check::{Property, StopReason};
use pdnet_front_c::{Loaded, LowerOptions, Lowered, lower};
use pdnet_net::legend::Legend;
use pdnet_net::{Bound, Expr, Net};
use pdnet_report::Answer;
use pdnet_source::{Diagnostic, SourceMap};

use crate::args::{DataModel, FrontArgs, Language, ProgramArgs, PropertyArgs};
use crate::exit::Failure;
use crate::inputs::load_program;
use crate::models::{self, Question};
use crate::patience::Patience;
use crate::pipeline::{lower_options, properties_of, refused, verify};
use crate::properties::{Properties, resolve_properties};
use crate::reductions::Reductions;
use crate::session::Session;
use crate::slicing::Settled;
use crate::task::Task;

/// Endings of files with Promela models.
const PROMELA_ENDINGS: [&str; 5] = ["pml", "pm", "prom", "promela", "spin"];

/// A program as it was read.
#[derive(Debug)]
pub(crate) enum Source {
    /// A C program.
    C(Arc<Loaded>),
    /// A Promela model.
    Promela(Arc<pdnet_front_promela::Loaded>),
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
    pub(crate) net: Arc<Net>,
    pub(crate) properties: Vec<Property>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Why there is no net, where it was not waited for.
    pub(crate) missing: Option<StopReason>,
    /// What people call its steps, where it was made of a model.
    pub(crate) legend: Option<Arc<Legend>>,
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
            Language::C => Ok(Self::C(Arc::new(load_program(map, program, front, data_model)?))),
            Language::Promela => Ok(Self::Promela(Arc::new(models::load_model(map, program, front)?))),
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
        reduce: &Reductions,
    ) -> Result<Asked, Vec<Diagnostic>> {
        match self {
            Self::C(loaded) => {
                models::refuse_claims(map, args)?;
                let common = resolve_properties(map, args, task, &loaded.annotations, reduce)?;
                Ok(Asked { common, questions: Vec::new() })
            }
            Self::Promela(loaded) => {
                let (questions, notes) = models::resolve_questions(map, args, Arc::make_mut(loaded), reduce)?;
                Ok(Asked { common: Properties { notes, ..Properties::default() }, questions })
            }
        }
    }

    /// Tree to net, however long that takes.
    ///
    /// # Errors
    /// What has no net, and nets that break the rules.
    pub(crate) fn model(
        &self,
        session: &Session,
        asked: &Asked,
        front: &FrontArgs,
    ) -> Result<Model, Failure> {
        let map = Arc::new(session.map.clone());
        let interrupted = Arc::clone(&session.interrupted);
        let patience = Patience { start: session.start, timeout: None, interrupted };
        Modelling { map, source: self, asked, front }.model(&patience)
    }
}

/// What nets are made of.
pub(crate) struct Modelling<'a> {
    pub(crate) map: Arc<SourceMap>,
    pub(crate) source: &'a Source,
    pub(crate) asked: &'a Asked,
    pub(crate) front: &'a FrontArgs,
}

impl Modelling<'_> {
    /// Tree to net.
    ///
    /// # Errors
    /// What has no net, and nets that break the rules.
    pub(crate) fn model(&self, patience: &Patience) -> Result<Model, Failure> {
        match self.source {
            Source::C(loaded) => {
                self.c_model(loaded, lower_options(self.front, &self.asked.common), patience)
            }
            Source::Promela(loaded) => self.promela_model(loaded, models::FEW_PROCESSES, patience),
        }
    }

    /// Another net, in which answers may be found that the first one does not give: a larger one, and so not the first.
    ///
    /// # Errors
    /// As for the first.
    pub(crate) fn larger_model(
        &self,
        patience: &Patience,
        answers: &[Settled],
    ) -> Result<Option<Model>, Failure> {
        match self.source {
            Source::C(loaded) => {
                // Some run reads memory that was never written. Only for such programs there is a net in which it has
                // arbitrary values.
                let options = lower_options(self.front, &self.asked.common);
                if options.uninitialised || !answers.iter().any(needs_unset) {
                    return Ok(None);
                }
                let options = LowerOptions { arbitrary_memory: true, ..options };
                self.c_model(loaded, options, patience).map(Some)
            }
            Source::Promela(loaded) => {
                if self.front.max_threads.is_some() || !answers.iter().any(needs_processes) {
                    return Ok(None);
                }
                self.promela_model(loaded, models::MOST_PROCESSES, patience).map(Some)
            }
        }
    }

    fn c_model(
        &self,
        loaded: &Arc<Loaded>,
        options: LowerOptions,
        patience: &Patience,
    ) -> Result<Model, Failure> {
        let formulas = self.asked.common.formulas();
        let nothing: Vec<Vec<Expr>> =
            formulas.iter().map(|formula| vec![Expr::Const(0); formula.atoms.len()]).collect();
        let (map, loaded) = (Arc::clone(&self.map), Arc::clone(loaded));
        let made = patience.wait_for(move || {
            let lowered = lower(&map, &loaded.program, &formulas, &options).map_err(refused)?;
            verify(&lowered.net)?;
            Ok(lowered)
        });
        let (lowered, missing) = match made {
            Ok(lowered) => (lowered?, None),
            Err(reason) => {
                let lowered = Lowered { net: Net::default(), atoms: nothing, warnings: Vec::new() };
                (lowered, Some(reason))
            }
        };
        let properties = properties_of(&self.asked.common, &lowered)?;
        let Lowered { net, warnings, .. } = lowered;
        Ok(Model { net: Arc::new(net), properties, warnings, missing, legend: None, spin_ids: Vec::new() })
    }

    fn promela_model(
        &self,
        loaded: &Arc<pdnet_front_promela::Loaded>,
        max_processes: u32,
        patience: &Patience,
    ) -> Result<Model, Failure> {
        let questions = &self.asked.questions;
        let observed = models::observed(questions);
        let n_atoms = observed.len();
        let max_processes = self.front.max_threads.unwrap_or(max_processes);
        let (map, loaded) = (Arc::clone(&self.map), Arc::clone(loaded));
        let made = patience.wait_for(move || models::lower_model(&map, &loaded, &observed, max_processes));
        let (lowered, missing) = match made {
            Ok(lowered) => (lowered?, None),
            Err(reason) => (models::no_net(n_atoms), Some(reason)),
        };
        let properties = models::properties(questions, &lowered);
        let pdnet_front_promela::Lowered { net, warnings, spin_ids, legend, .. } = lowered;
        let legend = Some(Arc::new(legend));
        Ok(Model { net: Arc::new(net), properties, warnings, missing, legend, spin_ids })
    }
}

/// Whether an answer is missing because some run reads memory that was never written.
fn needs_unset(settled: &Settled) -> bool {
    matches!(&settled.answer, Answer::Unknown(StopReason::Undefined { fault, .. }) if fault.needs_unset())
}

/// Whether an answer is missing because some run makes more processes than the net has.
fn needs_processes(settled: &Settled) -> bool {
    matches!(&settled.answer, Answer::Unknown(StopReason::Bound { bound: Bound::Threads, .. }))
}
