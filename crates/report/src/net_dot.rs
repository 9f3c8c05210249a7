//! The net as a drawing, for Graphviz.
//!
//! Places where threads are drawn as circles, variables as ellipses, control places as dashed circles,
//! transitions as boxes. Control arcs are dashed and bear `co`, `ca`, `lo` or `po`; arcs to variables are
//! grey, with both ends where the value stays. What belongs to a function stands in its frame.
//! What a slice has cut is drawn in light grey.

use std::fmt::{self, Write as _};

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{ArcData, Function, Net, Place, PlaceForm, PlaceKind, Transition};
use pdnet_source::Pos;

use crate::layout::{base_name, cut};

/// Longer labels make boxes that are wider than the page.
const MAX_LABEL: usize = 40;

/// The net as a graph in the language of Graphviz. Ends in a newline.
#[must_use]
pub fn net_dot(net: &Net) -> String {
    Drawing { net, name: net.name.clone(), cut: None }.draw()
}

/// What is not in a slice.
#[derive(Debug)]
pub(crate) struct Cut {
    /// Of each place, whether it is cut.
    pub(crate) places: IndexVec<Place, bool>,
    /// Of each transition, whether it is cut.
    pub(crate) transitions: IndexVec<Transition, bool>,
}

/// The color of what is cut; the last word on a node or an arc is the one that counts.
const PALE: &str = ", color=gray85, fontcolor=gray75";

/// A drawing of a net.
#[derive(Debug)]
pub(crate) struct Drawing<'a> {
    /// The net.
    pub(crate) net: &'a Net,
    /// What the drawing is called.
    pub(crate) name: String,
    /// What is to be drawn in grey.
    pub(crate) cut: Option<Cut>,
}

impl Drawing<'_> {
    /// The graph in the language of Graphviz.
    pub(crate) fn draw(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    /// How a place that is cut looks.
    fn pale_place(&self, place: Place) -> &'static str {
        if self.cut.as_ref().is_some_and(|cut| cut.places[place]) { PALE } else { "" }
    }

    /// How a transition that is cut looks.
    fn pale_transition(&self, transition: Transition) -> &'static str {
        if self.cut.as_ref().is_some_and(|cut| cut.transitions[transition]) { PALE } else { "" }
    }

    /// An arc is cut with one of its ends.
    fn pale_arc(&self, transition: Transition, place: Place) -> &'static str {
        match self.pale_transition(transition) {
            "" => self.pale_place(place),
            pale => pale,
        }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let net = self.net;
        writeln!(out, "digraph {} {{", quoted(&self.name))?;
        writeln!(out, "  node [fontname=\"Helvetica\", fontsize=10];")?;
        writeln!(out, "  edge [fontname=\"Helvetica\", fontsize=9];")?;
        for (function, data) in net.functions.iter_enumerated() {
            writeln!(out, "  subgraph cluster_{function} {{")?;
            writeln!(out, "    label={};", quoted(&data.name))?;
            writeln!(out, "    color=gray;")?;
            self.write_nodes(out, "    ", Some(function))?;
            writeln!(out, "  }}")?;
        }
        self.write_nodes(out, "  ", None)?;
        for (transition, data) in net.transitions.iter_enumerated() {
            for arc in &data.arcs {
                self.write_arc(out, transition, arc)?;
            }
        }
        writeln!(out, "}}")
    }

    fn write_nodes(&self, out: &mut String, indent: &str, function: Option<Function>) -> fmt::Result {
        for (place, data) in self.net.places.iter_enumerated() {
            if data.function == function {
                self.write_place(out, indent, place)?;
            }
        }
        for (transition, data) in self.net.transitions.iter_enumerated() {
            if Some(data.function) == function {
                let mut label = format!("{transition} {}\n{}", data.action, cut(&data.label, MAX_LABEL));
                if let Some(pos) = data.pos {
                    let _ = write!(label, "\n{}", self.place_name(pos));
                }
                let pale = self.pale_transition(transition);
                writeln!(out, "{indent}{transition} [shape=box, label={}{pale}];", quoted(&label))?;
            }
        }
        Ok(())
    }

    fn write_place(&self, out: &mut String, indent: &str, place: Place) -> fmt::Result {
        let data = &self.net.places[place];
        let mut label = format!("{place}\n{}", cut(&data.name, MAX_LABEL));
        match &data.form {
            PlaceForm::Tokens { initial } if initial.is_empty() => {}
            PlaceForm::Tokens { initial } => {
                let tokens: Vec<String> = initial.iter().map(|token| tuple(token)).collect();
                let _ = write!(label, "\n{}", tokens.join(" "));
            }
            PlaceForm::Cells(cells) => {
                let length = cells.length.map_or_else(String::new, |length| format!("[{length}]"));
                let _ = write!(label, "{length}\n{} = {}", cells.value, cells.default);
            }
        }
        let shape = match data.kind {
            PlaceKind::Execution => "shape=circle",
            PlaceKind::Variable => "shape=ellipse",
            PlaceKind::Control => "shape=circle, style=dashed",
        };
        let gray = if data.internal { ", color=gray, fontcolor=gray" } else { "" };
        let pale = self.pale_place(place);
        writeln!(out, "{indent}{place} [{shape}{gray}, label={}{pale}];", quoted(&label))
    }

    fn write_arc(&self, out: &mut String, transition: Transition, arc: &ArcData) -> fmt::Result {
        let pale = self.pale_arc(transition, arc.place());
        // Arcs without attributes of their own need no brackets.
        let alone = if pale.is_empty() { String::new() } else { format!(" [{}]", &pale[2..]) };
        match arc {
            ArcData::Take { place, .. } => writeln!(out, "  {place} -> {transition}{alone};"),
            ArcData::Put { place, .. } => writeln!(out, "  {transition} -> {place}{alone};"),
            ArcData::Test { place, .. } => {
                writeln!(out, "  {place} -> {transition} [dir=both, arrowtail=normal{pale}];")
            }
            ArcData::Inhibit { place, .. } => {
                writeln!(out, "  {place} -> {transition} [arrowhead=odot{pale}];")
            }
            ArcData::Drain { place, to, .. } => {
                writeln!(out, "  {place} -> {transition} [label=\"all\"{pale}];")?;
                writeln!(out, "  {transition} -> {to} [label=\"all\"{}];", self.pale_arc(transition, *to))
            }
            ArcData::Read { place, when, .. } => {
                let condition = if when.is_some() { ", style=dotted" } else { "" };
                writeln!(
                    out,
                    "  {place} -> {transition} [color=gray, dir=both, arrowtail=normal{condition}{pale}];"
                )
            }
            ArcData::Write { place, value, when, .. } => {
                let data = &self.net.transitions[transition];
                let text = value.pretty(self.net, &|var| data.vars[var].name.clone());
                let condition = if when.is_some() { ", style=dotted" } else { "" };
                let label = quoted(&cut(&text, MAX_LABEL));
                writeln!(
                    out,
                    "  {transition} -> {place} [color=gray, dir=both, arrowtail=onormal, label={label}{condition}{pale}];"
                )
            }
            ArcData::Governed { place } => {
                writeln!(out, "  {place} -> {transition} [style=dashed, constraint=false{pale}];")
            }
            ArcData::Governs { place, dependence } => writeln!(
                out,
                "  {transition} -> {place} [style=dashed, constraint=false, label=\"{}\"{pale}];",
                dependence.name()
            ),
        }
    }

    fn place_name(&self, pos: Pos) -> String {
        let name = self.net.files.get(pos.file.index()).map_or("?", String::as_str);
        format!("{}:{}", base_name(name), pos.line)
    }
}

fn tuple(token: &[i64]) -> String {
    let parts: Vec<String> = token.iter().map(ToString::to_string).collect();
    format!("({})", parts.join(", "))
}

/// A string in the language of Graphviz.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
