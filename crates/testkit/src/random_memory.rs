//! Random sequential C programs about memory: structs, unions, bit-fields, arrays, pointers, the heap, function
//! pointers, floating point. They have no undefined behaviour, no value that C leaves open, and one result: a
//! checksum of all their objects. So what pdnet computes can be compared with what the compiled program does.
//!
//! Names that must be unique in the file end in `@`, which stands for the number of the program: many programs go
//! through the compiler at once.

mod expressions;
mod statements;

use std::fmt::Write as _;

use pdnet_base::Rng;

/// A random sequential program.
#[derive(Clone, Debug)]
pub struct RandomMemory {
    text: String,
}

/// What programs for pdnet begin with.
const PRELUDE: &str = "\
typedef unsigned long size_t; void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t);
void free(void *); void *memset(void *, int, size_t); void *memcpy(void *, const void *, size_t);
void __pdnet_assert(_Bool);
";

/// What both share. Floating values beyond a range are no integers.
const MACROS: &str = "\
#define WHOLE(f) ((f) > -1000.0 && (f) < 1000.0 ? (int)(f) : 3)
#define FOLD(f) ((f) > 1e6 ? 1 : (f) < -1e6 ? 2 : (f) == (f) ? (long)((f) * 16) : 3)
";

impl RandomMemory {
    /// The programs in one for the compiler: it prints a checksum for each.
    #[must_use]
    pub fn batch(programs: &[Self]) -> String {
        let mut text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n".to_owned();
        text.push_str(MACROS);
        for (number, program) in programs.iter().enumerate() {
            text.push_str(&program.text.replace('@', &format!("_{number}")));
        }
        text.push_str("int main(void) {\n");
        for number in 0..programs.len() {
            let _ = writeln!(text, "run_{number}(); printf(\"%lu\\n\", checksum_{number}());");
        }
        text + "return 0; }\n"
    }

    /// The program for pdnet, without directives; it asserts that its checksum is this one, or that it is not.
    #[must_use]
    pub fn asserting(&self, checksum: u64, equal: bool) -> String {
        let op = if equal { "==" } else { "!=" };
        let end =
            format!("int main(void) {{ run(); __pdnet_assert(checksum() {op} {checksum}ul); return 0; }}\n");
        format!("{PRELUDE}{}{end}", expand(&self.text.replace('@', "")))
    }
}

/// Expands the two macros, so that no preprocessor is needed.
fn expand(text: &str) -> String {
    let mut result = text.to_owned();
    for line in MACROS.lines() {
        let (head, body) = line["#define ".len()..].split_once(") ").expect("a macro with an argument");
        let name = head.strip_suffix("(f").expect("one argument");
        while let Some(start) = result.find(&format!("{name}(")) {
            let open = start + name.len();
            let mut depth = 0;
            let length = result[open..].find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            let close = open + length.expect("the brackets match");
            let argument = result[open + 1..close].to_owned();
            result.replace_range(start..=close, &body.replace("(f)", &format!("({argument})")));
        }
    }
    result
}

/// A random program of about this many statements.
#[must_use]
pub fn random_memory(rng: &mut Rng, n_statements: usize) -> RandomMemory {
    let mut writer =
        Writer { rng, text: String::new(), records: Vec::new(), pool: Pool::default(), n_names: 0 };
    writer.types();
    writer.globals();
    writer.functions();
    writer.run(n_statements);
    writer.checksum();
    RandomMemory { text: writer.text }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Bool,
    Float,
}

const SCALARS: [(&str, Kind); 13] = [
    ("int", Kind::Int),
    ("char", Kind::Int),
    ("signed char", Kind::Int),
    ("unsigned char", Kind::Int),
    ("short", Kind::Int),
    ("unsigned short", Kind::Int),
    ("unsigned", Kind::Int),
    ("long", Kind::Int),
    ("unsigned long", Kind::Int),
    ("long long", Kind::Int),
    ("_Bool", Kind::Bool),
    ("float", Kind::Float),
    ("double", Kind::Float),
];

#[derive(Clone, Debug)]
enum Ty {
    Scalar(&'static str, Kind),
    Bits(&'static str, usize),
    Array(Box<Ty>, usize),
    Record(usize),
}

#[derive(Clone, Debug)]
struct Record {
    /// `struct s0@` or `union u1@`.
    name: String,
    fields: Vec<(String, Ty)>,
}

/// A scalar lvalue. `[#4]` stands for an index below 4.
#[derive(Clone, Debug)]
struct Scalar {
    path: String,
    ty: &'static str,
    kind: Kind,
    is_bits: bool,
}

/// What a statement can use.
#[derive(Clone, Debug, Default)]
struct Pool {
    scalars: Vec<Scalar>,
    /// Lvalues of struct or union type, with the type.
    records: Vec<(String, usize)>,
    /// Pointers to `int` that are always good.
    pointers: Vec<String>,
    /// Pointers to records that are always good.
    record_pointers: Vec<(String, usize)>,
    /// Arrays of 4 integers, as something to be indexed.
    rows: Vec<String>,
}

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    records: Vec<Record>,
    pool: Pool,
    n_names: usize,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.n_names += 1;
        format!("{stem}{}", self.n_names)
    }

    fn scalar_type(&mut self) -> Ty {
        let (name, kind) = *self.rng.pick(&SCALARS);
        if self.rng.chance(40) { Ty::Scalar("int", Kind::Int) } else { Ty::Scalar(name, kind) }
    }

    fn types(&mut self) {
        let scalar = |name| Ty::Scalar(name, Kind::Int);
        let array = |ty, n| Ty::Array(Box::new(ty), n);
        let mut define = |word: &str, fields: Vec<Ty>| {
            let name = format!("{word}{}@", self.records.len());
            let named = fields.into_iter().enumerate().map(|(at, ty)| (format!("f{at}"), ty)).collect();
            self.records.push(Record { name, fields: named });
        };
        // No padding anywhere: all of the union may be looked at through each member.
        define("struct s", vec![scalar("short"), scalar("unsigned short"), scalar("int")]);
        define(
            "struct s",
            vec![
                Ty::Bits("unsigned", 5),
                Ty::Bits("int", 11),
                Ty::Bits("unsigned", 16),
                Ty::Bits("long long", 32),
            ],
        );
        define(
            "union u",
            vec![
                scalar("unsigned long"),
                array(scalar("unsigned char"), 8),
                array(scalar("int"), 2),
                Ty::Record(0),
                Ty::Record(1),
                array(scalar("short"), 4),
            ],
        );
        for _ in 0..2 + self.rng.below(2) {
            let n_fields = 2 + self.rng.below(4);
            let mut fields = Vec::new();
            for _ in 0..n_fields {
                let field = match self.rng.below(10) {
                    0..4 => self.scalar_type(),
                    4 => array_of(self.scalar_type(), 2),
                    5 => array_of(Ty::Scalar("int", Kind::Int), 4),
                    6 => Ty::Record(self.rng.below(self.records.len())),
                    7 => array_of(Ty::Record(self.rng.below(self.records.len())), 2),
                    _ => {
                        let (ty, most) = *self.rng.pick(&[
                            ("unsigned", 32),
                            ("int", 32),
                            ("unsigned char", 8),
                            ("long", 64),
                            ("_Bool", 1),
                        ]);
                        Ty::Bits(ty, 1 + self.rng.below(most))
                    }
                };
                fields.push(field);
            }
            let name = format!("struct s{}@", self.records.len());
            let named = fields.into_iter().enumerate().map(|(at, ty)| (format!("f{at}"), ty)).collect();
            self.records.push(Record { name, fields: named });
        }
        for record in self.records.clone() {
            let fields: String =
                record.fields.iter().map(|(name, ty)| self.declared(ty, name) + "; ").collect();
            self.line(&format!("{} {{ {fields}}};", record.name));
        }
    }

    fn declared(&self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Scalar(ty, _) => format!("{ty} {name}"),
            Ty::Bits(ty, width) => format!("{ty} {name} : {width}"),
            Ty::Array(element, n) => self.declared(element, &format!("{name}[{n}]")),
            Ty::Record(record) => format!("{} {name}", self.records[*record].name),
        }
    }

    /// Adds all that is in an object to what statements can use.
    fn add(&self, pool: &mut Pool, path: &str, ty: &Ty) {
        match ty {
            Ty::Scalar(ty, kind) => {
                pool.scalars.push(Scalar { path: path.to_owned(), ty, kind: *kind, is_bits: false });
            }
            Ty::Bits(ty, _) => {
                let kind = if *ty == "_Bool" { Kind::Bool } else { Kind::Int };
                pool.scalars.push(Scalar { path: path.to_owned(), ty, kind, is_bits: true });
            }
            Ty::Array(element, n) => {
                if matches!((&**element, n), (Ty::Scalar("int", _), 4)) {
                    pool.rows.push(path.to_owned());
                }
                self.add(pool, &format!("{path}[#{n}]"), element);
            }
            Ty::Record(record) => {
                pool.records.push((path.to_owned(), *record));
                for (name, ty) in &self.records[*record].fields {
                    self.add(pool, &format!("{path}.{name}"), ty);
                }
            }
        }
    }

    fn globals(&mut self) {
        let mut objects = vec![Ty::Scalar("int", Kind::Int), array_of(Ty::Scalar("int", Kind::Int), 4)];
        objects.push(Ty::Record(2));
        for _ in 0..2 + self.rng.below(3) {
            let record = 3 + self.rng.below(self.records.len() - 3);
            let ty = Ty::Record(record);
            let scalar = self.scalar_type();
            objects.push(match self.rng.below(4) {
                0 | 1 => ty,
                2 => array_of(ty, 2),
                _ => scalar,
            });
        }
        let mut pool = Pool::default();
        for (at, ty) in objects.iter().enumerate() {
            let name = format!("g{at}@");
            let declared = self.declared(ty, &name);
            let init = if self.rng.chance(60) {
                format!(" = {}", self.initialiser(ty, true))
            } else {
                String::new()
            };
            self.line(&format!("{declared}{init};"));
            self.add(&mut pool, &name, ty);
        }
        let ints = addressable(&pool, "int");
        for at in 0..2 {
            let target = self.rng.pick(&ints).clone();
            let target = self.constant_path(&target);
            self.line(&format!("int *gp{at}@ = &{target};"));
            pool.pointers.push(format!("gp{at}@"));
        }
        let at = self.rng.below(pool.records.len());
        let (path, record) = pool.records[at].clone();
        let target = self.constant_path(&path);
        self.line(&format!("{} *sp@ = &{target};", self.records[record].name));
        pool.record_pointers.push(("sp@".to_owned(), record));
        let row = self.rng.pick(&pool.rows).clone();
        let row = self.constant_path(&row);
        self.line(&format!("int *row@ = {row};"));
        pool.rows.push("row@".to_owned());
        self.line("struct n@ { struct n@ *next; int v; char c; }; struct n@ *head@;");
        self.pool = pool;
    }

    /// An initialiser, with designators here and there; a static one has constants only.
    fn initialiser(&mut self, ty: &Ty, is_static: bool) -> String {
        match ty {
            Ty::Scalar(_, Kind::Float) => (*self.rng.pick(&["1.5", "-0.25", "3", "7.0f / 2"])).to_owned(),
            Ty::Scalar(..) | Ty::Bits(..) => {
                if is_static || self.rng.chance(50) {
                    (*self.rng.pick(&["1", "-1", "7", "200", "0x1234", "70000", "-5 + 2", "'a'", "1 << 4"]))
                        .to_owned()
                } else {
                    self.int(1)
                }
            }
            Ty::Array(element, n) => {
                let given = self.rng.below(*n + 1);
                let mut items: Vec<String> = Vec::new();
                for _ in 0..given {
                    items.push(self.initialiser(element, is_static));
                }
                if self.rng.chance(30) {
                    let item = self.initialiser(element, is_static);
                    items.push(format!("[{}] = {item}", n - 1));
                }
                if items.len() > *n {
                    items.truncate(*n);
                }
                if items.is_empty() { "{ 0 }".to_owned() } else { format!("{{ {} }}", items.join(", ")) }
            }
            Ty::Record(record) => {
                let fields = self.records[*record].fields.clone();
                if self.records[*record].name.starts_with("union") || self.rng.chance(40) {
                    let (name, ty) = fields[self.rng.below(fields.len())].clone();
                    let value = self.initialiser(&ty, is_static);
                    return format!("{{ .{name} = {value} }}");
                }
                let given = 1 + self.rng.below(fields.len());
                let items: Vec<String> =
                    fields[..given].iter().map(|(_, ty)| self.initialiser(ty, is_static)).collect();
                format!("{{ {} }}", items.join(", "))
            }
        }
    }

    fn functions(&mut self) {
        self.line(
            "struct flex@ { int n; short d[]; }; void *take@(size_t n) { void *p = malloc(n); return p; }",
        );
        self.line("int op0@(int a, int b) { return (int)((unsigned)a * 3 + b); }");
        self.line("int op1@(int a, int b) { int *p = a > b ? &a : &b; (*p)--; return a ^ b; }");
        self.line("struct ops@ { int (*f[2])(int, int); int n; } ops@ = { { op0@, op1@ }, 1 };");
        self.line("void swap@(int *a, int *b) { int t = *a; *a = *b; *b = t; }");
        self.line("int rec@(int n, int *out) { int mine = n * 2; int other[2] = { n, 1 };");
        self.line("  if (n <= 0) { *out += 3; return 1; }");
        self.line("  int r = rec@(n - 1, n & 1 ? &mine : &other[1]); *out ^= mine + other[1]; return r * 3 + mine - other[0]; }");
        for record in 0..self.records.len() {
            let name = self.records[record].name.clone();
            let saved = self.pool.clone();
            let mut own = Pool::default();
            self.add(&mut own, "p", &Ty::Record(record));
            // The value of a call must not depend on when it is made: only the reference changes other objects.
            self.pool = Pool { scalars: own.scalars, ..Pool::default() };
            self.pool.scalars.push(Scalar {
                path: "k".to_owned(),
                ty: "int",
                kind: Kind::Int,
                is_bits: false,
            });
            self.line(&format!("{name} val{record}@({name} p, int k) {{"));
            self.assignment();
            self.assignment();
            self.line("return p; }");
            let through = |path: &str| path.replacen("p.", "p->", 1);
            self.pool.scalars.iter_mut().for_each(|scalar| scalar.path = through(&scalar.path));
            self.pool.pointers.clone_from(&saved.pointers);
            self.line(&format!("int ref{record}@({name} *p, int k) {{"));
            self.assignment();
            self.step();
            let result = self.int(2);
            self.line(&format!("return (int)({result}); }}"));
            self.pool = saved;
        }
    }

    fn run(&mut self, n_statements: usize) {
        self.line("void run@(void) {");
        for _ in 0..n_statements {
            self.statement(2);
        }
        self.line("}");
    }

    /// Adds all scalars to a sum.
    fn fold(&mut self, sum: &str, pool: &Pool) {
        for scalar in &pool.scalars {
            for path in expanded(&scalar.path) {
                match scalar.kind {
                    Kind::Float => self.line(&format!("{sum} = {sum} * 31 + FOLD({path});")),
                    Kind::Int | Kind::Bool => self.line(&format!("{sum} = {sum} * 31 + {path};")),
                }
            }
        }
    }

    fn checksum(&mut self) {
        self.line("unsigned long checksum@(void) { unsigned long sum = 0;");
        let pool = self.pool.clone();
        self.fold("sum", &pool);
        for pointer in &pool.pointers {
            self.line(&format!("sum = sum * 31 + *{pointer};"));
        }
        self.line("sum = sum * 31 + row@[1] + ops@.n + ops@.f[0](1, 2); return sum; }");
    }
}

fn array_of(ty: Ty, n: usize) -> Ty {
    Ty::Array(Box::new(ty), n)
}

/// The paths to objects of a type that have an address.
fn addressable(pool: &Pool, ty: &str) -> Vec<String> {
    pool.scalars.iter().filter(|s| s.ty == ty && !s.is_bits).map(|s| s.path.clone()).collect()
}

/// The path with all indices that it stands for.
fn expanded(path: &str) -> Vec<String> {
    let Some(at) = path.find('#') else { return vec![path.to_owned()] };
    let n = usize::from(path.as_bytes()[at + 1] - b'0');
    (0..n).flat_map(|index| expanded(&format!("{}{index}{}", &path[..at], &path[at + 2..]))).collect()
}
