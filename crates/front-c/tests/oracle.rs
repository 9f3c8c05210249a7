//! The system's compiler as a judge: types and values of random expressions, layouts of random structs.
//! Without a compiler these tests do nothing.

mod support;

use std::fmt::Write as _;
use std::process::Command;

use pdnet_base::Rng;
use pdnet_front_c::tree::{Expr, ExprKind, Init, StmtKind};
use pdnet_front_c::types::{DataModel, Type};

const TYPES: [&str; 13] = [
    "_Bool",
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "enum color",
];

/// Compiles and runs a program; `None` where there is no compiler for this machine.
fn run(source: &str) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("oracle.c");
    let binary = folder.path().join("oracle");
    std::fs::write(&path, source).expect("written");
    let compiled = Command::new("cc").args(["-w", "-fwrapv", "-o"]).arg(&binary).arg(&path).output();
    let compiled = compiled.ok()?;
    assert!(compiled.status.success(), "{}\n{source}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&binary).output().expect("runs");
    Some(String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect())
}

/// The variables that expressions are made of: one of each type, `v0`, `v1`, … and two bit-fields.
fn declarations() -> String {
    let mut text = "enum color { RED, GREEN };\n".to_owned();
    for (number, ty) in TYPES.iter().enumerate() {
        let _ = writeln!(text, "{ty} v{number};");
    }
    text + "struct { unsigned f : 3; int g : 7; unsigned h : 32; long w; } s; int *p; double d; float f;\n"
}

fn random_expression(rng: &mut Rng, depth: usize, constant: bool) -> String {
    if depth == 0 {
        let literals = [
            "0",
            "1",
            "7",
            "'a'",
            "2147483647",
            "2147483648",
            "0xffffffff",
            "4294967296",
            "1u",
            "3l",
            "5ul",
            "6ll",
            "9ull",
            "017",
            "'\\377'",
            "sizeof(int)",
            "GREEN",
            "0x7fffffffffffffff",
            "255",
        ];
        if constant || rng.chance(30) {
            return (*rng.pick(&literals)).to_owned();
        }
        return match rng.below(TYPES.len() + 4) {
            13 => "s.f".to_owned(),
            14 => "s.g".to_owned(),
            15 => "s.h".to_owned(),
            16 => "s.w".to_owned(),
            number => format!("v{number}"),
        };
    }
    let inner = |rng: &mut Rng| {
        let depth = rng.below(depth);
        random_expression(rng, depth, constant)
    };
    match rng.below(if constant { 9 } else { 12 }) {
        0 => format!("-({})", inner(rng)),
        1 => format!("~({})", inner(rng)),
        2 => format!("!({})", inner(rng)),
        3 => {
            let ty = rng.pick(&TYPES);
            format!("({ty})({})", inner(rng))
        }
        4 => format!("(({}) {} {})", inner(rng), rng.pick(&["<<", ">>"]), rng.below(8)),
        5 => format!("(({}) {} {})", inner(rng), rng.pick(&["/", "%"]), rng.below(9) + 1),
        6 => format!("(({}) ? ({}) : ({}))", inner(rng), inner(rng), inner(rng)),
        7 | 8 => {
            let op = rng.pick(&["+", "-", "*", "&", "|", "^", "<", ">=", "==", "!=", "&&", "||"]);
            format!("(({}) {op} ({}))", inner(rng), inner(rng))
        }
        9 => {
            let op = rng.pick(&["=", "+=", "-=", "&=", "<<=", "*="]);
            format!("(v{} {op} ({}))", rng.below(TYPES.len()), inner(rng))
        }
        10 => format!("(s.{} {} ({}))", rng.pick(&["f", "g", "w"]), rng.pick(&["=", "|="]), inner(rng)),
        _ => format!("(v{}{})", 1 + rng.below(TYPES.len() - 1), rng.pick(&["++", "--"])),
    }
}

fn statements(text: &str) -> (pdnet_front_c::tree::Program, Vec<Expr>) {
    let (map, result) = support::load_text(text, DataModel::Lp64);
    let loaded = result.unwrap_or_else(|diagnostics| panic!("{}", support::rendered(&map, &diagnostics)));
    let main = &loaded.program.functions[loaded.program.main];
    let stmts = &main.body.as_ref().expect("a body").stmts;
    let exprs = stmts
        .iter()
        .filter_map(|stmt| match &stmt.kind {
            StmtKind::Expr(expr) => Some(expr.clone()),
            _ => None,
        })
        .collect();
    (loaded.program, exprs)
}

#[test]
fn types_of_random_expressions() {
    let seed = Rng::test_seed(1);
    let mut rng = Rng::new(seed);
    let expressions: Vec<String> = (0..600)
        .map(|_| {
            let depth = 1 + rng.below(4);
            random_expression(&mut rng, depth, false)
        })
        .collect();
    let mut oracle = format!("#include <stdio.h>\n{}int main(void) {{\n", declarations());
    let mut ours = format!("{}int main(void) {{\n", declarations());
    for expression in &expressions {
        // A bit-field has no size; with a plus in front it has its promoted type.
        let _ = writeln!(
            oracle,
            "printf(\"%d %d\\n\", (int)sizeof(+({expression})), ((__typeof__(+({expression})))-1 < 0));"
        );
        let _ = writeln!(ours, "+({expression});");
    }
    oracle.push_str("}\n");
    ours.push_str("}\n");
    let Some(lines) = run(&oracle) else { return };
    let (_, exprs) = statements(&ours);
    assert_eq!(lines.len(), exprs.len());
    for ((expression, line), expr) in expressions.iter().zip(&lines).zip(&exprs) {
        let Type::Int(kind) = expr.ty else { panic!("{expression}: not an integer") };
        let found = format!("{} {}", kind.bits(DataModel::Lp64) / 8, i32::from(kind.is_signed()));
        assert_eq!(&found, line, "seed {seed}: {expression}");
    }
}

#[test]
fn values_of_random_constants() {
    let seed = Rng::test_seed(2);
    let mut rng = Rng::new(seed);
    let expressions: Vec<String> = (0..600)
        .map(|_| {
            let depth = 1 + rng.below(5);
            random_expression(&mut rng, depth, true)
        })
        .collect();
    let mut oracle = "#include <stdio.h>\nenum color { RED, GREEN };\nint main(void) {\n".to_owned();
    let mut ours = "enum color { RED, GREEN };\n".to_owned();
    for (number, expression) in expressions.iter().enumerate() {
        let _ = writeln!(oracle, "printf(\"%lld\\n\", (long long)({expression}));");
        let _ = writeln!(ours, "long long c{number} = ({expression});");
    }
    oracle.push_str("}\n");
    ours.push_str("int main(void) { return 0; }\n");
    let Some(lines) = run(&oracle) else { return };
    let (map, result) = support::load_text(&ours, DataModel::Lp64);
    let loaded = result.unwrap_or_else(|diagnostics| panic!("{}", support::rendered(&map, &diagnostics)));
    for ((expression, line), data) in expressions.iter().zip(&lines).zip(&loaded.program.variables) {
        let Some(Init::Value(Expr { kind: ExprKind::Int(value), .. })) = &data.init else {
            panic!("seed {seed}: {expression} was not folded: {:?}", data.init)
        };
        assert_eq!(&value.to_string(), line, "seed {seed}: {expression}");
    }
}

fn random_struct(rng: &mut Rng, number: usize) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut fields = Vec::new();
    for field in 0..1 + rng.below(6) {
        let kind = rng.below(10);
        let integer = *rng.pick(&TYPES[1..12]);
        match kind {
            0..=3 => {
                let width = 1 + rng.below(8);
                let _ = write!(text, "{integer} f{field} : {width}; ");
            }
            4 => {
                let _ = write!(text, "{integer} : {}; ", rng.below(7));
            }
            5 => {
                let _ = write!(text, "{integer} f{field}[{}]; ", 1 + rng.below(3));
                fields.push(format!("f{field}"));
            }
            6 if number > 0 => {
                let _ = write!(text, "struct s{} f{field}; ", rng.below(number));
                fields.push(format!("f{field}"));
            }
            7 => {
                let _ = write!(
                    text,
                    "{} f{field}; ",
                    rng.pick(&["double", "float", "char *", "long double", "_Bool"])
                );
                fields.push(format!("f{field}"));
            }
            _ => {
                let _ = write!(text, "{integer} f{field}; ");
                fields.push(format!("f{field}"));
            }
        }
    }
    let attribute = match rng.below(6) {
        0 => "__attribute__((packed)) ",
        1 => "__attribute__((aligned(16))) ",
        _ => "",
    };
    (format!("struct {attribute}s{number} {{ int first; {text}}};"), fields)
}

#[test]
fn layouts_of_random_structs() {
    let seed = Rng::test_seed(3);
    let mut rng = Rng::new(seed);
    let mut oracle = "#include <stdio.h>\n#include <stddef.h>\n".to_owned();
    let mut ours = String::new();
    let (mut prints, mut asked, mut structs) = (String::new(), String::new(), Vec::new());
    for number in 0..150 {
        let (text, fields) = random_struct(&mut rng, number);
        oracle += &format!("{text}\n");
        ours += &format!("{text}\n");
        let mut measures = vec![format!("sizeof(struct s{number})"), format!("_Alignof(struct s{number})")];
        measures.extend(fields.iter().map(|field| format!("__builtin_offsetof(struct s{number}, {field})")));
        for measure in measures {
            let _ = writeln!(prints, "printf(\"%zu\\n\", {measure});");
            let _ = writeln!(asked, "{measure};");
            structs.push(format!("{measure} in {text}"));
        }
    }
    let Some(lines) = run(&format!("{oracle}int main(void) {{\n{prints}}}\n")) else { return };
    let (_, exprs) = statements(&format!("{ours}int main(void) {{\n{asked}}}\n"));
    assert_eq!(lines.len(), exprs.len());
    for ((text, line), expr) in structs.iter().zip(&lines).zip(&exprs) {
        let ExprKind::Int(value) = expr.kind else { panic!("{text}: no constant") };
        assert_eq!(&value.to_string(), line, "seed {seed}: {text}");
    }
}
