//! Lvalues and expressions without effects.

use super::{Kind, Pool, Scalar, Ty, Writer};

impl Writer<'_> {
    /// Fills in all indices with constants.
    pub(super) fn constant_path(&mut self, path: &str) -> String {
        self.filled(path, false)
    }

    pub(super) fn filled(&mut self, path: &str, with_variables: bool) -> String {
        let mut text = path.to_owned();
        while let Some(at) = text.find('#') {
            let n = usize::from(text.as_bytes()[at + 1] - b'0');
            let index = if with_variables && self.rng.chance(40) {
                let others =
                    self.pool.scalars.iter().filter(|s| s.kind == Kind::Int && !s.path.contains('#'));
                let others: Vec<String> = others.map(|s| s.path.clone()).collect();
                if others.is_empty() {
                    "0".to_owned()
                } else {
                    format!("({} & {})", self.rng.pick(&others), n - 1)
                }
            } else {
                self.rng.below(n).to_string()
            };
            text.replace_range(at..at + 2, &index);
        }
        text
    }

    pub(super) fn scalar(
        &mut self,
        wanted: impl Fn(&Scalar) -> bool,
        with_variables: bool,
    ) -> Option<String> {
        let fitting: Vec<Scalar> =
            self.pool.scalars.iter().filter(|scalar| wanted(scalar)).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let path = self.rng.pick(&fitting).path.clone();
        Some(self.filled(&path, with_variables))
    }

    /// An integer lvalue.
    pub(super) fn lhs(&mut self) -> String {
        self.lvalue(true)
    }

    pub(super) fn lvalue(&mut self, with_variables: bool) -> String {
        match self.rng.below(8) {
            0 if !self.pool.pointers.is_empty() => format!("(*{})", self.rng.pick(&self.pool.pointers)),
            1 if !self.pool.rows.is_empty() => {
                let row = self.rng.pick(&self.pool.rows).clone() + "[#4]";
                self.filled(&row, with_variables)
            }
            2 if !self.pool.record_pointers.is_empty() => {
                let (pointer, record) = self.rng.pick(&self.pool.record_pointers).clone();
                let mut pool = Pool::default();
                self.add(&mut pool, &format!("(*{pointer})"), &Ty::Record(record));
                pool.scalars.retain(|scalar| scalar.kind != Kind::Float);
                if pool.scalars.is_empty() {
                    return "(*gp0@)".to_owned();
                }
                let path = self.rng.pick(&pool.scalars).path.clone();
                self.filled(
                    &path.replacen(&format!("(*{pointer})."), &format!("{pointer}->"), 1),
                    with_variables,
                )
            }
            _ => {
                let found = self.scalar(|scalar| scalar.kind != Kind::Float, with_variables);
                found.unwrap_or_else(|| "k".to_owned())
            }
        }
    }

    /// An integer expression without effects.
    pub(super) fn int(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.chance(20) {
            return match self.rng.below(5) {
                0 => {
                    (*self.rng.pick(&["0", "1", "-1", "3", "100", "0x7fffffff", "255u", "40000l"])).to_owned()
                }
                1 if self.rng.chance(40) => match self.float(0) {
                    Some(value) => format!("WHOLE({value})"),
                    None => "2".to_owned(),
                },
                _ => self.lhs(),
            };
        }
        let left = self.int(depth - 1);
        match self.rng.below(9) {
            0 => format!("({left} {} {})", self.rng.pick(&["+", "-", "*"]), self.int(depth - 1)),
            1 => format!("({left} {} {})", self.rng.pick(&["&", "|", "^"]), self.int(depth - 1)),
            2 => format!("({left} {} {})", self.rng.pick(&["<", "<=", "==", "!="]), self.int(depth - 1)),
            3 => format!("({left} {} (({} & 7) + 1))", self.rng.pick(&["/", "%"]), self.int(depth - 1)),
            4 => format!(
                "((unsigned)({left}) {} ({} & 15))",
                self.rng.pick(&["<<", ">>"]),
                self.int(depth - 1)
            ),
            5 => format!(
                "({}({left}))",
                self.rng.pick(&["-", "~", "!", "(short)", "(unsigned char)", "(long)"])
            ),
            6 => format!("({} ? {left} : {})", self.condition(), self.int(depth - 1)),
            7 => format!("({} {} {})", self.condition(), self.rng.pick(&["&&", "||"]), self.condition()),
            _ => left,
        }
    }

    pub(super) fn condition(&mut self) -> String {
        let (left, right) = (self.int(0), self.int(0));
        format!("({left} {} {right})", self.rng.pick(&["<", ">=", "==", "!="]))
    }

    pub(super) fn float(&mut self, depth: usize) -> Option<String> {
        if depth == 0 {
            return self.scalar(|scalar| scalar.kind == Kind::Float, true);
        }
        let left = self.float(depth - 1)?;
        Some(match self.rng.below(5) {
            0 => format!("({left} + {})", self.int(0)),
            1 => format!("({left} * {})", self.rng.pick(&["0.5", "1.25f", "-3", "1e10"])),
            2 => format!("({left} - {})", self.float(0)?),
            3 => format!("({left} / {})", self.rng.pick(&["3", "0.1f", "7.0"])),
            _ => format!("({} ? -{left} : (float)({left}))", self.condition()),
        })
    }

    /// An expression of a struct type.
    pub(super) fn record_value(&mut self, record: usize, depth: usize) -> String {
        let name = self.records[record].name.clone();
        let same: Vec<String> = self
            .pool
            .records
            .iter()
            .filter(|(_, other)| *other == record)
            .map(|(path, _)| path.clone())
            .collect();
        match self.rng.below(6) {
            0 if depth > 0 => {
                let inner = self.record_value(record, depth - 1);
                format!("val{record}@({inner}, (int)({}))", self.int(1))
            }
            1 if depth > 0 => {
                let (left, right) = (self.record_value(record, 0), self.record_value(record, 0));
                format!("({} ? {left} : {right})", self.condition())
            }
            2 => format!("({name}){}", self.initialiser(&Ty::Record(record), false)),
            _ if !same.is_empty() => {
                let path = self.rng.pick(&same).clone();
                self.filled(&path, true)
            }
            _ => format!("({name}){}", self.initialiser(&Ty::Record(record), false)),
        }
    }
}
