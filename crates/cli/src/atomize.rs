//! `pdnet atomize`: a Promela model with fewer interleavings, for SPIN.

use pdnet_front_promela::{AtomizeOptions, Options, atomize_file};

use crate::args::AtomizeArgs;
use crate::exit::{ExitStatus, Failure};
use crate::pipeline::refused;
use crate::session::Session;

/// Writes the model, and says what was done: on standard output where the model goes to a file, else on standard
/// error.
pub(crate) fn print_atomized(args: &AtomizeArgs, session: &mut Session) -> Result<ExitStatus, Failure> {
    let options = Options {
        include_dirs: args.include_dirs.clone(),
        defines: args.defines.clone(),
        ..Options::default()
    };
    let atomize_options = AtomizeOptions {
        trust_claims: args.trust_claims,
        before_waits: args.before_waits,
        no_fairness: false,
    };
    let made = atomize_file(&mut session.map, &args.model, &options, &args.ltl, atomize_options);
    let (_, made, warnings) = made.map_err(refused)?;
    session.show(&warnings);
    let report = if args.quiet { String::new() } else { made.report(&session.map) };
    match &args.output {
        None => {
            session.tell(&report);
            session.print(&made.text)?;
        }
        Some(path) => {
            std::fs::write(path, made.text)
                .map_err(|error| Failure::Output(format!("`{}`", path.display()), error))?;
            session.print(&report)?;
        }
    }
    Ok(ExitStatus::Success)
}
