//! Statements.

use super::{Kind, Pool, Scalar, Ty, Writer, addressable, array_of};

impl Writer<'_> {
    pub(super) fn statement(&mut self, nesting: usize) {
        match self.rng.below(if nesting == 0 { 14 } else { 23 }) {
            0..3 => self.assignment(),
            3 | 4 => self.step(),
            5 => self.pointer_statement(),
            6 | 7 => self.record_statement(),
            8 => self.bytes(),
            9 => self.call(),
            10 => self.sequenced(),
            11 => self.float_statement(),
            12 => self.walk(),
            13 => self.storage(),
            14 | 15 => self.heap(nesting - 1),
            16 => self.list(),
            17 => self.locals(nesting - 1),
            18 | 19 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                self.statement(nesting - 1);
                if self.rng.chance(50) {
                    self.line("} else {");
                    self.statement(nesting - 1);
                }
                self.line("}");
            }
            20 => {
                let i = self.fresh("i");
                let n = 2 + self.rng.below(3);
                self.line(&format!("for (int {i} = 0; {i} < {n}; {i}++) {{"));
                let saved = self.pool.clone();
                self.statement(nesting - 1);
                let (lhs, value) = (self.lhs(), self.int(1));
                self.line(&format!("{lhs} = {value} + {i}; if ({i} == 2) continue;"));
                self.pool = saved;
                self.line("}");
            }
            21 => {
                let value = self.int(1);
                self.line(&format!("switch ((int)({value}) & 3) {{ case 0: {{"));
                self.statement(nesting - 1);
                self.line("} case 1: {");
                self.statement(nesting - 1);
                self.line("} break; case -1: break; default: {");
                self.statement(nesting - 1);
                self.line("} }");
            }
            _ => {
                let i = self.fresh("w");
                self.line(&format!("int {i} = 0; do {{"));
                self.statement(nesting - 1);
                self.line(&format!("if ({i} == 1) break; }} while (++{i} < 3);"));
            }
        }
    }

    pub(super) fn assignment(&mut self) {
        let lhs = self.lhs();
        let value = self.int(3);
        let op = *self.rng.pick(&["=", "=", "+=", "-=", "^=", "|=", "*=", "&="]);
        self.line(&format!("{lhs} {op} {value};"));
    }

    pub(super) fn step(&mut self) {
        let lhs = self.lhs();
        let text = match self.rng.below(4) {
            0 => format!("++{lhs};"),
            1 => format!("({lhs})--;"),
            2 => format!("{lhs} /= ({} & 3) + 1;", self.int(1)),
            _ => format!("{lhs} = ({lhs} << 1) ^ 5;"),
        };
        self.line(&text);
    }

    pub(super) fn float_statement(&mut self) {
        let (Some(target), Some(value)) = (self.float(0), self.float(2)) else { return self.assignment() };
        let op = *self.rng.pick(&["=", "+=", "-=", "*="]);
        self.line(&format!("{target} {op} {value};"));
        if self.rng.chance(40) {
            self.line(&format!("{target}++;"));
        }
        let lhs = self.lhs();
        self.line(&format!("{lhs} = WHOLE({target}) + ({target} ? 1 : 0) + ({target} < {value});"));
    }

    /// A pointer gets another target.
    pub(super) fn pointer_statement(&mut self) {
        let ints = addressable(&self.pool, "int");
        let global = |path: &&String| path.starts_with('g');
        let ints: Vec<String> = ints.iter().filter(global).cloned().collect();
        let pointer = (*self.rng.pick(&["gp0@", "gp1@"])).to_owned();
        let target = match self.rng.below(5) {
            0 => "gp0@ == gp1@ ? &g0@ : gp1@".to_owned(),
            1 => "&row@[1] - 1 + 2".to_owned(),
            2 => {
                let condition = self.condition();
                format!("{condition} ? gp1@ : &g1@[2]")
            }
            _ => {
                let path = self.rng.pick(&ints).clone();
                format!("&{}", self.filled(&path, true))
            }
        };
        self.line(&format!("{pointer} = {target};"));
        let value = self.int(1);
        let op = *self.rng.pick(&["=", "+=", "^="]);
        self.line(&format!("*{pointer} {op} {value};"));
        if self.rng.chance(30) {
            let rows: Vec<String> = self.pool.rows.iter().filter(global).cloned().collect();
            let row = self.rng.pick(&rows).clone();
            let row = self.filled(&row, true);
            self.line(&format!("row@ = {row}; row@[({value}) & 3]++;"));
        }
    }

    pub(super) fn record_statement(&mut self) {
        // A copy of a struct may or may not copy its padding; structs inside the union have none.
        let (path, record) = self.rng.pick(&self.pool.records).clone();
        let target = self.filled(&path, true);
        let value = self.record_value(record, 2);
        match self.rng.below(5) {
            0 => {
                let (pointer, record) = self.rng.pick(&self.pool.record_pointers).clone();
                let value = self.record_value(record, 1);
                self.line(&format!("*{pointer} = {value};"));
            }
            1 => {
                let name = self.records[record].name.clone();
                let copy = self.fresh("c");
                self.line(&format!("{name} {copy} = {value}; {target} = {copy};"));
            }
            2 => {
                let other = self.record_value(record, 0);
                if !other.starts_with('(') {
                    self.line(&format!("memcpy(&{target}, &{other}, sizeof({target}));"));
                }
            }
            3 => {
                let mut pool = Pool::default();
                self.add(&mut pool, "", &Ty::Record(record));
                let ints: Vec<Scalar> =
                    pool.scalars.into_iter().filter(|scalar| scalar.kind != Kind::Float).collect();
                if let Some(field) = ints.first() {
                    let field = self.filled(&field.path.clone(), true);
                    let lhs = self.lhs();
                    let argument = self.int(1);
                    self.line(&format!("{lhs} = val{record}@({target}, (int)({argument})){field};"));
                }
            }
            _ => self.line(&format!("{target} = {value};")),
        }
    }

    /// The bytes of an integer object.
    pub(super) fn bytes(&mut self) {
        let fits = |s: &Scalar| !s.is_bits && ["int", "unsigned", "long", "unsigned long"].contains(&s.ty);
        let Some(object) = self.scalar(fits, true) else { return };
        let bytes = self.fresh("b");
        let value = self.int(1);
        self.line(&format!("unsigned char *{bytes} = (unsigned char *)&{object};"));
        self.line(&format!("{bytes}[({value}) & 3] ^= {value};"));
        let lhs = self.lhs();
        self.line(&format!("{lhs} += {bytes}[1] + *({bytes} + 3) * 2 + ((signed char *){bytes})[0];"));
    }

    pub(super) fn call(&mut self) {
        let lhs = self.lhs();
        let (one, two) = (self.int(1), self.int(1));
        let text = match self.rng.below(6) {
            0 => format!("{lhs} = ops@.f[({one}) & 1]((int)({two}), 3);"),
            1 => format!(
                "ops@.f[{}] = {}; ops@.n = ops@.f[0](ops@.n, 2);",
                self.rng.below(2),
                self.rng.pick(&["op0@", "&op1@", "ops@.f[0]"])
            ),
            2 => format!("swap@(gp0@, gp1@); {lhs} = *gp0@ - *gp1@;"),
            3 => format!(
                "int t{0} = 1; int r{0} = rec@(({one}) & 3, &t{0}); {lhs} = r{0} + t{0};",
                self.fresh("")
            ),
            4 => format!("int r{0} = rec@(2, gp1@); {lhs} ^= r{0};", self.fresh("")),
            _ => {
                let (path, record) = self.rng.pick(&self.pool.records).clone();
                let target = self.filled(&path, true);
                let name = self.fresh("r");
                format!("int {name} = ref{record}@(&{target}, (int)({one})); {lhs} = {name};")
            }
        };
        self.line(&text);
    }

    /// Effects inside of expressions, where C orders them.
    pub(super) fn sequenced(&mut self) {
        let (first, second) = (self.lvalue(false), self.lvalue(false));
        let (one, two) = (self.int(1), self.int(1));
        let condition = self.condition();
        let text = match self.rng.below(6) {
            0 => format!("{first} = ({second} += {one}, {two});"),
            1 => format!("{condition} && ({second} = {one});"),
            2 => format!("{condition} || ({second}++, {one});"),
            3 => format!("{first} = {condition} ? ({second} = {one}) : ({second} -= {two});"),
            4 => format!("if (({second} = {one}) && ++{first}) {second}--;"),
            _ => format!("{first} = !({condition} && (({second} = {one}) || {two}));"),
        };
        self.line(&text);
    }

    /// A pointer walks through an array.
    pub(super) fn walk(&mut self) {
        let row = self.rng.pick(&self.pool.rows).clone();
        let row = self.constant_path(&row);
        let p = self.fresh("p");
        let (lhs, value) = (self.lvalue(false), self.int(1));
        let text = match self.rng.below(4) {
            0 => format!("for (int *{p} = {row}; {p} != {row} + 4; {p}++) *{p} += 2;"),
            1 => format!(
                "int *{p} = {row} + 3; {p}[-1] = {p}[-2] + 1; {lhs} = {value}; {p}--; *{p} ^= {p} - {row};"
            ),
            2 => format!("int *{p} = {row}; *{p}++ = {value}; *{p}++ -= 1; *++{p} = 9;"),
            _ => format!(
                "int l{p}[4], *{p} = l{p}, *q{p} = {row}; while ({p} < l{p} + 4) *{p}++ = *q{p}++; {lhs} = l{p}[2] - l{p}[({value}) & 3];"
            ),
        };
        self.line(&text);
    }

    pub(super) fn heap(&mut self, nesting: usize) {
        let name = self.fresh("h");
        let saved = self.pool.clone();
        if self.rng.chance(50) {
            let record = self.rng.below(self.records.len());
            let ty = self.records[record].name.clone();
            let value = self.record_value(record, 1);
            if self.rng.chance(50) {
                self.line(&format!("{ty} *{name} = malloc(sizeof *{name}); *{name} = {value};"));
            } else {
                self.line(&format!(
                    "{ty} *{name} = calloc(2, sizeof({ty})); {name}[1] = {value}; {name}[0] = {name}[1];"
                ));
            }
            self.pool.record_pointers = vec![(name.clone(), record)];
            self.pool.records.push((format!("(*{name})"), record));
            self.statement(nesting);
            let lhs = self.lhs();
            self.line(&format!("int r{name} = ref{record}@({name}, 3); {lhs} = r{name};"));
        } else {
            let (first, second) = (4 + self.rng.below(2), 4 + self.rng.below(3));
            self.line(&format!("int *{name} = malloc({first} * sizeof(int));"));
            self.line(&format!("for (int i = 0; i < {first}; i++) {name}[i] = i * 3;"));
            self.pool.rows.push(name.clone());
            self.pool.pointers.push(format!("({name} + 2)"));
            self.statement(nesting);
            self.line(&format!("{name} = realloc({name}, {second} * sizeof *{name});"));
            self.line(&format!("for (int i = {first}; i < {second}; i++) {name}[i] = -i;"));
            self.statement(0);
            let lhs = self.lhs();
            self.line(&format!("for (int i = 0; i < {}; i++) {lhs} += {name}[i];", 4));
        }
        self.pool = saved;
        // No pointer to it is left: those that stay point to global objects only.
        if self.rng.chance(70) {
            self.line(&format!("free({name});"));
        }
    }

    /// Memory that is used as objects of several types, one after the other or side by side, or before it is written.
    pub(super) fn storage(&mut self) {
        let (lhs, value, b) = (self.lvalue(false), self.int(1), self.fresh("m"));
        let text = match self.rng.below(8) {
            0 => format!(
                "char {b}[16]; *(int *){b} = {value}; *(long *)({b} + 8) = 5; {b}[1] ^= 3; {lhs} = *(int *){b} + {b}[8];"
            ),
            1 => format!(
                "long {b} = {value}; ((int *)&{b})[1] ^= 77; ((short *)&{b})[1] = 9; {lhs} = {b} >> 8; {lhs} += ((int *)&{b})[0];"
            ),
            2 => format!(
                "float {b} = WHOLE({value}) * 0.5f; {lhs} = *(unsigned *)&{b}; *(int *)&{b} = 0x3fc00000; {lhs} += {b} == 1.5f;"
            ),
            3 => format!(
                "void *{b} = take@(16); int *i{b} = {b}; i{b}[2] = {value}; short *s{b} = {b}; s{b}[0] = 1; s{b}[1] = 2; {lhs} = i{b}[2] + i{b}[0]; free({b});"
            ),
            4 => format!(
                "struct n@ *{b} = take@(sizeof *{b}); {b}->v = {value}; {b}->next = {b}; {b}->c = 3; {lhs} = {b}->next->v - {b}->c; free({b});"
            ),
            // What was never written is read, and nothing depends on it.
            5 => format!(
                "struct n@ *{b} = malloc(sizeof *{b}); {b}->v = {value}; struct n@ c{b} = *{b}; {lhs} = c{b}.v + ({b}->c & 0) + (c{b}.c & 0); free({b});"
            ),
            6 => format!(
                "int u{b}[3], *{b} = u{b}; {b}[1] = {value}; {b}[0] &= 0; {lhs} = {b}[1] + {b}[0] + (u{b}[2] & 0);"
            ),
            _ => format!(
                "struct flex@ *{b} = malloc(sizeof *{b} + 4 * sizeof {b}->d[0]); {b}->n = 3; for (int i = 0; i <= {b}->n; i++) {b}->d[i] = {value} + i; short *d{b} = {b}->d + 1; {lhs} = {b}->d[3] - d{b}[-1] + *d{b} + {b}->n; free({b});"
            ),
        };
        self.line(&text);
    }

    /// A list is built, changed and taken down.
    pub(super) fn list(&mut self) {
        let (value, p) = (self.int(1), self.fresh("n"));
        let n = 1 + self.rng.below(4);
        self.line(&format!("for (int i = 0; i < {n}; i++) {{ struct n@ *{p} = malloc(sizeof *{p});"));
        if self.rng.chance(50) {
            self.line(&format!("{p}->v = {value} + i; {p}->next = head@; {p}->c = i; head@ = {p}; }}"));
        } else {
            self.line(&format!("*{p} = (struct n@){{ .v = i, .c = {value} }}; struct n@ **l = &head@; while (*l) l = &(*l)->next; *l = {p}; }}"));
        }
        let lhs = self.lhs();
        self.line("for (struct n@ **l = &head@; *l;) { struct n@ *d = *l;");
        self.line(&format!(
            "if (d->v & 1 || d->c == 0) {{ *l = d->next; {lhs} += d->v; free(d); }} else l = &d->next; }}"
        ));
        self.line(&format!(
            "while (head@) {{ struct n@ *d = head@; head@ = head@->next; {lhs} ^= d->c; free(d); }}"
        ));
    }

    pub(super) fn locals(&mut self, nesting: usize) {
        let saved = self.pool.clone();
        let name = self.fresh("l");
        let record = self.rng.below(self.records.len());
        let ty = if self.rng.chance(50) { Ty::Record(record) } else { array_of(Ty::Record(record), 2) };
        let init = self.initialiser(&ty, false);
        let declared = self.declared(&ty, &name);
        self.line(&format!("{{ {declared} = {init};"));
        let mut pool = std::mem::take(&mut self.pool);
        self.add(&mut pool, &name, &ty);
        self.add(&mut pool, &name, &ty);
        self.pool = pool;
        let (ty, pointer) = (self.records[record].name.clone(), self.fresh("lp"));
        let address = if declared.contains('[') { format!("{name} + 1") } else { format!("&{name}") };
        self.line(&format!("{ty} *{pointer} = {address};"));
        self.pool.record_pointers.push((pointer, record));
        self.statement(nesting);
        self.statement(nesting);
        let mut own = Pool::default();
        self.add(
            &mut own,
            &name,
            &if declared.contains('[') { array_of(Ty::Record(record), 2) } else { Ty::Record(record) },
        );
        self.pool = saved;
        self.line("unsigned long sum = 0;");
        self.fold("sum", &own);
        let lhs = self.lhs();
        self.line(&format!("{lhs} += sum; }}"));
    }
}
