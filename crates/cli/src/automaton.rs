//! `pdnet automaton`: the automaton of a formula.

use pdnet_logic::{parse_formula, translate};
use pdnet_report::automaton_text;
use pdnet_source::{Diagnostic, Span};

use crate::args::{AutomatonArgs, AutomatonFormat};
use crate::exit::{ExitStatus, Failure};
use crate::session::Session;

/// Prints the automaton.
pub(crate) fn print_automaton(args: &AutomatonArgs, session: &mut Session) -> Result<ExitStatus, Failure> {
    let file = session.map.add("<formula>", args.formula.as_str());
    let formula = parse_formula(&session.map, file).map_err(Failure::input)?;
    let formula = if args.negate { formula.negated() } else { formula };
    let automaton = translate(&formula.ltl, formula.atom_names()).map_err(|error| {
        let end = u32::try_from(args.formula.len()).unwrap_or(u32::MAX);
        Failure::input(
            Diagnostic::error("formula-too-large", error.to_string()).at(Span { file, start: 0, end }, ""),
        )
    })?;
    let name = formula.to_string();
    let text = match args.format {
        AutomatonFormat::Hoa => {
            let properties: &[&str] =
                if formula.ltl.is_stutter_invariant() { &["stutter-invariant"] } else { &[] };
            automaton.to_hoa_with(&name, properties)
        }
        AutomatonFormat::Dot => automaton.to_dot(&name),
        AutomatonFormat::Text => automaton_text(&automaton, &name),
    };
    session.print(&text)?;
    Ok(ExitStatus::Success)
}
