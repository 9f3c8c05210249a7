//! Atoms of formulas: from the user's words to an expression over the marking.

use pdnet_logic::{
    AtomKind, AtomSyntax, ExprKind, ExprSyntax, Formula, Name, ThreadRef, UnaryOp as SyntaxUnary,
};
use pdnet_net::{BinaryOp, Expr, IntType, Place};
use pdnet_source::{Diagnostic, Span, nearest_name};

use super::Lowerer;
use super::atom_value::AtomPlace;
use crate::link::names_apart;
use crate::tree::{Storage, Variable};
use crate::types::{SyncKind, Type};

impl Lowerer<'_> {
    /// The expressions that decide the atoms of a formula.
    pub(crate) fn lower_atoms(&mut self, formula: &Formula) -> Vec<Expr> {
        formula.atoms.iter().map(|atom| self.atom(atom).unwrap_or(Expr::Const(0))).collect()
    }

    fn atom(&mut self, atom: &AtomSyntax) -> Option<Expr> {
        match &atom.kind {
            AtomKind::Expr(expr) => Some(self.atom_value(expr)?.truth()),
            AtomKind::Call { function } => self.call_atom(function),
            AtomKind::AtLabel { function, label } => self.label_atom(function, label),
            AtomKind::AtLine { file, line } => self.line_atom(file.as_deref(), *line, atom.span),
            AtomKind::Terminated(thread) => {
                let (number, exists) = self.thread_number(thread)?;
                let ended = Expr::Marked(self.net.ended?, vec![]);
                let done = Expr::Marked(self.net.done?, vec![number]);
                Some(Expr::both(exists, Expr::either(ended, done)))
            }
            AtomKind::End => Some(Expr::Marked(self.net.ended?, vec![])),
            AtomKind::Holds { thread, object } => {
                let found = self.sync_object(object, SyncKind::Mutex)?;
                let cell = self.atom_load(&found, object.span)?;
                let cell = Expr::binary(BinaryOp::And, IntType::I64, cell, Expr::Const(0xff));
                let owner = Expr::Cell(self.observe_thread(thread)?, vec![]);
                Some(Expr::both(Expr::truth(owner.clone()), Expr::equal(cell, owner)))
            }
            AtomKind::Waiting { thread, object } => {
                let found = self.sync_object(object, SyncKind::Condition)?;
                let (number, exists) = self.thread_number(thread)?;
                let waits = self.atom_waiters(&found, &number, object.span)?;
                Some(Expr::both(exists, waits))
            }
            AtomKind::Deadlock => Some(Expr::Deadlock),
            AtomKind::DataRace
            | AtomKind::Overflow
            | AtomKind::ValidFree
            | AtomKind::ValidDeref
            | AtomKind::ValidMemtrack
            | AtomKind::ValidMemcleanup => {
                let message = format!("the atom `{atom}` is not supported yet");
                self.error(Diagnostic::error("unsupported", message).at(atom.span, ""));
                None
            }
        }
    }

    /// The number of a thread that a formula names, and whether that thread was created.
    fn thread_number(&mut self, thread: &ThreadRef) -> Option<(Expr, Expr)> {
        let cell = Expr::Cell(self.observe_thread(thread)?, vec![]);
        let number = Expr::binary(BinaryOp::Sub, IntType::I64, cell.clone(), Expr::Const(1));
        Some((number, Expr::truth(cell)))
    }

    fn any_marked(places: impl IntoIterator<Item = Place>) -> Expr {
        let mut places: Vec<Place> = places.into_iter().collect();
        places.sort_unstable();
        places.dedup();
        let marked = places.into_iter().map(|place| Expr::Marked(place, vec![]));
        marked.reduce(Expr::either).unwrap_or(Expr::Const(0))
    }

    fn call_atom(&mut self, function: &Name) -> Option<Expr> {
        self.function_named(function)?;
        let transitions = self.net.transitions.iter();
        let calls = transitions.filter(|data| data.calls.as_deref() == Some(function.text.as_str()));
        let places: Vec<Place> = calls.filter_map(|data| data.source()).collect();
        Some(Self::any_marked(places))
    }

    fn label_atom(&mut self, function: &Name, label: &Name) -> Option<Expr> {
        let source = self.function_named(function)?;
        if let Some(places) = self.labels.get(&(source, label.text.clone())) {
            return Some(Self::any_marked(places.clone()));
        }
        let body = self.program.functions[source].body.as_ref();
        let known: Vec<&str> =
            body.iter().flat_map(|body| body.labels.iter()).map(|data| data.name.as_str()).collect();
        if known.contains(&label.text.as_str()) {
            // The label exists in a function, or a part of one, that no thread reaches.
            return Some(Expr::Const(0));
        }
        let message = format!("`{function}` has no label `{label}`");
        let mut diagnostic = Diagnostic::error("unknown-label", message).at(label.span, "not found");
        if let Some(near) = nearest_name(&label.text, known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.error(diagnostic);
        None
    }

    fn line_atom(&mut self, file: Option<&str>, line: u32, span: Span) -> Option<Expr> {
        let main = self.program.functions[self.program.main].span.file;
        let is_file = |found: pdnet_source::File| match file {
            None => found == main,
            Some(name) => {
                let known = &self.map.file(found).name;
                known == name || known.ends_with(&format!("/{name}"))
            }
        };
        let mut places = Vec::new();
        let mut lines = Vec::new();
        for data in &self.net.transitions {
            let (Some(pos), Some(source)) = (data.pos, data.source()) else { continue };
            if is_file(pos.file) && !self.return_sites.contains(&source) {
                lines.push(pos.line);
                if pos.line == line {
                    places.push(source);
                }
            }
        }
        if !places.is_empty() {
            return Some(Self::any_marked(places));
        }
        let message = format!("no step of the program is at line {line}");
        let mut diagnostic = Diagnostic::error("unknown-line", message).at(span, "");
        if let Some(nearest) = lines.into_iter().min_by_key(|found| found.abs_diff(line)) {
            diagnostic = diagnostic.help(format!("the nearest line with a step is {nearest}"));
        } else if let Some(file) = file {
            diagnostic = diagnostic.help(format!("no step comes from a file `{file}`"));
        }
        self.error(diagnostic);
        None
    }

    /// A mutex or condition variable that a formula names.
    fn sync_object(&mut self, object: &ExprSyntax, kind: SyncKind) -> Option<AtomPlace> {
        if let ExprKind::Unary(SyntaxUnary::AddressOf, inner) = &object.kind {
            return self.sync_object(inner, kind);
        }
        let found = self.atom_place(object)?;
        if found.ty != Type::Sync(kind) {
            return self.no_sync_object(object, kind);
        }
        Some(found)
    }

    fn no_sync_object<T>(&mut self, object: &ExprSyntax, kind: SyncKind) -> Option<T> {
        let wanted = Type::Sync(kind).display(self.program);
        let message = format!("expected a `{wanted}`");
        self.error(Diagnostic::error("type-mismatch", message).at(object.span, ""));
        None
    }

    pub(crate) fn global_named(&mut self, name: &str, span: Span) -> Option<Variable> {
        let variables = &self.program.variables;
        let is_global = |storage| matches!(storage, Storage::Global | Storage::ThreadLocal);
        let globals: Vec<_> =
            variables.iter_enumerated().filter(|(_, data)| is_global(data.storage)).collect();
        if let Some((variable, _)) = globals.iter().find(|(_, data)| data.name == name) {
            return Some(*variable);
        }
        let apart: Vec<Span> = globals
            .iter()
            .filter(|(_, data)| names_apart(&data.name, name))
            .map(|(_, data)| data.span)
            .collect();
        if let [first, second, ..] = apart.as_slice() {
            let message = format!("several files have a static variable `{name}`");
            let diagnostic = Diagnostic::error("ambiguous-name", message).at(span, "which one?");
            let diagnostic = diagnostic.context(*first, "this one").context(*second, "or this one");
            self.error(diagnostic.help("give one of them another name"));
            return None;
        }
        let message = format!("the program has no global variable `{name}`");
        let mut diagnostic = Diagnostic::error("unknown-name", message).at(span, "not found");
        let mut locals = variables.iter().filter(|data| data.name == name);
        let owner = locals.find_map(|data| match data.storage {
            Storage::Local(function) | Storage::Param(function) | Storage::Static(function) => Some(function),
            Storage::Global | Storage::ThreadLocal => None,
        });
        let user_file = self.program.functions[self.program.main].span.file;
        let in_file = globals.iter().filter(|(_, data)| data.span.file == user_file);
        let names = in_file.map(|(_, data)| data.name.as_str());
        let enumerators = self.program.enumerators.iter().map(|(name, _)| name.as_str());
        if self.is_behind_arrow(span) && self.is_field(name) {
            let help =
                format!("outside of quotes `->` is implication; for the field write `\"p->{name} == 1\"`");
            diagnostic = diagnostic.help(help);
        } else if let Some(function) = owner {
            let function = &self.program.functions[function].name;
            diagnostic = diagnostic.help(format!("for the local of `{function}` write `{function}::{name}`"));
        } else if let Some(near) = nearest_name(name, names.chain(enumerators)) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.error(diagnostic);
        None
    }

    /// Whether `->` stands right in front, as C's operator is written.
    fn is_behind_arrow(&self, span: Span) -> bool {
        let text = self.map.file(span.file).text.get(..span.start as usize);
        text.is_some_and(|text| text.ends_with("->"))
    }

    /// Whether some struct or union has a field of this name.
    fn is_field(&self, name: &str) -> bool {
        let mut fields = self.program.records.iter().flat_map(|record| record.fields.iter().flatten());
        fields.any(|field| field.name == name)
    }
}
