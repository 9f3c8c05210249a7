//! Which statements of a model no run executes.

use std::collections::BTreeSet;

use pdnet_check::StopReason;
use pdnet_net::Transition;
use pdnet_net::legend::{Legend, StatementWords};

/// What was found out about statements that are never executed.
#[derive(Clone, Debug)]
pub enum Unreached {
    /// All runs are known. For each proctype, in the order of the model, what no run executes.
    Known(Vec<UnreachedProcess>),
    /// Not all runs are known, and why.
    Unknown(StopReason),
}

/// The statements of one proctype.
#[derive(Clone, Debug)]
pub struct UnreachedProcess {
    /// Its name.
    pub name: String,
    /// How many statements it has, its end included.
    pub n_statements: usize,
    /// Those that are never executed.
    pub statements: Vec<StatementWords>,
}

impl Unreached {
    /// From the transitions that fire in no run.
    #[must_use]
    pub fn new(legend: &Legend, never: Result<Vec<Transition>, StopReason>) -> Self {
        let never: BTreeSet<Transition> = match never {
            Ok(never) => never.into_iter().collect(),
            Err(reason) => return Self::Unknown(reason),
        };
        let mut processes: Vec<UnreachedProcess> = Vec::new();
        for statement in &legend.statements {
            let is_new = processes.last().is_none_or(|last| last.name != statement.process);
            if is_new {
                let name = statement.process.clone();
                processes.push(UnreachedProcess { name, n_statements: 0, statements: Vec::new() });
            }
            let Some(process) = processes.last_mut() else { continue };
            process.n_statements += 1;
            if statement.steps.iter().all(|step| never.contains(step)) {
                process.statements.push(statement.clone());
            }
        }
        Self::Known(processes)
    }
}

impl UnreachedProcess {
    /// `proctype P: 2 of 7 statements are never executed`.
    pub(crate) fn sentence(&self) -> String {
        let name = match self.name.trim_matches(':') {
            "init" => "init".to_owned(),
            name => format!("proctype {name}"),
        };
        match (self.statements.len(), self.n_statements) {
            (0, all) => format!("{name}: all {all} statements are executed"),
            (never, all) if never == all => format!("{name}: none of its {all} statements is ever executed"),
            (never, all) => format!("{name}: {never} of {all} statements are never executed"),
        }
    }
}
