//! Generic resources of nodes (`Gres=gpu:a100:4`) and licences.

use std::collections::BTreeMap;

use foresite_engine::cluster::{GresType, Node};

use super::Lowering;
use crate::diagnostic::Severity;
use crate::hostlist;
use crate::slurm_conf::read::MAX_NODES;
use crate::slurm_conf::records::{NodeRecord, PlainRecord};
use crate::slurm_conf::value;

/// How messages name it.
const FIELD: &str = "node.HOSTLIST.Gres";

/// A node's units of a GRES with `no_consume`: who asks for any needs a node that has it, no more, and counts as asking for one
/// ([`crate::trace::lower`]); so many jobs no node holds, and nobody configures that number.
pub(crate) const NOT_CONSUMED: u32 = 1_000_003;

/// One entry of a `Gres` list.
struct Entry<'a> {
    name: &'a str,
    kind: Option<&'a str>,
    count: u64,
    is_consumed: bool,
}

impl Lowering<'_> {
    /// Counts by [`foresite_engine::ids::GresId`] of a node of this record; typed units count under their name as well.
    pub(super) fn gres_counts(&mut self, record: &NodeRecord) -> Vec<u32> {
        let mut counts: Vec<u32> = Vec::new();
        let Some(setting) = record.settings.get("Gres") else { return counts };
        for item in split_entries(&setting.value) {
            let Some(entry) = entry(item) else {
                let fault = format!("'{item}' is not name[:type]:count");
                self.diagnostics.push(setting.place.error(FIELD, fault).cure("write for example gpu:a100:4"));
                continue;
            };
            if ["mps", "shard"].iter().any(|shared| entry.name.eq_ignore_ascii_case(shared)) {
                self.remark_once(
                    record,
                    Severity::NotModelled,
                    FIELD,
                    &format!("Gres {} is counted by itself, apart from the GPUs it shares", entry.name),
                );
            }
            if !self.is_gres_type(entry.name) {
                self.remark_once(
                    record,
                    Severity::Warning,
                    FIELD,
                    &format!("Gres {} is not in GresTypes; it is counted all the same", entry.name),
                );
            }
            let count = if entry.is_consumed { u32::try_from(entry.count).unwrap_or(u32::MAX) } else { NOT_CONSUMED };
            let mut ids = vec![self.tres.gres_id(entry.name, None)];
            ids.extend(entry.kind.map(|kind| self.tres.gres_id(entry.name, Some(kind))));
            for id in ids {
                if counts.len() <= id.index() {
                    counts.resize(id.index() + 1, 0);
                }
                if let Some(slot) = counts.get_mut(id.index()) {
                    *slot = if entry.is_consumed { slot.saturating_add(count) } else { count };
                }
            }
        }
        counts
    }

    fn is_gres_type(&self, name: &str) -> bool {
        self.globals().has_word("GresTypes", name)
    }

    /// Says something about a kind of record once.
    pub(super) fn remark_once(&mut self, record: &NodeRecord, severity: Severity, field: &str, message: &str) {
        if self.said.insert(message.to_owned()) {
            self.diagnostics.push(record.place.remark(severity, field, message));
        }
    }

    /// GPUs of each node as gres.conf lists them; empty where it has lines for all nodes, or none with counts.
    pub(super) fn gpus_of_gres_conf(&self) -> BTreeMap<String, u64> {
        let mut gpus: BTreeMap<String, u64> = BTreeMap::new();
        for line in &self.conf.gres {
            if !line.get("Name").is_some_and(|name| name.eq_ignore_ascii_case("gpu")) {
                continue;
            }
            let (Some(list), Some(count)) = (line.get("NodeName"), device_count(line)) else { return BTreeMap::new() };
            for node in hostlist::expand(list, MAX_NODES - gpus.len().min(MAX_NODES)).unwrap_or_default() {
                *gpus.entry(node).or_default() += count;
            }
        }
        gpus
    }

    /// Which units of a node are near which of its sockets: what gres.conf binds to cores of one socket (`Cores=`), as far as slurm.conf gives
    /// the node as many, of that type. By [`foresite_engine::ids::GresId`] and socket; empty where nothing is bound, or select/cons_tres does
    /// not look at it.
    pub(super) fn gres_near(&self, name: &str, node: &Node) -> Vec<Vec<u32>> {
        let (sockets, cores_per_socket) = (node.sockets, node.cores_per_socket);
        let mut near: Vec<Vec<u32>> = Vec::new();
        if !self.looks_at_sockets_of_gres() || sockets < 2 {
            return near;
        }
        let mut left = node.gres.clone();
        for line in &self.conf.gres {
            let here = |list: &str| {
                hostlist::expand(list, MAX_NODES).is_ok_and(|nodes| nodes.iter().any(|node| node.as_str() == name))
            };
            let (Some(gres), Some(units)) = (line.get("Name"), device_count(line)) else { continue };
            if !line.get("NodeName").is_none_or(here) {
                continue;
            }
            let cores = line.get("Cores").map(core_numbers).unwrap_or_default();
            let mut of_line: Vec<u32> = cores.iter().map(|core| core / cores_per_socket.max(1)).collect();
            of_line.dedup();
            let socket = of_line.first().filter(|_| of_line.len() == 1);
            let units = u32::try_from(units).unwrap_or(u32::MAX);
            let kind = line.get("Type");
            let is_kind = |known: &String| kind.is_some_and(|kind| known.eq_ignore_ascii_case(kind));
            let of_name = self.tres.gres.iter().enumerate().filter(|(_, known)| known.name.eq_ignore_ascii_case(gres));
            let here: Vec<(usize, &GresType)> =
                of_name.filter(|&(id, _)| node.gres.get(id).is_some_and(|&count| count > 0)).collect();
            let Some(&(name, _)) = here.iter().find(|(_, known)| known.kind.is_none()) else { continue };
            // Devices of no type said are of those of slurm.conf, in that order.
            let types = here
                .iter()
                .filter(|(_, known)| known.kind.as_ref().is_some_and(|known| kind.is_none() || is_kind(known)));
            let types: Vec<usize> = types.map(|&(id, _)| id).collect();
            let mut bind = |ids: &[usize], units: u32| {
                let units = ids.iter().filter_map(|&id| left.get(id)).fold(units, |units, &left| units.min(left));
                for &id in ids {
                    left.get_mut(id).into_iter().for_each(|left| *left -= units);
                    let Some(&socket) = socket else { continue };
                    if near.len() <= id {
                        near.resize(id + 1, Vec::new());
                    }
                    if let Some(sockets_of) = near.get_mut(id) {
                        sockets_of.resize(sockets as usize, 0);
                        if let Some(slot) = sockets_of.get_mut(socket as usize) {
                            *slot = slot.saturating_add(units);
                        }
                    }
                }
                units
            };
            let mut units = units;
            for id in types {
                units -= bind(&[name, id], units);
            }
            if kind.is_none() || here.len() == 1 {
                bind(&[name], units);
            }
        }
        near
    }

    /// Whether gres.conf has a GRES, and names neither cores nor a type for it (gres.c of 22.05.8, `_get_tot_gres_cnt`). O(lines).
    pub(super) fn is_only_counted(&self, name: &str) -> bool {
        let mut of_name =
            self.conf.gres.iter().filter(|line| line.get("Name").is_some_and(|other| other.eq_ignore_ascii_case(name)));
        let is_placed = |line: &PlainRecord| line.get("Cores").or_else(|| line.get("Type")).is_some();
        let detects = self.conf.gres.iter().any(|line| line.get("AutoDetect").is_some());
        !detects && of_name.clone().next().is_some() && !of_name.any(is_placed)
    }

    /// Fewer devices than slurm.conf promises would drain the node.
    pub(super) fn check_gres_conf(&mut self, record: &NodeRecord, listed: &BTreeMap<String, u64>) {
        let Some(setting) = record.settings.get("Gres") else { return };
        let gpus =
            split_entries(&setting.value).filter_map(entry).filter(|entry| entry.name.eq_ignore_ascii_case("gpu"));
        let promised: u64 = gpus.map(|entry| entry.count).sum();
        let short = record
            .names
            .iter()
            .find_map(|name| listed.get(name).filter(|&&found| found < promised).map(|found| (name, *found)));
        if let Some((node, found)) = short {
            let message =
                format!("{node} has {promised} GPUs here, but gres.conf lists {found}; slurmctld would drain it");
            let remark = record.place.remark(Severity::Warning, FIELD, message);
            self.diagnostics.push(remark.cure("correct one of the files"));
        }
    }

    /// `Licenses=name:count,…`.
    pub(super) fn licenses(&mut self) {
        let Some(setting) = self.conf.globals.get("Licenses") else { return };
        for item in setting.value.split([',', ';']).map(str::trim).filter(|item| !item.is_empty()) {
            let (name, count) = item.rsplit_once([':', '*']).unwrap_or((item, "1"));
            match count.parse::<u32>() {
                Ok(count) => {
                    let id = self.tres.license_id(name);
                    if let Some((_, total)) = self.tres.licenses.get_mut(id.index()) {
                        *total = count;
                    }
                }
                Err(_) => {
                    let fault = format!("'{item}' is not name:count");
                    self.diagnostics.push(setting.place.error("Licenses", fault).cure("write for example matlab:10"));
                }
            }
        }
    }
}

/// How many devices a line of gres.conf names.
fn device_count(line: &PlainRecord) -> Option<u64> {
    let files = line.get("File").and_then(|list| hostlist::expand(list, 10_000).ok()).map(|files| files.len() as u64);
    files.or_else(|| line.get("Count").and_then(value::count))
}

/// The numbers of a list such as `0-5,12`; none if it is not one.
pub(super) fn core_numbers(list: &str) -> Vec<u32> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&core| core < 100_000);
    let ranges: Option<Vec<(u32, u32)>> = list
        .split(',')
        .map(|range| match range.split_once('-') {
            Some((first, last)) => Some((number(first)?, number(last)?)),
            None => number(range).map(|core| (core, core)),
        })
        .collect();
    ranges.unwrap_or_default().into_iter().flat_map(|(first, last)| first..=last).collect()
}

/// The entries of a `Gres` list: commas inside `(S:0,1)` do not separate.
fn split_entries(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    list.split(move |character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|item| !item.is_empty() && *item != "(null)")
}

fn entry(item: &str) -> Option<Entry<'_>> {
    let item = item.split('(').next().unwrap_or(item);
    let mut parts = item.split(':').collect::<Vec<_>>();
    let is_consumed = !parts.iter().any(|part| part.eq_ignore_ascii_case("no_consume"));
    parts.retain(|part| !part.eq_ignore_ascii_case("no_consume"));
    let count = match parts.as_slice() {
        [_, .., last] if last.starts_with(|c: char| c.is_ascii_digit()) => value::count(last),
        _ => None,
    };
    if count.is_some() {
        parts.pop();
    }
    match parts.as_slice() {
        [name] if !name.is_empty() => Some(Entry { name, kind: None, count: count.unwrap_or(1), is_consumed }),
        [name, kind] if !name.is_empty() && !kind.is_empty() => {
            Some(Entry { name, kind: Some(kind), count: count.unwrap_or(1), is_consumed })
        }
        _ => None,
    }
}
