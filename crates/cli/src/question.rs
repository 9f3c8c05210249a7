//! What a run of pdnet asks, as far as the states that it walks depend on it: what `--resume` must find unchanged.
//!
//! Limits and the number of threads are no part of it: a search can go on with others. What is not in it and changes the states all the same
//! makes another search of it, which begins anew ([`pdnet_check::Keeper`]).

use pdnet_check::{Fairness, Property};
use pdnet_net::Net;

use crate::args::{CheckArgs, SearchOrder, Store};
use crate::cache::fingerprint::{canonical_net, canonical_property, hex_digest};
use crate::cache::own_build;
use crate::checkpoint::Question;
use crate::inputs::program_name;
use crate::slicing::Slicing;

/// The question.
pub(crate) fn question(args: &CheckArgs, net: &Net, properties: &[Property]) -> Question {
    let fairness: Fairness = args.fair.into();
    let name = program_name(&args.program);
    let meanings: Vec<String> =
        properties.iter().map(|property| canonical_property(property, fairness)).collect();
    let meanings: Vec<&str> = meanings.iter().map(String::as_str).collect();
    let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    let build = own_build().unwrap_or_default();
    let slicing = Slicing::new(args.slicing.slice, &args.reduce);
    let order = match args.limits.search {
        None | Some(SearchOrder::Bfs) => "bfs",
        Some(SearchOrder::Dfs) => "dfs",
    };
    let store = match args.limits.store {
        Store::Exact => "exact",
        Store::HashCompact => "hash-compact",
        Store::Bitstate => "bitstate",
    };
    // The program is another one with other bounds, too: then it is said which.
    let chosen = args.front.chosen();
    let mark = |digest: String| digest.chars().take(16).collect::<String>();
    vec![
        ("the build of pdnet", format!("{} {}", env!("CARGO_PKG_VERSION"), mark(hex_digest(&[&build])))),
        ("the program", format!("{name} {}{chosen}", mark(hex_digest(&[&canonical_net(net)])))),
        ("the properties", format!("{} {}", names.join(", "), mark(hex_digest(&meanings)))),
        ("the fairness", fairness.to_string()),
        ("the reductions", args.reduce.names()),
        ("the method of slicing", slicing.map_or("off", |slicing| slicing.name).to_owned()),
        ("the order", order.to_owned()),
        ("the store", store.to_owned()),
        (
            "the bound on preemptions",
            args.limits.preemptions.map_or_else(|| "none".to_owned(), |bound| bound.to_string()),
        ),
    ]
}
