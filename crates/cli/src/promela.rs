//! `pdnet promela`: a program as a model for SPIN.

use pdnet_check::{Fairness, Property};
use pdnet_front_c::lower;
use pdnet_net::{Net, most_threads};
use pdnet_report::{PromelaExport, promela};
use pdnet_source::Diagnostic;

use crate::args::{Language, PromelaArgs};
use crate::exit::{ExitStatus, Failure};
use crate::front::language;
use crate::inputs::{load_program, program_name};
use crate::job::resolve_job;
use crate::pipeline::{lower_options, properties_of, refused, verify};
use crate::properties::resolve_properties;
use crate::reductions::Reductions;
use crate::session::Session;
use crate::slicing::{Slicing, slice_for};

/// Writes the model of a program, sliced for all properties together.
pub(crate) fn print_promela(args: &PromelaArgs, session: &mut Session) -> Result<ExitStatus, Failure> {
    if language(&args.program, &args.front) == Language::Promela {
        let message = format!("{} is a Promela model already", program_name(&args.program));
        let error = Diagnostic::error("already-promela", message)
            .help("`pdnet check` checks it, and `pdnet atomize` writes it with fewer interleavings");
        return Err(refused(vec![error]));
    }
    let job = resolve_job(&mut session.map, &args.program, &args.front).map_err(refused)?;
    let loaded = load_program(&mut session.map, &job.program, &args.front, job.data_model);
    let loaded = loaded.map_err(refused)?;
    let (task, annotations) = (job.task.as_ref(), &loaded.annotations);
    let asked = resolve_properties(&mut session.map, &args.properties, task, annotations, &Reductions::all())
        .map_err(refused)?;
    let lowered =
        lower(&session.map, &loaded.program, &asked.formulas(), &lower_options(&args.front, &asked));
    let lowered = lowered.map_err(refused)?;
    session.show(&loaded.warnings);
    session.show(&lowered.warnings);
    verify(&lowered.net)?;
    let properties = properties_of(&asked, &lowered)?;
    let slicing = Slicing::new(args.slicing.slice, &Reductions::all());
    let sliced;
    let (net, properties): (&Net, &[Property]) = match slicing {
        Some(slicing) => {
            (sliced, _) = slice_for(&lowered.net, &properties, Fairness::None, slicing.method)?;
            (&sliced.net, &sliced.properties)
        }
        None => (&lowered.net, &properties),
    };
    let input = program_name(&args.program);
    let export = PromelaExport {
        version: env!("CARGO_PKG_VERSION"),
        input: &input,
        net,
        slicing: slicing.map_or("off", |slicing| slicing.name),
        properties,
        // A slice has no more threads than the program.
        n_threads: [&lowered.net, net].into_iter().filter_map(most_threads).fold(net.max_threads, u32::min),
    };
    let model = promela(&export).map_err(refused)?;
    session.show(&model.warnings);
    match &args.output {
        None => session.print(&model.text)?,
        Some(path) => std::fs::write(path, model.text)
            .map_err(|error| Failure::Output(format!("`{}`", path.display()), error))?,
    }
    Ok(ExitStatus::Success)
}
