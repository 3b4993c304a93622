//! Reads every slurm.conf below some folders and tells what was understood of each, what is not modelled and what is wrong.
//!
//! `cargo run -p foresite-formats --example configurations -- FOLDER…` prints the tables of docs/CONFIGURATIONS.md.
//! `… -- --understood FOLDER…` prints nodes and partitions as they were read, for a comparison by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use foresite_engine::cluster::Cluster;
use foresite_engine::ids::NodeId;
use foresite_formats::diagnostic::{Diagnostic, Severity, any_error};
use foresite_formats::file_set::FileSet;
use foresite_formats::hostlist::NodeNames;
use foresite_formats::site::Site;
use foresite_formats::slurm_conf::SlurmConf;

/// One slurm.conf and what became of it.
struct Read {
    name: String,
    nodes: usize,
    partitions: usize,
    site: Option<Site>,
    diagnostics: Vec<Diagnostic>,
}

fn main() -> std::io::Result<()> {
    let (options, folders): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let mut files = Vec::new();
    for folder in &folders {
        find(Path::new(folder), &mut files)?;
    }
    files.sort();
    let all: Vec<Read> = files.iter().map(|file| read(file)).collect::<Result<_, _>>()?;
    if options.iter().any(|option| option == "--understood") {
        all.iter().for_each(understood);
    } else {
        tables(&all);
    }
    Ok(())
}

/// Files called slurm.conf, or slurm.conf with an ending.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            find(&entry?.path(), files)?;
        }
    } else if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("slurm.conf")) {
        files.push(path.to_owned());
    }
    Ok(())
}

fn read(path: &Path) -> std::io::Result<Read> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut files = FileSet::default();
    gather(folder, folder, 0, &mut files)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (conf, mut diagnostics) = SlurmConf::read(&files, &name);
    let (site, found) = conf.lower(None);
    diagnostics.extend(found);
    let mut shown = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name != "slurm.conf" {
        shown = format!("{shown}/{name}");
    }
    Ok(Read {
        name: shown,
        nodes: conf.node_names().count(),
        partitions: conf.partition_names().count(),
        site: site.filter(|_| !any_error(&diagnostics)),
        diagnostics,
    })
}

/// What lies beside and below, for Include, gres.conf and topology.conf.
fn gather(root: &Path, folder: &Path, depth: usize, files: &mut FileSet) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && depth < 3 {
            gather(root, &path, depth + 1, files)?;
        } else if let Ok(name) = path.strip_prefix(root)
            && path.is_file()
            && path.metadata()?.len() < 8 << 20
        {
            files.insert(name.to_string_lossy(), fs::read(&path)?);
        }
    }
    Ok(())
}

fn of<'a>(read: &'a Read, severity: Severity) -> impl Iterator<Item = &'a Diagnostic> + 'a {
    read.diagnostics.iter().filter(move |it| it.severity == severity)
}

fn tables(all: &[Read]) {
    println!("| configuration | nodes | partitions | simulated | wrong | warnings | assumed | not modelled |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for read in all {
        let count = |severity| of(read, severity).count();
        let mut fields: Vec<&str> = of(read, Severity::NotModelled).filter_map(|it| it.field.as_deref()).collect();
        fields.sort_unstable();
        fields.dedup();
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            read.name,
            read.nodes,
            read.partitions,
            if read.site.is_some() { "yes" } else { "no" },
            count(Severity::Error),
            count(Severity::Warning),
            count(Severity::Assumed),
            fields.join(", ")
        );
    }
    for (title, severity) in
        [("not modelled", Severity::NotModelled), ("wrong", Severity::Error), ("warnings", Severity::Warning)]
    {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for read in all {
            let mut seen: Vec<(String, String)> = of(read, severity)
                .map(|it| (it.field.clone().unwrap_or_default(), without_names(&it.message)))
                .collect();
            seen.sort();
            seen.dedup();
            for key in seen {
                *counts.entry(key).or_default() += 1;
            }
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        println!("\n| {title} | configurations | what is said |\n| --- | --- | --- |");
        for ((field, message), count) in counts {
            println!("| {field} | {count} | {message} |");
        }
    }
}

/// A message without what stands in quotation marks, so that equal remarks count together.
fn without_names(message: &str) -> String {
    let (mut text, mut rest) = (String::new(), message);
    // A quotation begins a word; an apostrophe within one does not.
    while let Some(at) = rest.find(" '").map(|at| at + 1).or_else(|| rest.starts_with('\'').then_some(0)) {
        let (before, quoted) = rest.split_at(at);
        let after = quoted[1..].split_once('\'').map_or("", |(_, after)| after);
        text += before;
        text += "'…'";
        rest = after;
    }
    text + rest
}

fn understood(read: &Read) {
    println!("== {}", read.name);
    for diagnostic in &read.diagnostics {
        println!("  {diagnostic}");
    }
    let Some(site) = &read.site else { return };
    let cluster = &site.cluster;
    let names = NodeNames::of(cluster);
    let list = |nodes: &mut dyn Iterator<Item = NodeId>| {
        let (alone, mut text): (Vec<_>, _) = (nodes.map(|NodeId(node)| (node, node)).collect(), String::new());
        names.hostlist(&alone, &mut text);
        text
    };
    let mut kinds: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    for (index, _) in cluster.nodes.iter().enumerate() {
        kinds.entry(geometry(cluster, index)).or_default().push(NodeId::new(index));
    }
    for (kind, nodes) in kinds {
        println!("  nodes {}: {kind}", list(&mut nodes.into_iter()));
    }
    for partition in &cluster.partitions {
        println!(
            "  partition {}{}: {} | max {:?} default {:?} min, nodes {} to {:?}, tier {} factor {}, {:?} {:?}, mem {:?} max {:?}, \
             allow {:?} {:?} deny {:?} {:?}",
            partition.name,
            if partition.is_default { " (default)" } else { "" },
            list(&mut partition.nodes.iter()),
            partition.max_time,
            partition.default_time,
            partition.min_nodes,
            partition.max_nodes,
            partition.priority_tier,
            partition.priority_job_factor,
            partition.over_subscribe,
            partition.state,
            partition.default_memory,
            partition.max_memory,
            partition.allow_accounts,
            partition.allow_qos,
            partition.deny_accounts,
            partition.deny_qos
        );
    }
    println!("  licences {:?}; switches {}", cluster.licenses, cluster.switches.len());
    println!("  {:?}", site.policy);
}

fn geometry(cluster: &Cluster, index: usize) -> String {
    let Some(node) = cluster.nodes.get(index) else { return String::new() };
    let gres = node.gres.iter().zip(&cluster.gres).filter(|(count, _)| **count > 0);
    let gres: Vec<String> = gres.map(|(count, gres)| format!("{}={count}", gres.label())).collect();
    let features: Vec<&str> =
        node.features.iter().filter_map(|id| cluster.features.get(id.index())).map(String::as_str).collect();
    format!(
        "{} CPUs = {}×{}×{}, {} MB, weight {}, {}{} {}",
        node.cpus,
        node.sockets,
        node.cores_per_socket,
        node.threads_per_core,
        node.memory_mb,
        node.weight,
        if node.schedulable { "" } else { "DOWN " },
        gres.join(" "),
        features.join(",")
    )
}
