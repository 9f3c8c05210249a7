//! The net as JSON.
//!
//! # The schema `pdnet-net/1`
//!
//! | field | content |
//! | --- | --- |
//! | `schema` | `"pdnet-net/1"` |
//! | `name` | what the net was made of |
//! | `max_threads`, `max_depth` | the bounds of the model |
//! | `done`, `ended`, `atomic` | names of special places, or `null` |
//! | `functions` | `id`, `name`, `entry`, `exit`, `file`, `line`, `column` |
//! | `places` | `id`, `name`, `kind` (`control`, `variable`, `execution`), `color` (factors of the colour set), `function`, `file`, `line`, `column`, `internal`, and either `tokens` (initial tokens) or `cells` |
//! | `cells` | `scope` (`global`, `thread`, `frame`), `length`, `type`, `default`, `listed` (pairs of index and value) |
//! | `transitions` | `id`, `action`, `label`, `function`, `calls`, `file`, `line`, `column`, `vars`, `guard`, `arcs` |
//! | `vars` | `name`, `base`, `choice` (`exact`, `ranges`) or `null` |
//! | `arcs` | `kind` (`take`, `put`, `test`, `inhibit`, `drain`, `read`, `write`, `governed`, `governs`), `place`, and by kind `token`, `to`, `key`, `var`, `value`, `when`, `dependence` (`co`, `ca`, `lo`, `po`) |
//!
//! Expressions are texts in the notation of the net's text form; names of entities are those of the text form.

use pdnet_base::Idx as _;
use pdnet_net::{ArcData, Expr, Net, Pattern, PlaceForm, PlaceKind, Scope, TransitionData};
use pdnet_source::Pos;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::json::{PlaceObject, to_json};

/// The name and version of the schema.
pub const NET_SCHEMA: &str = "pdnet-net/1";

/// The net as one JSON object, indented, ending in a newline.
#[must_use]
pub fn net_json(net: &Net) -> String {
    let name_of = |place: Option<pdnet_net::Place>| place.map(|place| place.to_string());
    let object = Object {
        schema: NET_SCHEMA,
        name: &net.name,
        max_threads: net.max_threads,
        max_depth: net.max_depth,
        done: name_of(net.done),
        ended: name_of(net.ended),
        atomic: name_of(net.atomic),
        functions: functions(net),
        places: places(net),
        transitions: net.transitions.iter_enumerated().map(|(id, data)| transition(net, &id, data)).collect(),
    };
    to_json(&object)
}

#[derive(Serialize)]
struct Object<'a> {
    schema: &'static str,
    name: &'a str,
    max_threads: u32,
    max_depth: u32,
    done: Option<String>,
    ended: Option<String>,
    atomic: Option<String>,
    functions: Vec<FunctionObject<'a>>,
    places: Vec<NetPlace<'a>>,
    transitions: Vec<TransitionObject<'a>>,
}

#[derive(Serialize)]
struct FunctionObject<'a> {
    id: String,
    name: &'a str,
    entry: String,
    exit: String,
    #[serde(flatten)]
    at: PlaceObject,
}

#[derive(Serialize)]
struct NetPlace<'a> {
    id: String,
    name: &'a str,
    kind: &'static str,
    color: Vec<String>,
    function: Option<String>,
    #[serde(flatten)]
    at: PlaceObject,
    internal: bool,
    memory: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<&'a [Vec<i64>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<CellsObject<'a>>,
}

#[derive(Serialize)]
struct CellsObject<'a> {
    scope: &'static str,
    length: Option<u32>,
    #[serde(rename = "type")]
    ty: String,
    default: i64,
    listed: &'a [(u32, i64)],
}

#[derive(Serialize)]
struct TransitionObject<'a> {
    id: String,
    action: &'static str,
    label: &'a str,
    function: String,
    calls: Option<&'a str>,
    #[serde(flatten)]
    at: PlaceObject,
    atomic: bool,
    vars: Vec<VarObject<'a>>,
    guard: Option<String>,
    arcs: Vec<Map<String, Value>>,
}

#[derive(Serialize)]
struct VarObject<'a> {
    name: &'a str,
    base: String,
    choice: Option<ChoiceObject<'a>>,
}

#[derive(Serialize)]
struct ChoiceObject<'a> {
    exact: bool,
    ranges: &'a [(i64, i64)],
}

fn at(net: &Net, pos: Option<Pos>) -> PlaceObject {
    PlaceObject::new(pos, |pos| net.files.get(pos.file.index()).map_or("?", String::as_str).to_owned())
}

fn functions(net: &Net) -> Vec<FunctionObject<'_>> {
    let functions = net.functions.iter_enumerated();
    functions
        .map(|(id, data)| FunctionObject {
            id: id.to_string(),
            name: &data.name,
            entry: data.entry.to_string(),
            exit: data.exit.to_string(),
            at: at(net, data.pos),
        })
        .collect()
}

fn places(net: &Net) -> Vec<NetPlace<'_>> {
    let mut places = Vec::new();
    for (id, data) in net.places.iter_enumerated() {
        let (tokens, cells) = match &data.form {
            PlaceForm::Tokens { initial } => (Some(initial.as_slice()), None),
            PlaceForm::Cells(cells) => {
                let scope = match cells.scope {
                    Scope::Global => "global",
                    Scope::Thread => "thread",
                    Scope::Frame(_) => "frame",
                };
                let cells = CellsObject {
                    scope,
                    length: cells.length,
                    ty: cells.value.to_string(),
                    default: cells.default,
                    listed: &cells.listed,
                };
                (None, Some(cells))
            }
        };
        places.push(NetPlace {
            id: id.to_string(),
            name: &data.name,
            kind: match data.kind {
                PlaceKind::Control => "control",
                PlaceKind::Variable => "variable",
                PlaceKind::Execution => "execution",
            },
            color: net.components(id).iter().map(ToString::to_string).collect(),
            function: data.function.map(|function| function.to_string()),
            at: at(net, data.pos),
            internal: data.internal,
            memory: data.memory,
            tokens,
            cells,
        });
    }
    places
}

fn transition<'a>(net: &Net, id: &pdnet_net::Transition, data: &'a TransitionData) -> TransitionObject<'a> {
    let vars = data.vars.iter().map(|var| VarObject {
        name: &var.name,
        base: var.base.to_string(),
        choice: var
            .choice
            .as_ref()
            .map(|domain| ChoiceObject { exact: domain.exact, ranges: &domain.ranges }),
    });
    TransitionObject {
        id: id.to_string(),
        action: data.action.name(),
        label: &data.label,
        function: data.function.to_string(),
        calls: data.calls.as_deref(),
        at: at(net, data.pos),
        atomic: data.atomic,
        vars: vars.collect(),
        guard: data.guard.as_ref().map(ToString::to_string),
        arcs: data.arcs.iter().map(arc_object).collect(),
    }
}

fn arc_object(arc: &ArcData) -> Map<String, Value> {
    let exprs = |exprs: &[Expr]| json!(exprs.iter().map(ToString::to_string).collect::<Vec<_>>());
    let patterns = |token: &[Pattern]| json!(token.iter().map(ToString::to_string).collect::<Vec<_>>());
    let when = |when: &Option<Expr>| json!(when.as_ref().map(ToString::to_string));
    let (kind, fields): (&str, Vec<(&str, Value)>) = match arc {
        ArcData::Take { token, .. } => ("take", vec![("token", patterns(token))]),
        ArcData::Put { token, .. } => ("put", vec![("token", exprs(token))]),
        ArcData::Test { token, .. } => ("test", vec![("token", patterns(token))]),
        ArcData::Inhibit { prefix, .. } => ("inhibit", vec![("token", exprs(prefix))]),
        ArcData::Drain { prefix, to, .. } => {
            ("drain", vec![("token", exprs(prefix)), ("to", json!(to.to_string()))])
        }
        ArcData::Read { key, var, when: condition, .. } => {
            ("read", vec![("key", exprs(key)), ("var", json!(var.to_string())), ("when", when(condition))])
        }
        ArcData::Write { key, value, when: condition, .. } => (
            "write",
            vec![("key", exprs(key)), ("value", json!(value.to_string())), ("when", when(condition))],
        ),
        ArcData::Governed { .. } => ("governed", vec![]),
        ArcData::Governs { dependence, .. } => ("governs", vec![("dependence", json!(dependence.name()))]),
    };
    let mut object = Map::new();
    object.insert("kind".to_owned(), json!(kind));
    object.insert("place".to_owned(), json!(arc.place().to_string()));
    object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    object
}
