//! Properties: formulas as `ltl` blocks, checks as assertions and end states.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use pdnet_base::Idx as _;
use pdnet_check::{Property, PropertyKind};
use pdnet_logic::Ltl;
use pdnet_net::{Expr, Net, Place};

use super::expr::{Code, ExprWriter, Refusal};
use super::model::Model;
use super::names::{comment, word};

/// The cells that atoms look at.
pub(super) fn observed(properties: &[Property]) -> BTreeSet<Place> {
    let mut found = BTreeSet::new();
    for property in properties {
        let PropertyKind::Ltl { atoms, .. } = &property.kind else { continue };
        for atom in atoms {
            atom.expr.walk(&mut |expr| {
                if let Expr::Cell(place, _) = expr {
                    found.insert(*place);
                }
            });
        }
    }
    found
}

/// The name of a property in the model.
pub(super) fn property_name(property: &Property) -> String {
    word("p_", &property.name)
}

/// The flag that says that a step of a check was taken.
pub(super) fn flag_name(property: &Property) -> String {
    word("failed_", &property.name)
}

/// A formula with its atoms. Where runs can be stopped, those that are do not count.
pub(super) fn ltl_block(
    model: &Model<'_>,
    property: &Property,
    name: &str,
    can_stop: bool,
) -> Result<Option<String>, Refusal> {
    let PropertyKind::Ltl { formula, atoms } = &property.kind else { return Ok(None) };
    let mut text = format!("\n/* {}: {} */\n", comment(&property.name), comment(&property.text));
    let mut names = Vec::new();
    for (number, atom) in atoms.iter().enumerate() {
        let vars = |_| None;
        let writer = ExprWriter { model, vars: &vars, in_formula: true };
        let in_atom = |refusal: Refusal| Refusal {
            message: format!("the atom `{}` of `{}`: {}", atom.text, property.name, refusal.message),
            ..refusal
        };
        let code: Code = writer.write(&atom.expr).map_err(in_atom)?;
        let atom_name = format!("{name}_{number}");
        let _ = writeln!(text, "#define {atom_name} ({} != 0) /* {} */", code.text, comment(&atom.text));
        names.push(atom_name);
    }
    let mut formula = spelled(formula, &names);
    if can_stop {
        formula = format!("(<> (stopped != 0)) || ({formula})");
    }
    let _ = writeln!(text, "ltl {name} {{ {formula} }}");
    Ok(Some(text))
}

/// A formula in SPIN's spelling.
fn spelled(formula: &Ltl, atoms: &[String]) -> String {
    let of = |formula: &Ltl| spelled(formula, atoms);
    match formula {
        Ltl::True => "true".to_owned(),
        Ltl::False => "false".to_owned(),
        Ltl::Atom(atom) => atoms.get(atom.index()).cloned().unwrap_or_else(|| "false".to_owned()),
        Ltl::Not(f) => format!("(! {})", of(f)),
        Ltl::And(f, g) => format!("({} && {})", of(f), of(g)),
        Ltl::Or(f, g) => format!("({} || {})", of(f), of(g)),
        Ltl::Implies(f, g) => format!("({} -> {})", of(f), of(g)),
        Ltl::Iff(f, g) => format!("({} <-> {})", of(f), of(g)),
        Ltl::Xor(f, g) => format!("(! ({} <-> {}))", of(f), of(g)),
        Ltl::Next(f) => format!("(X {})", of(f)),
        Ltl::Finally(f) => format!("(<> {})", of(f)),
        Ltl::Globally(f) => format!("([] {})", of(f)),
        Ltl::Until(f, g) => format!("({} U {})", of(f), of(g)),
        Ltl::WeakUntil(f, g) => format!("({} W {})", of(f), of(g)),
        Ltl::Release(f, g) => format!("({} V {})", of(f), of(g)),
        Ltl::StrongRelease(f, g) => format!("({} U ({} && {}))", of(g), of(f), of(g)),
    }
}

/// Whether SPIN can be asked about it.
pub(super) fn is_askable(property: &Property) -> bool {
    match &property.kind {
        PropertyKind::NeverFires(_) | PropertyKind::NoDeadlock => true,
        // Claims are those of models that are in Promela already.
        PropertyKind::NoRace | PropertyKind::NoPartialDeadlock | PropertyKind::Never { .. } => false,
        PropertyKind::Ltl { formula, .. } => formula.is_stutter_invariant(),
    }
}

/// The inputs of which not all values are tried.
pub(super) fn names_of_inputs(net: &Net) -> BTreeSet<String> {
    let vars = net.transitions.iter().flat_map(|data| data.vars.iter());
    let sampled = vars.filter(|var| var.choice.as_ref().is_some_and(|domain| !domain.exact));
    sampled.map(|var| var.name.clone()).collect()
}
