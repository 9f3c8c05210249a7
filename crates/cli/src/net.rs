//! `pdnet net`: the net of a program.

use pdnet_report::{net_dot, net_json};

use crate::args::{NetArgs, NetFormat};
use crate::exit::{ExitStatus, Failure};
use crate::front::{Asked, Source};
use crate::pipeline::refused;
use crate::session::Session;

/// Prints the net, as it is before any property asks for observers.
pub(crate) fn print_net(args: &NetArgs, session: &mut Session) -> Result<ExitStatus, Failure> {
    let model = args.front.data_model().unwrap_or_default();
    let source = Source::load(&mut session.map, &args.program, &args.front, model).map_err(refused)?;
    let lowered = source.model(session, &Asked::default(), &args.front)?;
    session.show(source.warnings());
    session.show(&lowered.warnings);
    let text = match args.format {
        NetFormat::Text => lowered.net.to_string(),
        NetFormat::Dot => net_dot(&lowered.net),
        NetFormat::Json => net_json(&lowered.net),
    };
    match &args.output {
        None => session.print(&text)?,
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failure::Output(format!("`{}`", path.display()), error))?,
    }
    Ok(ExitStatus::Success)
}
