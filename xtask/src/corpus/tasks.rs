//! Tasks from task definitions (`.yml`) of SV-COMP, in a folder or in a list (`.set`).

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use saphyr::{LoadableYamlNode, SafelyIndex, Yaml};

use super::index::{Kind, Task};

/// The definitions below a folder, in the order of their names, or those that a `.set` file names.
pub(crate) fn definitions(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if path.is_dir() {
        walk(path, &mut found)?;
    } else if has_ending(path, "yml") {
        found.push(path.to_owned());
    } else {
        ensure!(has_ending(path, "set"), "{} is no folder, no .set file and no .yml file", path.display());
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let pattern = folder.join(line);
            let paths = glob::glob(&pattern.display().to_string())
                .with_context(|| format!("in {}: `{line}`", path.display()))?;
            let n_before = found.len();
            found.extend(paths.filter_map(Result::ok).filter(|path| has_ending(path, "yml")));
            if found.len() == n_before {
                eprintln!("{}: no task definition matches `{line}`", path.display());
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The properties of a definition that have an expected verdict, each as one task.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Task>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text, &path.display().to_string()).with_context(|| format!("in {}", path.display()))
}

fn parse(text: &str, file: &str) -> anyhow::Result<Vec<Task>> {
    let documents = Yaml::load_from_str(text)?;
    let document = documents.first().context("the file is empty")?;
    let properties = document.get("properties").and_then(Yaml::as_vec).map_or(&[][..], Vec::as_slice);
    let mut tasks = Vec::new();
    for property in properties {
        let Some(expected) = property.get("expected_verdict") else { continue };
        let Some(expected) = expected.as_bool() else { bail!("a verdict is true or false") };
        let name =
            property.get("property_file").and_then(Yaml::as_str).context("`property_file` is missing")?;
        let name = Path::new(name).file_stem().context("a property file without a name")?;
        let property = name.to_string_lossy().into_owned();
        tasks.push(Task { kind: Kind::Task, file: file.to_owned(), property, expected });
    }
    Ok(tasks)
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, found)?;
        } else if has_ending(&path, "yml") {
            found.push(path);
        }
    }
    Ok(())
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_with_an_expected_verdict_is_a_task() {
        let text = "format_version: '2.0'\ninput_files: a.i\nproperties:\n  - property_file: ../p/unreach-call.prp\n    \
                    expected_verdict: false\n  - property_file: ../p/coverage-branches.prp\n  - property_file: t.prp\n    \
                    expected_verdict: true\n";
        let task = |property: &str, expected| Task {
            kind: Kind::Task,
            file: "a.yml".into(),
            property: property.into(),
            expected,
        };
        assert_eq!(parse(text, "a.yml").unwrap(), [task("unreach-call", false), task("t", true)]);
        assert_eq!(parse("format_version: '2.0'\n", "a.yml").unwrap(), []);
        for bad in [
            "",
            "properties:\n  - expected_verdict: true\n",
            "properties:\n  - expected_verdict: 3\n",
            "a: [",
        ] {
            assert!(parse(bad, "a.yml").is_err(), "{bad:?}");
        }
    }

    #[test]
    fn folders_are_walked_and_sets_are_patterns() {
        let folder = std::env::temp_dir().join(format!("pdnet-xtask-test-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        for name in ["b.yml", "sub/a.yml", "sub/c.c", "only.set"] {
            std::fs::write(folder.join(name), "# a comment\n\nsub/*\n").unwrap();
        }
        let names = |path: &Path| {
            let found = definitions(path).unwrap();
            found
                .iter()
                .map(|path| path.strip_prefix(&folder).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        let (all, listed) = (names(&folder), names(&folder.join("only.set")));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(all, ["b.yml", "sub/a.yml"]);
        assert_eq!(listed, ["sub/a.yml"]);
    }
}
