//! What the names of a model mean.

use std::sync::Arc;

use pdnet_base::FxHashMap;
use pdnet_source::Span;

use crate::lexer::Token;
use crate::tree::{ChannelType, Label, Proc, Type, Var};

/// The names of a model, kept for formulas that come later (`--ltl`).
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Global variables.
    pub(crate) globals: FxHashMap<String, Arc<Symbol>>,
    /// Types that the model declares.
    pub(crate) structs: FxHashMap<String, Arc<Struct>>,
    /// Constants of `mtype`: position of the set in the model, value, where.
    pub(crate) constants: FxHashMap<String, (usize, i64, Span)>,
    /// Inlines.
    pub(crate) inlines: FxHashMap<String, Arc<Inline>>,
    /// Proctypes.
    pub(crate) procs: FxHashMap<String, ProcNames>,
}

/// A variable as its users see it.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    /// Its name.
    pub(crate) name: String,
    /// Its length, for an array.
    pub(crate) length: Option<u32>,
    /// What it consists of.
    pub(crate) node: Node,
    /// Where it is declared.
    pub(crate) span: Span,
}

/// What a variable or an element of an array consists of.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A scalar.
    Leaf(Var, Type),
    /// A structure: its type and its fields.
    Struct(Arc<Struct>, Vec<Symbol>),
}

/// A `typedef`.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    /// Its name.
    pub(crate) name: String,
    /// Its fields.
    pub(crate) fields: Vec<Field>,
    /// Where it is declared.
    pub(crate) span: Span,
}

impl Struct {
    /// The types of all scalars, arrays element by element.
    pub(crate) fn flatten(&self, out: &mut Vec<Type>) {
        for field in &self.fields {
            for _ in 0..field.length.unwrap_or(1) {
                match &field.ty {
                    TypeRef::Basic(ty) => out.push(*ty),
                    TypeRef::Struct(inner) => inner.flatten(out),
                }
            }
        }
    }

    /// How many scalars it has; saturating.
    pub(crate) fn size(&self) -> u64 {
        let of = |field: &Field| {
            let one = match &field.ty {
                TypeRef::Basic(_) => 1,
                TypeRef::Struct(inner) => inner.size(),
            };
            one.saturating_mul(field.length.unwrap_or(1).into())
        };
        self.fields.iter().map(of).fold(0, u64::saturating_add)
    }
}

/// A field of a `typedef`.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) ty: TypeRef,
    /// Its length, for an array.
    pub(crate) length: Option<u32>,
    /// How it begins.
    pub(crate) init: crate::tree::Init,
    /// Where it is declared.
    pub(crate) span: Span,
}

/// A type: a basic one, or one that the model declares.
#[derive(Clone, Debug)]
pub(crate) enum TypeRef {
    /// A basic type.
    Basic(Type),
    /// A structure.
    Struct(Arc<Struct>),
}

/// An inline.
#[derive(Debug)]
pub(crate) struct Inline {
    /// Its number, in order of declaration.
    pub(crate) id: usize,
    /// The names of its parameters.
    pub(crate) params: Vec<Arc<str>>,
    /// The braces and what is between them.
    pub(crate) body: Vec<Token>,
    /// Where its name is declared.
    pub(crate) span: Span,
}

/// What is known of a proctype.
#[derive(Clone, Debug)]
pub(crate) struct ProcNames {
    /// The proctype.
    pub(crate) proc: Proc,
    /// Where its name is declared.
    pub(crate) span: Span,
    /// Its head has been read: from here on SPIN takes its name as one of a proctype.
    pub(crate) declared: bool,
    /// Its body has been read.
    pub(crate) complete: bool,
    /// Its parameters and local variables; the first of several that have the same name in different blocks.
    pub(crate) locals: Vec<Arc<Symbol>>,
    /// Its labels; the first of several.
    pub(crate) labels: Vec<(String, Label)>,
}

impl Node {
    /// The type of a scalar.
    pub(crate) fn scalar(&self) -> Option<(Var, Type)> {
        match self {
            Self::Leaf(var, ty) => Some((*var, *ty)),
            Self::Struct(..) => None,
        }
    }
}

/// A channel's type as declared, with the structure where its message is exactly one.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredChannel {
    /// Capacity and fields.
    pub(crate) ty: ChannelType,
    /// The structure that is the whole message.
    pub(crate) message: Option<Arc<Struct>>,
}
