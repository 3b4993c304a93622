//! Every fault of a tree at once, with any serde type: read it, note the first fault, take the faulty value out, read again.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::lines::escape;

/// A fault: its JSON pointer in the tree as given, and what is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) pointer: String,
    pub(super) message: String,
}

/// At most so many faults are listed.
pub(super) const FAULTS_MAX: usize = 100;

/// The value, if the tree is faultless, and all faults. O(faults × tree).
pub(super) fn read_all<T: DeserializeOwned + Serialize>(mut tree: Value) -> (Option<T>, Vec<Fault>) {
    let mut faults: Vec<Fault> = Vec::new();
    let mut cuts = Cuts::default();
    loop {
        let error = match serde_path_to_error::deserialize::<_, T>(tree.clone()) {
            Ok(value) => {
                let written = serde_json::to_value(&value).unwrap_or_default();
                lists_for_objects(&tree, &written, &mut Vec::new(), &cuts, &mut faults);
                return (faults.is_empty().then_some(value), faults);
            }
            Err(error) => error,
        };
        let mut path: Vec<String> = error.path().iter().filter_map(segment).collect();
        let message = error.inner().to_string();
        if let Some(unknown) = quoted_after(&message, "unknown field `")
            && path.last() != Some(&unknown)
        {
            path.push(unknown);
        }
        let missing = quoted_after(&message, "missing field `");
        let pointer = cuts.original(&path);
        let is_told = |place: &str| faults.iter().any(|fault| fault.pointer.starts_with(place));
        let is_emptied =
            get(&tree, &path).is_some_and(|value| value.as_object().is_some_and(serde_json::Map::is_empty));
        let consequence = match &missing {
            Some(field) => is_told(&format!("{pointer}/{}", escape(field))),
            None => is_emptied && is_told(&format!("{pointer}/")),
        };
        if !consequence {
            faults.push(Fault { pointer, message });
        }
        if path.is_empty() || faults.len() >= FAULTS_MAX || !cuts.cut(&mut tree, &path) {
            return (None, faults);
        }
    }
}

/// Faults where an array was given for an object: serde takes it for a struct, field by field in order.
fn lists_for_objects(given: &Value, written: &Value, path: &mut Vec<String>, cuts: &Cuts, faults: &mut Vec<Fault>) {
    let pairs: Vec<(String, &Value, &Value)> = match (given, written) {
        (Value::Array(_), Value::Object(_)) => {
            let message = "invalid type: sequence, expected names and values".to_owned();
            return faults.push(Fault { pointer: cuts.original(path), message });
        }
        (Value::Array(given), Value::Array(written)) => {
            given.iter().zip(written).enumerate().map(|(index, (one, other))| (index.to_string(), one, other)).collect()
        }
        (Value::Object(given), Value::Object(written)) => {
            given.iter().filter_map(|(key, one)| Some((key.clone(), one, written.get(key)?))).collect()
        }
        _ => return,
    };
    for (step, one, other) in pairs {
        path.push(step);
        lists_for_objects(one, other, path, cuts, faults);
        path.pop();
    }
}

fn segment(segment: &Segment) -> Option<String> {
    match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    }
}

fn quoted_after(message: &str, prefix: &str) -> Option<String> {
    message.strip_prefix(prefix).and_then(|rest| rest.split_once('`')).map(|(name, _)| name.to_owned())
}

/// What has been taken out of arrays, so that later indices are told as the document has them.
#[derive(Default)]
struct Cuts {
    /// For each array (by its original pointer) the original index of each element left.
    left: BTreeMap<String, Vec<usize>>,
}

impl Cuts {
    fn original(&self, path: &[String]) -> String {
        let mut pointer = String::new();
        for step in path {
            let index = step.parse::<usize>().ok();
            let original = index.and_then(|index| self.left.get(&pointer).and_then(|left| left.get(index)));
            let step = original.map_or_else(|| escape(step), usize::to_string);
            pointer = format!("{pointer}/{step}");
        }
        pointer
    }

    /// Takes out the value at `path`, or the nearest one around it that exists. False if that is the root.
    fn cut(&mut self, tree: &mut Value, path: &[String]) -> bool {
        // A path may end in a variant that is a bare word, not a key: then the value around it goes.
        let Some(depth) = (1..=path.len()).rev().find(|depth| get(tree, &path[..*depth]).is_some()) else {
            return false;
        };
        let (parents, last) = (&path[..depth - 1], &path[depth - 1]);
        let array = self.original(parents);
        match get_mut(tree, parents) {
            Some(Value::Object(map)) => map.remove(last).is_some(),
            Some(Value::Array(items)) => match last.parse::<usize>() {
                Ok(index) if index < items.len() => {
                    let n_items = items.len();
                    self.left.entry(array).or_insert_with(|| (0..n_items).collect()).remove(index);
                    items.remove(index);
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }
}

fn get<'a>(tree: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(tree, |value, step| match value {
        Value::Object(map) => map.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

fn get_mut<'a>(tree: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(tree, |value, step| match value {
        Value::Object(map) => map.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}
