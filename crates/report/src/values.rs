//! Cells and values as people call them: `node@12#1.next`, `&a[2]`, `NULL`, `0.5`.

use pdnet_net::{
    Action, Address, ArcData, IntType, Interpreter, Marking, Net, ObjectData, ObjectKind, PartData, Place,
    Scope, Shown,
};

/// Longer arrays are cut where final values are shown.
const MAX_SHOWN_CELLS: u32 = 16;

/// The only member of what the headers declare as a type of its own, such as `atomic_flag`: people call the object itself.
const ONLY_MEMBER: &str = ".pdnet_value";

/// The name of a cell for people: the object, with the way to the part of it.
pub(crate) fn cell_name(net: &Net, place: Place, key: &[i64]) -> String {
    let data = &net.places[place];
    let Some(cells) = data.cells() else { return data.name.clone() };
    let index = key.last().filter(|_| cells.length.is_some()).map(|&index| u64::try_from(index).unwrap_or(0));
    let Some((object, part)) = net.part_of(place) else {
        return index.map_or_else(|| data.name.clone(), |index| format!("{}[{index}]", data.name));
    };
    let mut position = index.unwrap_or(0);
    let mut name = object.name.clone();
    if let ObjectKind::Heap(_) = object.kind {
        let count = part.count().max(1);
        let owner = key.first().filter(|_| matches!(cells.scope, Scope::Thread));
        name = block_name(object, owner.copied(), position / count);
        position %= count;
    }
    let path = part.path.strip_suffix(ONLY_MEMBER).unwrap_or(&part.path);
    name + &with_indices(path, &part.indices(position))
}

/// `node@12#1`, or `node@12#2:1` where each thread numbers its own.
fn block_name(object: &ObjectData, owner: Option<i64>, number: u64) -> String {
    let owner = owner.map_or_else(String::new, |owner| format!("{owner}:"));
    format!("{}#{owner}{number}", object.name)
}

/// The path of a part, with the indices in the brackets.
fn with_indices(path: &str, indices: &[u64]) -> String {
    let mut pieces = path.split("[]");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for (position, piece) in pieces.enumerate() {
        let index = indices.get(position).copied().unwrap_or(0);
        text.push_str(&format!("[{index}]{piece}"));
    }
    text
}

/// A canonical value of a type for people.
pub(crate) fn value_text(net: &Net, shown: Shown, ty: IntType, value: i64) -> String {
    let number = ty.to_i128(value);
    match shown {
        Shown::Integer => number.to_string(),
        Shown::Pointer => address_text(net, value),
        Shown::Float32 | Shown::Float64 => float_text(shown, number),
        Shown::Bits => format!("{number:#x}"),
    }
}

/// The floating-point number that bits stand for.
pub(crate) fn float_value(shown: Shown, bits: i128) -> Option<f64> {
    match shown {
        Shown::Float32 => u32::try_from(bits).ok().map(|bits| f32::from_bits(bits).into()),
        Shown::Float64 => u64::try_from(bits).ok().map(f64::from_bits),
        Shown::Integer | Shown::Pointer | Shown::Bits => None,
    }
}

fn float_text(shown: Shown, bits: i128) -> String {
    let Some(value) = float_value(shown, bits) else { return bits.to_string() };
    match (shown, u32::try_from(bits)) {
        _ if value.is_nan() => "nan".to_owned(),
        // The shortest text that gives this number is another one for the narrower type.
        (Shown::Float32, Ok(bits)) => format!("{:?}", f32::from_bits(bits)),
        _ => format!("{value:?}"),
    }
}

/// An address for people.
fn address_text(net: &Net, value: i64) -> String {
    let address = Address::of(value);
    if value == 0 {
        return "NULL".to_owned();
    }
    let Some(object) = net.object(address.object) else { return format!("(void *){value}") };
    let offset = u64::from(address.offset);
    let behind = |name: &str| if offset == 0 { name.to_owned() } else { format!("{name} + {offset}") };
    let place = object.parts.iter().find_map(|part| part.place);
    let scope = place.and_then(|place| net.places[place].cells()).map(|cells| cells.scope);
    let (name, owner) = match object.kind {
        ObjectKind::Function | ObjectKind::Text => return behind(&object.name),
        ObjectKind::Unknown => return behind("a pointer of the environment"),
        ObjectKind::Heap(slots) => {
            let scope = net.places[slots].cells().map(|cells| cells.scope);
            let owner = matches!(scope, Some(Scope::Thread)).then_some(i64::from(address.thread));
            let prime = if address.slot % 2 == 1 { "'" } else { "" };
            (block_name(object, owner, u64::from(address.slot / 2)) + prime, String::new())
        }
        ObjectKind::Variable => {
            let is_own = matches!(scope, Some(Scope::Thread | Scope::Frame(_)));
            let owner = if is_own { format!(" of thread {}", address.thread) } else { String::new() };
            (object.name.clone(), owner)
        }
    };
    match path_at(object, offset) {
        Some(path) => format!("&{name}{path}{owner}"),
        None => format!("&{name}{owner} + {offset}"),
    }
}

/// The way to what is at a distance from the start of an object: to the largest struct that starts there, or to the
/// part.
fn path_at(object: &ObjectData, offset: u64) -> Option<String> {
    let found = object.parts.iter().filter_map(|part| Some((part, part.indices_at(offset)?)));
    let is_behind = |(part, indices): &(&PartData, Vec<u64>)| {
        part.dimensions.first().zip(indices.first()).is_some_and(|((_, count), index)| index == count)
    };
    let Some((part, indices)) = found.min_by_key(|found| (is_behind(found), found.0.offset)) else {
        return (offset == 0).then(String::new);
    };
    let mut path = part.path.as_str();
    while let Some((outer, member)) = path.rsplit_once('.') {
        let is_first = |other: &PartData| !other.path.starts_with(outer) || other.offset >= part.offset;
        if member.contains('[') || !object.parts.iter().all(is_first) {
            break;
        }
        path = outer;
    }
    Some(with_indices(path, &indices))
}

/// The values of the program's global variables and blocks. Mutexes and thread handles are no variables to the
/// reader.
pub(crate) fn final_values(net: &Net, marking: &Marking) -> Vec<(String, String)> {
    let interpreter = Interpreter::new(net);
    let opaque = opaque_places(net);
    let mut values = Vec::new();
    for (place, data) in net.places.iter_enumerated() {
        let Some(cells) = data.cells() else { continue };
        let part = net.part_of(place);
        if data.internal || net.atomic == Some(place) || opaque.contains(&place) {
            continue;
        }
        let value =
            |key: &[i64]| value_text(net, data.shown, cells.value, interpreter.cell(marking, place, key));
        let name = match part {
            Some((object, _)) if matches!(object.kind, ObjectKind::Text | ObjectKind::Heap(_)) => continue,
            _ if !matches!(cells.scope, Scope::Global) => continue,
            Some((object, part)) => format!("{}{}", object.name, part.path.trim_end_matches("[]")),
            None => data.name.clone(),
        };
        let text = match cells.length {
            None => value(&[]),
            Some(length) => {
                let shown = (0..length.min(MAX_SHOWN_CELLS)).map(|index| value(&[i64::from(index)]));
                let mut shown: Vec<String> = shown.collect();
                if length > MAX_SHOWN_CELLS {
                    shown.push("…".to_owned());
                }
                format!("{{{}}}", shown.join(", "))
            }
        };
        values.push((name, text));
    }
    values.extend(block_values(net, marking, &opaque));
    values
}

/// The values in the first blocks that are there at the end.
fn block_values(net: &Net, marking: &Marking, opaque: &[Place]) -> Vec<(String, String)> {
    let interpreter = Interpreter::new(net);
    let mut values = Vec::new();
    for object in &net.objects {
        let ObjectKind::Heap(slots) = object.kind else { continue };
        for key in cell_keys(net, slots) {
            if interpreter.cell(marking, slots, &key) & ObjectKind::ALIVE == 0 {
                continue;
            }
            let Some((slot, owner)) = key.split_last() else { continue };
            for part in &object.parts {
                let Some(place) = part.place.filter(|place| !opaque.contains(place)) else { continue };
                let data = &net.places[place];
                let Some(cells) = data.cells() else { continue };
                let count = i64::try_from(part.count()).unwrap_or(0);
                for index in 0..count.min(MAX_SHOWN_CELLS.into()) {
                    let key: Vec<i64> = owner.iter().copied().chain([slot * count + index]).collect();
                    let value = interpreter.cell(marking, place, &key);
                    let text = value_text(net, data.shown, cells.value, value);
                    values.push((cell_name(net, place, &key), text));
                }
            }
        }
    }
    values.truncate(MAX_SHOWN_CELLS as usize);
    values
}

/// The keys of all cells of an array that is global or of threads.
fn cell_keys(net: &Net, place: Place) -> Vec<Vec<i64>> {
    let Some(cells) = net.places[place].cells() else { return Vec::new() };
    let indices = 0..i64::from(cells.length.unwrap_or(0));
    match cells.scope {
        Scope::Thread => {
            let threads = 0..i64::from(net.max_threads);
            threads.flat_map(|thread| indices.clone().map(move |index| vec![thread, index])).collect()
        }
        Scope::Global | Scope::Frame(_) => indices.map(|index| vec![index]).collect(),
    }
}

/// The cells whose values only the net understands: mutexes, and what the creation of a thread writes.
fn opaque_places(net: &Net) -> Vec<Place> {
    let mut opaque = Vec::new();
    for data in &net.transitions {
        let is_opaque = matches!(
            data.action,
            Action::Lock | Action::Unlock | Action::Wait1 | Action::Wait3 | Action::Create
        );
        if is_opaque {
            opaque.extend(data.arcs.iter().filter_map(|arc| match arc {
                ArcData::Write { place, .. } => Some(*place),
                _ => None,
            }));
        }
    }
    opaque
}
