//! Scopes of names and tags.

use pdnet_base::FxHashMap;

use super::Sema;
use crate::prepass::original_name;
use crate::tree::{Function, Record, Variable};
use crate::types::{IntKind, QualType};

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// A variable.
    Variable(Variable),
    /// A function.
    Function(Function),
    /// A type.
    Typedef(QualType),
    /// A constant of an enumeration.
    Enumerator(i128, IntKind),
}

/// What a tag means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tag {
    /// A struct or union.
    Record(Record),
    /// An enumeration, with its integer type.
    Enum(IntKind),
}

/// The names of one block, or of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) names: FxHashMap<String, Entity>,
    pub(super) tags: FxHashMap<String, Tag>,
    /// The names in the order of their declaration.
    order: Vec<String>,
}

impl Sema<'_> {
    pub(super) fn push_scope(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(super) fn pop_scope(&mut self) {
        self.scopes.pop();
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Entity> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name))
    }

    pub(super) fn lookup_here(&self, name: &str) -> Option<&Entity> {
        self.scopes.last().and_then(|scope| scope.names.get(name))
    }

    pub(super) fn declare(&mut self, name: &str, entity: Entity) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.declare(name, entity);
        }
    }

    pub(super) fn declare_global_name(&mut self, name: &str, entity: Entity) {
        self.scopes[0].declare(name, entity);
    }

    pub(super) fn lookup_tag(&self, name: &str) -> Option<Tag> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(name).copied())
    }

    pub(super) fn lookup_tag_here(&self, name: &str) -> Option<Tag> {
        self.scopes.last().and_then(|scope| scope.tags.get(name).copied())
    }

    pub(super) fn declare_tag(&mut self, name: &str, tag: Tag) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.tags.insert(name.to_owned(), tag);
        }
    }

    pub(super) fn in_file_scope(&self) -> bool {
        self.scopes.len() == 1
    }

    /// All names that could be meant here, innermost first; those of the implementation are left out.
    pub(super) fn visible_names(&self) -> Vec<String> {
        let scopes = self.scopes.iter().rev();
        let names = scopes.flat_map(|scope| scope.order.iter().rev());
        names.filter(|name| !name.starts_with("__")).map(|name| original_name(name)).collect()
    }
}

impl Scope {
    fn declare(&mut self, name: &str, entity: Entity) {
        if self.names.insert(name.to_owned(), entity).is_none() {
            self.order.push(name.to_owned());
        }
    }
}
