//! Tasks about Promela models: what their words ask for, and models with other constants.

use anyhow::{Context, ensure};

/// A constant that a task changes: a line `#define NAME VALUE` of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Define {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// The options of `pdnet check` for a property of a model.
///
/// `LTL claim NAME` asks for that claim; all others are about assertions and invalid end states, or only about the
/// latter.
pub(crate) fn question(property: &str) -> Vec<String> {
    let options = if let Some(name) = property.strip_prefix("LTL claim ") {
        ["--claim", name.trim()]
    } else if property.contains("assertion") {
        ["--check", "assert,deadlock"]
    } else {
        ["--check", "deadlock"]
    };
    options.map(str::to_owned).to_vec()
}

/// The constants that a property names behind `#define`: `#define N 20 and L 40`.
pub(crate) fn defines(property: &str) -> Vec<Define> {
    let Some((_, list)) = property.split_once("#define ") else { return Vec::new() };
    let mut defines = Vec::new();
    let mut words = list.split_whitespace();
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        let is_value = value.parse::<i64>().is_ok();
        if !is_value {
            break;
        }
        defines.push(Define { name: name.to_owned(), value: value.to_owned() });
        if words.next() != Some("and") {
            break;
        }
    }
    defines
}

/// The text of a model with other constants.
///
/// # Errors
/// Where the model does not have them.
pub(crate) fn with_defines(text: &str, defines: &[Define]) -> anyhow::Result<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for define in defines {
        let is_it = |line: &String| {
            let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
            let words = rest.and_then(|rest| rest.strip_prefix("define"));
            words.is_some_and(|words| words.split_whitespace().next() == Some(define.name.as_str()))
        };
        let mut found = lines.iter_mut().filter(|line| is_it(line));
        let line = found.next().with_context(|| format!("the model does not define {}", define.name))?;
        ensure!(found.next().is_none(), "the model defines {} more than once", define.name);
        *line = format!("#define {} {}", define.name, define.value);
    }
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_from_their_words() {
        for (property, options, constants) in [
            ("LTL claim p1", "--claim p1", ""),
            ("no assertion violation / invalid end state; full count", "--check assert,deadlock", ""),
            ("no invalid end state; #define N 20 and L 40 (= a table)", "--check deadlock", "N=20 L=40"),
            ("no invalid end state; #define N 50 (= a table)", "--check deadlock", "N=50"),
            ("no invalid end state; #define is missing", "--check deadlock", ""),
        ] {
            assert_eq!(question(property).join(" "), options);
            let found: Vec<String> =
                defines(property).iter().map(|it| format!("{}={}", it.name, it.value)).collect();
            assert_eq!(found.join(" "), constants, "{property}");
        }
    }

    #[test]
    fn constants_are_replaced_where_the_model_has_them() {
        let text = "#define N\t5 /* nr */\n # define L 10\nbyte NN;\n";
        let define = |name: &str| Define { name: name.to_owned(), value: "7".to_owned() };
        let changed = with_defines(text, &[define("N"), define("L")]).unwrap();
        assert_eq!(changed, "#define N 7\n#define L 7\nbyte NN;\n");
        assert!(with_defines(text, &[define("NN")]).is_err());
        assert!(with_defines("#define N 1\n#define N 2\n", &[define("N")]).is_err());
    }
}
