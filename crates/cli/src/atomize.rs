//! `pdnet atomize`: a Promela model with fewer interleavings, for SPIN.

use pdnet_front_promela::{AtomizeOptions, Atomized, ChannelFact, Options, atomize_file, shown_statement};
use pdnet_report::{AtomizeReport, ChannelNote, MergedSequence, SourcePlace, StatementNote, atomize_json};
use pdnet_source::{SourceMap, Span};

use crate::args::{AtomizeArgs, ReportFormat, SpinFairness};
use crate::exit::{ExitStatus, Failure};
use crate::pipeline::refused;
use crate::session::Session;

/// Writes the model, and says what was done: on standard output where the model goes to a file, else on standard
/// error. As JSON it goes to standard output in any case.
pub(crate) fn print_atomized(args: &AtomizeArgs, session: &mut Session) -> Result<ExitStatus, Failure> {
    let options = Options {
        include_dirs: args.include_dirs.clone(),
        defines: args.defines.clone(),
        ..Options::default()
    };
    let atomize_options = AtomizeOptions {
        claims: args.claim.clone(),
        trust_claims: args.trust_claims,
        before_waits: args.before_waits,
        no_fairness: args.fair == SpinFairness::None,
    };
    let made = atomize_file(&mut session.map, &args.model, &options, &args.ltl, &atomize_options);
    let (_, made, warnings) = made.map_err(refused)?;
    session.show(&warnings);
    if let Some(path) = &args.output {
        std::fs::write(path, &made.text)
            .map_err(|error| Failure::Output(format!("`{}`", path.display()), error))?;
    }
    match (args.format, &args.output) {
        (ReportFormat::Json, _) => {
            let report = report_of(args, &session.map, made);
            session.print(&atomize_json(&report, env!("CARGO_PKG_VERSION")))?;
        }
        (ReportFormat::Text, None) => {
            if !args.quiet {
                session.tell(&made.report(&session.map));
            }
            session.print(&made.text)?;
        }
        (ReportFormat::Text, Some(_)) if args.quiet => {}
        (ReportFormat::Text, Some(_)) => session.print(&made.report(&session.map))?,
    }
    Ok(ExitStatus::Success)
}

fn report_of(args: &AtomizeArgs, map: &SourceMap, made: Atomized) -> AtomizeReport {
    let merged = made.merged.into_iter().map(|merged| {
        let statements = merged.rules.iter().map(|&(span, rule)| StatementNote {
            process: None,
            place: place(map, span),
            text: shown_statement(map, span),
            rule: Some(rule.name()),
            reason: rule.text().to_owned(),
        });
        MergedSequence {
            place: place(map, merged.span),
            exchanged: merged.exchanged,
            statements: statements.collect(),
            process: merged.process,
        }
    });
    let kept = made.kept.into_iter().map(|kept| StatementNote {
        process: Some(kept.process),
        place: place(map, kept.span),
        text: shown_statement(map, kept.span),
        rule: None,
        reason: kept.reason,
    });
    let output = args.output.as_ref().map(|path| path.display().to_string());
    AtomizeReport {
        input: args.model.display().to_string(),
        model: output.is_none().then_some(made.text),
        output,
        obstacle: made.obstacle,
        merged: merged.collect(),
        kept: kept.collect(),
        channels: made.channels.into_iter().map(channel_note).collect(),
    }
}

fn channel_note(fact: ChannelFact) -> ChannelNote {
    match fact {
        ChannelFact::Exclusive { channel, process, receives } => ChannelNote {
            channel,
            fact: if receives { "exclusive-receive" } else { "exclusive-send" },
            process: Some(process),
            messages: None,
            capacity: None,
        },
        ChannelFact::GivenBack { variable } => ChannelNote {
            channel: variable,
            fact: "given-back",
            process: None,
            messages: None,
            capacity: None,
        },
        ChannelFact::Sufficient { channel, messages, capacity } => ChannelNote {
            channel,
            fact: "sufficient-capacity",
            process: None,
            messages: Some(messages),
            capacity: Some(capacity),
        },
    }
}

fn place(map: &SourceMap, span: Span) -> SourcePlace {
    let pos = map.pos(span);
    SourcePlace { file: map.file(pos.file).name.clone(), line: pos.line, column: pos.column }
}
