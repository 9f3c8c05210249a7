//! The list of tasks.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;

use super::models::{self, Define};

/// What is asked in a task; the kinds that pdnet has an option for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Kind {
    /// No error call is reached and no assertion fails.
    #[value(name = "c-reach")]
    Reach,
    /// There is no data race.
    #[value(name = "c-race")]
    Race,
    /// There is no deadlock.
    #[value(name = "c-deadlock")]
    Deadlock,
    /// A formula holds.
    #[value(name = "c-ltl")]
    Ltl,
    /// A Promela model: a claim holds, or no assertion fails and no end state is invalid.
    #[value(name = "promela")]
    Promela,
    /// A property of a task definition; these do not stand in an index.
    #[value(name = "task")]
    Task,
}

impl Kind {
    /// As it stands in the index.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reach => "c-reach",
            Self::Race => "c-race",
            Self::Deadlock => "c-deadlock",
            Self::Ltl => "c-ltl",
            Self::Promela => "promela",
            Self::Task => "task",
        }
    }
}

/// One line of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) kind: Kind,
    /// Below the folder of the index.
    pub(crate) file: String,
    pub(crate) property: String,
    pub(crate) expected: bool,
}

impl Task {
    /// The options of `pdnet check` that ask for the property.
    ///
    /// That a certain function is not called is asked as the formula that it is. All other wordings of c-reach
    /// are about assertions.
    pub(crate) fn question(&self) -> Vec<String> {
        let check = |name: &str| vec!["--check".to_owned(), name.to_owned()];
        let formula = || vec!["--ltl".to_owned(), self.property.clone()];
        match self.kind {
            Kind::Reach if self.property.starts_with("G !call(") => formula(),
            Kind::Reach => check("assert"),
            Kind::Race => check("race"),
            Kind::Deadlock => check("deadlock"),
            Kind::Ltl => formula(),
            Kind::Promela => models::question(&self.property),
            Kind::Task => vec!["--property".to_owned(), self.property.clone()],
        }
    }

    /// The constants of the model that the task changes.
    pub(crate) fn defines(&self) -> Vec<Define> {
        match self.kind {
            Kind::Promela => models::defines(&self.property),
            Kind::Reach | Kind::Race | Kind::Deadlock | Kind::Ltl | Kind::Task => Vec::new(),
        }
    }
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// In the order of the file.
    pub(crate) tasks: Vec<Task>,
    /// Kinds that pdnet does not know, with the number of their lines.
    pub(crate) other_kinds: BTreeMap<String, usize>,
}

/// Reads the text of an index. There is no quoting: a quotation mark is part of a formula.
pub(crate) fn parse(text: &str) -> anyhow::Result<Index> {
    let mut lines = text.lines().zip(1..);
    let (header, _) = lines.next().context("the index is empty")?;
    let header: Vec<&str> = header.split('\t').collect();
    let column = |name: &str| {
        header.iter().position(|it| *it == name).with_context(|| format!("there is no column `{name}`"))
    };
    let (kind, file, property, expected) =
        (column("kind")?, column("file")?, column("property")?, column("expected")?);

    let mut index = Index::default();
    for (line, number) in lines {
        if line.trim().is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        ensure!(
            fields.len() == header.len(),
            "line {number} has {} columns instead of {}",
            fields.len(),
            header.len()
        );
        let Some(kind) = Kind::value_variants().iter().find(|it| it.name() == fields[kind]) else {
            *index.other_kinds.entry(fields[kind].to_owned()).or_default() += 1;
            continue;
        };
        // A remark may follow, such as the number of states.
        let verdict = fields[expected].split_once(' ').map_or(fields[expected], |(verdict, _)| verdict);
        let expected = match verdict {
            "true" => true,
            "false" => false,
            other => bail!("line {number}: `{other}` is expected, which is neither true nor false"),
        };
        let task = Task {
            kind: *kind,
            file: fields[file].to_owned(),
            property: fields[property].to_owned(),
            expected,
        };
        index.tasks.push(task);
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_quotation_marks_are_kept() {
        let text = "file\tkind\texpected\tproperty\tnote\n\
                    a.c\tc-ltl\ttrue\tGF\"x == 1\"\t-\n\
                    \n\
                    b.pml\tpromela\ttrue states=3\tLTL claim p\t-\n\
                    b.dve\tdve\ttrue\t-\t-\n\
                    c.c\tc-deadlock\tfalse\tno deadlock\t\n";
        let index = parse(text).unwrap();
        let task = |kind, file: &str, property: &str, expected| Task {
            kind,
            file: file.into(),
            property: property.into(),
            expected,
        };
        assert_eq!(
            index.tasks,
            [
                task(Kind::Ltl, "a.c", "GF\"x == 1\"", true),
                task(Kind::Promela, "b.pml", "LTL claim p", true),
                task(Kind::Deadlock, "c.c", "no deadlock", false)
            ]
        );
        assert_eq!(index.other_kinds, BTreeMap::from([("dve".to_owned(), 1)]));
    }

    #[test]
    fn a_bad_index_is_refused_with_the_line() {
        for (text, message) in [
            ("", "the index is empty"),
            ("kind\tfile\tproperty\n", "there is no column `expected`"),
            (
                "kind\tfile\tproperty\texpected\nc-race\ta.c\tno race\tmaybe\n",
                "line 2: `maybe` is expected, which is neither true nor false",
            ),
            ("kind\tfile\tproperty\texpected\nc-race\ta.c\n", "line 2 has 2 columns instead of 4"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn names_on_the_command_line_are_those_of_the_index() {
        for kind in Kind::value_variants() {
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.name());
        }
    }

    #[test]
    fn each_kind_has_its_question() {
        for (kind, property, options) in [
            (Kind::Reach, "G !call(fail)", "--ltl G !call(fail)"),
            (Kind::Reach, "G !assert-fail", "--check assert"),
            (Kind::Race, "no-data-race", "--check race"),
            (Kind::Deadlock, "no deadlock", "--check deadlock"),
            (Kind::Ltl, "F(x == 1)", "--ltl F(x == 1)"),
            (Kind::Promela, "LTL claim p", "--claim p"),
            (Kind::Task, "unreach-call", "--property unreach-call"),
        ] {
            let task = Task { kind, file: "a.c".into(), property: property.into(), expected: true };
            assert_eq!(task.question().join(" "), options);
        }
    }
}
