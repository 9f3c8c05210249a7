//! The system's compiler as a judge of types: each expression of the snippets has the type that it says.
//! Without a compiler the test does nothing.

mod support;
mod typed_places;

use std::fmt::Write as _;
use std::process::Command;

use pdnet_front_c::tree::Program;
use pdnet_front_c::types::{DataModel, QualType, Type};
use typed_places::our_places;
use typed_places::snippets::{SNIPPETS, program_of};

/// A type in C; `None` for what cannot be asked about.
fn written(program: &Program, ty: &Type) -> Option<String> {
    // Behind a pointer qualifiers belong to the type.
    let qualified = |ty: &QualType| {
        let text = written(program, &ty.ty)?;
        let constant = if ty.quals.is_const { "const " } else { "" };
        let volatile = if ty.quals.is_volatile { "volatile " } else { "" };
        Some(format!("{constant}{volatile}{text}"))
    };
    Some(match ty {
        Type::Void | Type::Int(_) | Type::Float(_) => ty.display(program),
        Type::Record(record) if !program.records[*record].tag.is_empty() => ty.display(program),
        Type::Pointer(target) => format!("__typeof__({} *)", qualified(target)?),
        Type::Array(element, Some(length)) => format!("__typeof__({}[{length}])", qualified(element)?),
        Type::Array(_, None) | Type::Record(_) | Type::Thread | Type::Function(_) | Type::Sync(_) => {
            return None;
        }
    })
}

/// Whether the value is that of a bit-field: gcc gives it a type of as many bits, which has no name.
fn is_bit_field(source: &str) -> bool {
    let fields = ["s.u3", "s.i7", "s.u32", "ps->u3", "ps->i7"];
    let writes = |field: &str| {
        let rest = source.strip_prefix(field).map(str::trim_start);
        rest.is_some_and(|rest| ["=", "+=", "++"].iter().any(|operator| rest.starts_with(operator)))
    };
    fields.iter().any(|field| source == *field || writes(field))
}

#[test]
fn expressions_have_the_types_that_the_compiler_says() {
    let has_compiler =
        Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_compiler {
        return;
    }
    let mut n_types = 0;
    // What a statement expression declares is not known behind it.
    for snippet in SNIPPETS.iter().filter(|snippet| !snippet.contains("({")) {
        let text = program_of(snippet, "");
        let (map, result) = support::load_text(&text, DataModel::Lp64);
        let loaded = result.unwrap_or_else(|errors| panic!("{}", support::rendered(&map, &errors)));
        let mut probes = String::new();
        for ((start, end), chain) in our_places(&loaded.program) {
            let source = &text[start..end];
            let ty = chain.own.as_ref().and_then(|ty| written(&loaded.program, ty));
            if let (Some(ty), false, false) =
                (ty, chain.constant || source.starts_with('"'), is_bit_field(source))
            {
                n_types += 1;
                let _ = writeln!(
                    probes,
                    "_Static_assert(__builtin_types_compatible_p(__typeof__({source}), {ty}), \"{ty}\");"
                );
            }
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("probe.c");
        std::fs::write(&path, program_of(snippet, &probes)).expect("written");
        let output = Command::new("cc").args(["-std=gnu17", "-w", "-fsyntax-only"]).arg(&path).output();
        let output = output.expect("the compiler runs");
        assert!(output.status.success(), "{snippet}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    // The comparison must not become empty when places change.
    assert!(n_types > 500, "{n_types}");
}
