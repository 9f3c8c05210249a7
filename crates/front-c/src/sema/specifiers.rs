//! The types that specifiers name: `unsigned long`, `struct s { … }`, `enum e`, `typeof (x)`.

use lang_c::ast;
use lang_c::span::{Node, Span as TextSpan};
use pdnet_base::FxHashMap;
use pdnet_source::{Diagnostic, Span, nearest_name};

use super::layout::Packing;
use super::scope::{Entity, Tag};
use super::{Sema, plain, pointer_to};
use crate::prepass::original_name;
use crate::tree::Record;
use crate::types::{FieldData, FloatKind, IntKind, QualType, Qualifiers, RecordData, Type};

/// The specifiers that make up a type.
#[derive(Clone, Copy)]
pub(super) enum Spec<'a> {
    Type(&'a Node<ast::TypeSpecifier>),
    Qualifier(&'a ast::TypeQualifier),
}

/// The specifiers of a declaration that belong to the type.
pub(super) fn of_declaration(specifiers: &[Node<ast::DeclarationSpecifier>]) -> Vec<Spec<'_>> {
    let mut list = Vec::new();
    for specifier in specifiers {
        match &specifier.node {
            ast::DeclarationSpecifier::TypeSpecifier(node) => list.push(Spec::Type(node)),
            ast::DeclarationSpecifier::TypeQualifier(node) => list.push(Spec::Qualifier(&node.node)),
            ast::DeclarationSpecifier::StorageClass(_)
            | ast::DeclarationSpecifier::Function(_)
            | ast::DeclarationSpecifier::Alignment(_)
            | ast::DeclarationSpecifier::Extension(_) => {}
        }
    }
    list
}

/// The specifiers of a type name or of fields.
pub(super) fn of_qualifiers(specifiers: &[Node<ast::SpecifierQualifier>]) -> Vec<Spec<'_>> {
    let mut list = Vec::new();
    for specifier in specifiers {
        match &specifier.node {
            ast::SpecifierQualifier::TypeSpecifier(node) => list.push(Spec::Type(node)),
            ast::SpecifierQualifier::TypeQualifier(node) => list.push(Spec::Qualifier(&node.node)),
            ast::SpecifierQualifier::Extension(_) => {}
        }
    }
    list
}

/// How often each keyword occurs.
#[derive(Default)]
struct Words {
    signed: bool,
    unsigned: bool,
    short: bool,
    long: usize,
    int: bool,
    char: bool,
    int128: bool,
    complex: bool,
    float: Option<FloatKind>,
}

impl<'a> Sema<'a> {
    /// The type that a list of specifiers names.
    pub(super) fn base_type(&mut self, specs: &[Spec<'a>], at: TextSpan) -> QualType {
        let mut words = Words::default();
        let mut other: Option<QualType> = None;
        let mut quals = Qualifiers::default();
        for spec in specs {
            match spec {
                Spec::Qualifier(qualifier) => add_qualifier(&mut quals, qualifier),
                Spec::Type(node) => match &node.node {
                    ast::TypeSpecifier::Void => other = Some(plain(Type::Void)),
                    ast::TypeSpecifier::Bool => other = Some(plain(Type::Int(IntKind::Bool))),
                    ast::TypeSpecifier::Char => words.char = true,
                    ast::TypeSpecifier::Short => words.short = true,
                    ast::TypeSpecifier::Int => words.int = true,
                    ast::TypeSpecifier::Long => words.long += 1,
                    ast::TypeSpecifier::Float => words.float = Some(FloatKind::Float),
                    ast::TypeSpecifier::Double => words.float = Some(FloatKind::Double),
                    ast::TypeSpecifier::Signed => words.signed = true,
                    ast::TypeSpecifier::Unsigned => words.unsigned = true,
                    ast::TypeSpecifier::Complex => words.complex = true,
                    ast::TypeSpecifier::Atomic(name) => {
                        let mut inner = self.type_name(name);
                        inner.quals.is_atomic = true;
                        other = Some(inner);
                    }
                    ast::TypeSpecifier::Struct(node) => other = Some(plain(self.record_type(node))),
                    ast::TypeSpecifier::Enum(node) => other = Some(plain(self.enum_type(node))),
                    ast::TypeSpecifier::TypedefName(name) => other = Some(self.typedef_type(name)),
                    ast::TypeSpecifier::TypeOf(node) => other = Some(self.typeof_type(&node.node)),
                    ast::TypeSpecifier::TS18661Float(float) => match (&float.format, float.width) {
                        // The pre-pass writes `__int128` in this way.
                        (ast::TS18661FloatFormat::DecimalExtended, 128) => words.int128 = true,
                        (ast::TS18661FloatFormat::BinaryInterchange, 16 | 32) => {
                            words.float = Some(FloatKind::Float);
                        }
                        (ast::TS18661FloatFormat::BinaryInterchange, 64)
                        | (ast::TS18661FloatFormat::BinaryExtended, 32) => {
                            words.float = Some(FloatKind::Double)
                        }
                        _ => words.float = Some(FloatKind::LongDouble),
                    },
                },
            }
        }
        if words.complex && !self.in_system_header(at) {
            let span = self.span(at);
            self.report(
                Diagnostic::error("unsupported-type", "complex numbers are not supported")
                    .at(span, "declared here"),
            );
        }
        let mut result = other.unwrap_or_else(|| plain(words.ty()));
        result.quals.is_const |= quals.is_const;
        result.quals.is_volatile |= quals.is_volatile;
        result.quals.is_atomic |= quals.is_atomic;
        result
    }

    /// A type name, as in a cast.
    pub(super) fn type_name(&mut self, node: &'a Node<ast::TypeName>) -> QualType {
        let specs = of_qualifiers(&node.node.specifiers);
        let base = self.base_type(&specs, node.span);
        match &node.node.declarator {
            Some(declarator) => self.declared(base, declarator).ty,
            None => base,
        }
    }

    fn typedef_type(&mut self, name: &'a Node<ast::Identifier>) -> QualType {
        match self.lookup(&name.node.name) {
            Some(Entity::Typedef(ty)) => ty.clone(),
            Some(Entity::Variable(_) | Entity::Function(_) | Entity::Enumerator(..)) | None => {
                if name.node.name == "__builtin_va_list" {
                    return plain(pointer_to(plain(Type::Void)));
                }
                let span = self.span(name.span);
                let name = original_name(&name.node.name);
                self.report(
                    Diagnostic::error("unknown-type", format!("unknown type name `{name}`"))
                        .at(span, "not declared as a type"),
                );
                plain(Type::INT)
            }
        }
    }

    fn typeof_type(&mut self, node: &'a ast::TypeOf) -> QualType {
        match node {
            ast::TypeOf::Type(name) => self.type_name(name),
            ast::TypeOf::Expression(expression) => {
                if let ast::Expression::Identifier(name) = &expression.node
                    && let Some(Entity::Typedef(ty)) = self.lookup(&name.node.name)
                {
                    return ty.clone();
                }
                let value = self.expr(expression);
                self.type_of_value(&value)
            }
        }
    }

    fn record_type(&mut self, node: &'a Node<ast::StructType>) -> Type {
        let is_union = node.node.kind.node == ast::StructKind::Union;
        let tag = node.node.identifier.as_ref().map(|name| name.node.name.as_str());
        let Some(declarations) = &node.node.declarations else {
            let name = tag.unwrap_or("");
            // `struct s;` on its own declares a new type in this scope.
            let alone = self.prepared.token_text(self.tokens(node.span).1 + 1) == ";";
            let known = if alone { self.lookup_tag_here(name) } else { self.lookup_tag(name) };
            return match known {
                Some(Tag::Record(record)) => {
                    self.same_keyword(record, is_union, node);
                    Type::Record(record)
                }
                Some(Tag::Enum(_)) => {
                    self.tag_clash(name, node.span);
                    Type::INT
                }
                None => Type::Record(self.new_record(name, is_union)),
            };
        };
        let record = match tag.map(|name| (name, self.lookup_tag_here(name))) {
            Some((name, Some(Tag::Record(record)))) => {
                self.same_keyword(record, is_union, node);
                if self.program.records[record].fields.is_some() {
                    let span = self.span(node.span);
                    let word = if is_union { "union" } else { "struct" };
                    let name = original_name(name);
                    self.report(
                        Diagnostic::error("redefined", format!("`{word} {name}` is defined twice"))
                            .at(span, "second definition"),
                    );
                    return Type::Record(record);
                }
                record
            }
            Some((name, Some(Tag::Enum(_)))) => {
                self.tag_clash(name, node.span);
                return Type::INT;
            }
            Some((name, None)) => self.new_record(name, is_union),
            None => self.new_record("", is_union),
        };
        self.record_body(record, node, declarations);
        Type::Record(record)
    }

    fn new_record(&mut self, name: &str, is_union: bool) -> Record {
        let tag = original_name(name);
        let record = self.program.records.push(RecordData { tag, is_union, fields: None, size: 0, align: 1 });
        if !name.is_empty() {
            self.declare_tag(name, Tag::Record(record));
        }
        record
    }

    fn same_keyword(&mut self, record: Record, is_union: bool, node: &Node<ast::StructType>) {
        if self.program.records[record].is_union != is_union {
            let name = self.program.records[record].tag.clone();
            self.tag_clash(&name, node.span);
        }
    }

    fn tag_clash(&mut self, name: &str, at: TextSpan) {
        let span = self.span(at);
        let name = original_name(name);
        self.report(
            Diagnostic::error("redefined", format!("the tag `{name}` means something else already"))
                .at(span, "declared before with another keyword"),
        );
    }

    fn record_body(
        &mut self,
        record: Record,
        node: &'a Node<ast::StructType>,
        declarations: &'a [Node<ast::StructDeclaration>],
    ) {
        let (first, last) = self.tokens(node.span);
        let mut packing = Packing::default();
        for place in [first + 1, last + 1] {
            for attribute in self.prepared.attributes_between(place, place) {
                match attribute.name.as_str() {
                    "packed" => packing.packed = true,
                    "aligned" => packing.align = Some(alignment(&attribute.args)),
                    _ => {}
                }
            }
        }
        let mut fields: Vec<FieldData> = Vec::new();
        let mut seen: FxHashMap<String, Span> = FxHashMap::default();
        for declaration in declarations {
            match &declaration.node {
                ast::StructDeclaration::StaticAssert(assertion) => self.static_assert(assertion),
                ast::StructDeclaration::Field(field) => {
                    let n_before = fields.len();
                    self.fields(field, &mut fields, &mut seen);
                    packing.field_align.resize(fields.len(), None);
                    let (first, last) = self.tokens(field.span);
                    for attribute in self.prepared.attributes_between(first, last) {
                        // One in front of the first token belongs to what stands before.
                        match attribute.name.as_str() {
                            "aligned" => {
                                packing.field_align[n_before..].fill(Some(alignment(&attribute.args)));
                            }
                            "packed" => packing.packed_fields.extend(n_before..fields.len()),
                            _ => {}
                        }
                    }
                }
            }
        }
        self.lay_out(record, fields, &packing);
    }

    fn fields(
        &mut self,
        field: &'a Node<ast::StructField>,
        fields: &mut Vec<FieldData>,
        seen: &mut FxHashMap<String, Span>,
    ) {
        let specs = of_qualifiers(&field.node.specifiers);
        let base = self.base_type(&specs, field.span);
        if field.node.declarators.is_empty() {
            // An anonymous struct or union: its fields are fields of this one.
            if let Type::Record(inner) = base.ty
                && self.program.records[inner].tag.is_empty()
            {
                fields.push(FieldData { name: String::new(), ty: base, bit_offset: 0, bit_width: None });
            }
            return;
        }
        for declarator in &field.node.declarators {
            let (mut name, mut ty) = (String::new(), base.clone());
            let mut at = declarator.span;
            if let Some(node) = &declarator.node.declarator {
                let declared = self.declared(base.clone(), node);
                ty = declared.ty;
                if let Some(identifier) = declared.name {
                    name = original_name(&identifier.node.name);
                    at = identifier.span;
                }
            }
            let span = self.span(at);
            let bit_width = match &declarator.node.bit_width {
                None => None,
                Some(width) => self.bit_field(width, &mut ty, span),
            };
            if let Type::Function(_) = ty.ty {
                self.report(
                    Diagnostic::error("invalid-field", format!("the field `{name}` has a function type"))
                        .at(span, "a field must be an object")
                        .help("store a pointer to the function"),
                );
                ty = plain(Type::INT);
            }
            if let Type::Record(inner) = ty.ty
                && self.program.records[inner].fields.is_none()
            {
                self.incomplete(&ty.ty, span);
                ty = plain(Type::INT);
            }
            if !name.is_empty()
                && let Some(&before) = seen.get(&name)
            {
                self.report(
                    Diagnostic::error("redefined", format!("two fields are called `{name}`"))
                        .at(span, "second field")
                        .context(before, "first field"),
                );
            }
            seen.insert(name.clone(), span);
            fields.push(FieldData { name, ty, bit_offset: 0, bit_width });
        }
    }

    fn bit_field(&mut self, width: &'a Node<ast::Expression>, ty: &mut QualType, span: Span) -> Option<u32> {
        let (value, _) = self.integer_constant(width, "the width of a bit-field")?;
        let limit = match &ty.ty {
            Type::Int(IntKind::Bool) => 1,
            Type::Int(kind) => kind.bits(self.model),
            other => {
                let shown = self.show(other);
                self.report(
                    Diagnostic::error("invalid-field", format!("a bit-field cannot be `{shown}`"))
                        .at(span, "an integer type is needed"),
                );
                *ty = plain(Type::INT);
                return None;
            }
        };
        match u32::try_from(value) {
            Ok(value) if value <= limit => Some(value),
            Ok(_) | Err(_) => {
                self.report(
                    Diagnostic::error(
                        "invalid-field",
                        format!("a bit-field of {value} bits does not fit its type"),
                    )
                    .at(span, format!("the type has {limit} bits")),
                );
                None
            }
        }
    }

    fn enum_type(&mut self, node: &'a Node<ast::EnumType>) -> Type {
        let tag = node.node.identifier.as_ref().map(|name| name.node.name.as_str());
        if node.node.enumerators.is_empty() {
            return match tag.and_then(|name| self.lookup_tag(name)) {
                Some(Tag::Enum(kind)) => Type::Int(kind),
                Some(Tag::Record(_)) => {
                    self.tag_clash(tag.unwrap_or(""), node.span);
                    Type::INT
                }
                None => Type::Int(IntKind::UnsignedInt),
            };
        }
        let (mut next, mut low, mut high) = (0i128, 0i128, 0i128);
        let mut values = Vec::new();
        for enumerator in &node.node.enumerators {
            let value = match &enumerator.node.expression {
                Some(expression) => self
                    .integer_constant(expression, "the value of an enumerator")
                    .map_or(next, |(value, _)| value),
                None => next,
            };
            next = value.saturating_add(1);
            low = low.min(value);
            high = high.max(value);
            let name = &enumerator.node.identifier;
            if let Some(entity) = self.lookup_here(&name.node.name)
                && !matches!(entity, Entity::Enumerator(known, _) if *known == value)
            {
                let span = self.span(name.span);
                let name = original_name(&name.node.name);
                self.report(
                    Diagnostic::error("redefined", format!("`{name}` is declared twice in this scope"))
                        .at(span, "second declaration"),
                );
            }
            // Each constant is an `int` where it fits; later ones may use it already.
            let fits = IntKind::Int.wrap(self.model, value) == value;
            let kind = if fits { IntKind::Int } else { IntKind::Long };
            self.declare(&name.node.name, Entity::Enumerator(value, kind));
            values.push((original_name(&name.node.name), value));
        }
        if self.in_file_scope() {
            self.program.enumerators.extend(values);
        }
        let fits = |kind: IntKind| low >= kind.min(self.model) && high <= kind.max(self.model);
        let choices = [IntKind::UnsignedInt, IntKind::Int, IntKind::UnsignedLong, IntKind::Long];
        let kind = choices.into_iter().find(|&kind| fits(kind)).unwrap_or(IntKind::LongLong);
        if let Some(name) = tag {
            if let Some(Tag::Record(_)) = self.lookup_tag_here(name) {
                self.tag_clash(name, node.span);
            }
            self.declare_tag(name, Tag::Enum(kind));
        }
        Type::Int(kind)
    }

    /// The way to a field by name, through anonymous members; each step is a position.
    pub(super) fn find_field(&self, record: Record, name: &str) -> Option<Vec<usize>> {
        let fields = self.program.records[record].fields.as_ref()?;
        if let Some(position) = fields.iter().position(|field| field.name == name && !name.is_empty()) {
            return Some(vec![position]);
        }
        for (position, field) in fields.iter().enumerate() {
            if let (true, Type::Record(inner), None) = (field.name.is_empty(), &field.ty.ty, field.bit_width)
                && let Some(mut rest) = self.find_field(*inner, name)
            {
                rest.insert(0, position);
                return Some(rest);
            }
        }
        None
    }

    /// Says that a struct has no such field.
    pub(super) fn no_field(&mut self, record: Record, name: &str, span: Span) {
        let shown = self.show(&Type::Record(record));
        let names: Vec<&str> = self.program.records[record]
            .fields
            .iter()
            .flatten()
            .map(|field| field.name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        let diagnostic = Diagnostic::error("unknown-field", format!("`{shown}` has no field `{name}`"))
            .at(span, "no such field");
        let diagnostic = match (nearest_name(name, names.iter().copied()), names.as_slice()) {
            (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
            (None, []) => diagnostic,
            (None, names) if names.len() <= 8 => {
                diagnostic.help(format!("its fields are `{}`", names.join("`, `")))
            }
            (None, _) => diagnostic,
        };
        self.report(diagnostic);
    }
}

impl Words {
    fn ty(&self) -> Type {
        if let Some(kind) = self.float {
            let long_double = kind == FloatKind::Double && self.long > 0;
            return Type::Float(if long_double { FloatKind::LongDouble } else { kind });
        }
        if self.complex {
            return Type::Float(FloatKind::Double);
        }
        let signed = if self.char {
            if self.signed { IntKind::SignedChar } else { IntKind::Char }
        } else if self.int128 {
            IntKind::Int128
        } else if self.short {
            IntKind::Short
        } else {
            match self.long {
                0 => IntKind::Int,
                1 => IntKind::Long,
                _ => IntKind::LongLong,
            }
        };
        Type::Int(if self.unsigned { signed.to_unsigned() } else { signed })
    }
}

pub(super) fn add_qualifier(quals: &mut Qualifiers, qualifier: &ast::TypeQualifier) {
    match qualifier {
        ast::TypeQualifier::Const => quals.is_const = true,
        ast::TypeQualifier::Volatile => quals.is_volatile = true,
        ast::TypeQualifier::Atomic => quals.is_atomic = true,
        ast::TypeQualifier::Restrict
        | ast::TypeQualifier::Nonnull
        | ast::TypeQualifier::NullUnspecified
        | ast::TypeQualifier::Nullable => {}
    }
}

/// The argument of `aligned`; without one it is the largest alignment.
fn alignment(args: &str) -> u64 {
    args.trim()
        .trim_matches(['(', ')', ' '])
        .parse::<u64>()
        .ok()
        .filter(|n| n.is_power_of_two())
        .unwrap_or(16)
}
