//! `pdnet slice`: what of a program the answer to a property depends on, and why.

use pdnet_check::Property;
use pdnet_report::{
    KeptParts, SliceReport, SlicedProperties, TextOptions, slice_dot, slice_json, slice_text,
};
use pdnet_source::ColorChoice;

use crate::args::{SliceArgs, SliceFormat};
use crate::exit::{ExitStatus, Failure};
use crate::front::Source;
use crate::inputs::program_name;
use crate::job::resolve_job;
use crate::pipeline::refused;
use crate::reductions::Reductions;
use crate::session::Session;
use crate::slicing::{Slicing, groups, is_clear, slice_for};

/// Prints the program with what is kept of it for each group of properties.
pub(crate) fn print_slice(args: &SliceArgs, session: &mut Session) -> Result<ExitStatus, Failure> {
    let job = resolve_job(&mut session.map, &args.program, &args.front).map_err(refused)?;
    let source = Source::load(&mut session.map, &job.program, &args.front, job.data_model);
    let mut source = source.map_err(refused)?;
    let task = job.task.as_ref();
    let asked = source.ask(&mut session.map, &args.properties, task, &Reductions::all()).map_err(refused)?;
    let lowered = source.model(session, &asked, &args.front)?;
    session.show(source.warnings());
    session.show(&lowered.warnings);
    // As in `check`: what needs no search needs no slice.
    let (clear, properties): (Vec<Property>, Vec<Property>) =
        lowered.properties.iter().cloned().partition(|property| is_clear(&lowered.net, property));
    let slicing = Slicing::new(args.slicing.slice, &Reductions::all());
    let mut slices = Vec::new();
    for group in groups(&properties, args.fair.into()) {
        let members = group.properties(&properties);
        let fairness = group.fairness.unwrap_or_default();
        let (parts, seconds) = match slicing {
            // As in `check`: what sees steps is searched in the whole net.
            Some(slicing) if !members.iter().any(Property::sees_steps) => {
                let (slice, seconds) = slice_for(&lowered.net, &members, fairness, slicing.method)?;
                (KeptParts::of(&slice), seconds)
            }
            Some(_) | None => (KeptParts::all(&lowered.net), 0.0),
        };
        slices.push(SlicedProperties { properties: members, fairness: group.fairness, parts, seconds });
    }
    let report = SliceReport {
        version: env!("CARGO_PKG_VERSION"),
        input: program_name(&args.program),
        net: &lowered.net,
        map: &session.map,
        method: slicing.map_or("off", |slicing| slicing.name),
        slices,
        notes: asked.common.notes.iter().cloned().chain(clear.iter().map(clear_note)).collect(),
    };
    let text = match args.format {
        SliceFormat::Text => slice_text(&report, text_options(args, session)),
        SliceFormat::Json => slice_json(&report),
        SliceFormat::Dot => slice_dot(&report),
    };
    match &args.output {
        None => session.print(&text)?,
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failure::Output(format!("`{}`", path.display()), error))?,
    }
    Ok(ExitStatus::Success)
}

/// Colors are for the terminal, not for files.
fn text_options(args: &SliceArgs, session: &Session) -> TextOptions {
    let options = session.text_options();
    if args.output.is_some() { TextOptions { color: ColorChoice::Plain, ..options } } else { options }
}

fn clear_note(property: &Property) -> String {
    format!(
        "{}: no two threads can race for any memory of this program, so that nothing is searched",
        property.name
    )
}
