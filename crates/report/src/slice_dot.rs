//! The whole net as a drawing in which what a slice has cut is grey.

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Net, PlaceKind};

use crate::net_dot::{Cut, Drawing};
use crate::slicing::{KeptParts, SliceReport, SlicedProperties};

/// One graph for each slice, in the language of Graphviz. Ends in a newline.
#[must_use]
pub fn slice_dot(report: &SliceReport<'_>) -> String {
    let draw = |sliced: &SlicedProperties| {
        let names: Vec<&str> = sliced.properties.iter().map(|property| property.name.as_str()).collect();
        let name = format!("{} sliced for {}", report.net.name, names.join(", "));
        Drawing { net: report.net, name, cut: Some(cut_of(report.net, &sliced.parts)) }.draw()
    };
    report.slices.iter().map(draw).collect()
}

/// What is not in the slice.
fn cut_of(net: &Net, parts: &KeptParts) -> Cut {
    let mut places = IndexVec::filled(true, net.places.len());
    let mut transitions = IndexVec::filled(true, net.transitions.len());
    parts.places.iter().for_each(|&place| places[place] = false);
    parts.transitions.iter().for_each(|&transition| transitions[transition] = false);
    // A control place is part of no marking, so that a slice need not have it; it stays with the steps that it
    // governs.
    for (place, data) in net.places.iter_enumerated() {
        if data.kind == PlaceKind::Control {
            places[place] = true;
        }
    }
    for (transition, data) in net.transitions.iter_enumerated() {
        for arc in &data.arcs {
            if let ArcData::Governed { place } = arc
                && !transitions[transition]
            {
                places[*place] = false;
            }
        }
    }
    Cut { places, transitions }
}
