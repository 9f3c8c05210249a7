//! What addresses and cells are called: the table of the program's objects in the net.

use std::collections::BTreeSet;
use std::rc::Rc;

use pdnet_net::{ObjectData, ObjectKind, PartData};

use super::Lowerer;
use super::points_to::Home;
use super::shape::shape_of;
use crate::types::Type;

impl Lowerer<'_> {
    /// Fills the table, once all places have their final numbers.
    pub(crate) fn name_objects(&mut self) {
        let placed = self.cells.keys().map(|(home, _)| *home);
        let homes: BTreeSet<Home> = placed.chain(self.survey.points_to.numbered()).collect();
        let objects: Vec<ObjectData> = homes.into_iter().filter_map(|home| self.object_data(home)).collect();
        self.net.objects = objects;
    }

    fn object_data(&self, home: Home) -> Option<ObjectData> {
        let number = self.survey.points_to.number(home).unwrap_or(0);
        let kind = match home {
            Home::Variable(_) => ObjectKind::Variable,
            // Where there are no slots, nothing is ever allocated.
            Home::Heap(site) => ObjectKind::Heap(*self.slots.get(&site)?),
            Home::Text(_) => ObjectKind::Text,
            Home::Function(_) => ObjectKind::Function,
            Home::Outside => ObjectKind::Unknown,
        };
        let shape = self.shapes.get(&home).cloned();
        let shape = shape.or_else(|| shape_of(self.program, &self.home_type(home)).ok().map(Rc::new));
        let leaves = shape.iter().flat_map(|shape| shape.leaves.iter().enumerate());
        let parts = leaves.map(|(position, leaf)| PartData {
            place: self.cells.get(&(home, position)).copied(),
            path: leaf.path.clone(),
            offset: leaf.offset,
            dimensions: leaf.dimensions.iter().map(|dimension| (dimension.stride, dimension.count)).collect(),
        });
        Some(ObjectData {
            number: u16::try_from(number).ok()?,
            name: self.home_name(home),
            kind,
            parts: parts.collect(),
        })
    }

    /// What the blocks of a site are called.
    pub(crate) fn block_word(&self, site: usize) -> String {
        let Some(mut ty) = self.survey.points_to.sites[site].element.as_ref() else {
            return "block".to_owned();
        };
        while let Type::Array(element, _) = ty {
            ty = &element.ty;
        }
        match ty {
            Type::Record(record) => Some(self.program.records[*record].tag.clone()),
            Type::Int(_) | Type::Float(_) => Some(ty.display(self.program).to_string()),
            _ => None,
        }
        .filter(|word| !word.is_empty() && !word.contains(' '))
        .unwrap_or_else(|| "block".to_owned())
    }
}
