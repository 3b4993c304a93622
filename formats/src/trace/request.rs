//! What a job asked for, from its command line where one is recorded and from the recorded totals for the rest.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foresite_engine::job::{GresScope, Memory, Sharing};

use super::caveat::CaveatKind;
use super::column::Column;
use super::job_id::number;
use super::log::{Log, ROW_CURE};
use super::model::{TraceGres, TraceRequest};
use super::named_nodes;
use super::row::Row;
use super::strings::{Strings, Symbol};
use super::submit_line::Options;
use super::tres::{
    GresCount, RecordedMemory, TresCounts, count, gres_count, gres_list, least_of_rounded, recorded_memory, tres,
};

/// The recorded totals of a job.
struct Recorded<'a> {
    cpus: u32,
    nodes: u32,
    /// The nodes and CPUs it got; 0 if unknown.
    allocated_nodes: u32,
    allocated_cpus: u32,
    /// Whether CPUs, and nodes, are those requested and not those allocated.
    cpus_are_request: bool,
    nodes_are_request: bool,
    requested: TresCounts<'a>,
    allocated: TresCounts<'a>,
}

impl Recorded<'_> {
    fn is_request(&self) -> bool {
        self.cpus_are_request && self.nodes_are_request
    }
}

/// More CPUs than were asked for, and their nodes, of who may have said in the script alone that he shares none.
fn cpus_allocated(recorded: &Recorded<'_>, options: &Options<'_>) -> Option<(u32, u32)> {
    let cpus = recorded.allocated.cpus.filter(|&cpus| recorded.is_request() && cpus > recorded.cpus)?;
    let nodes = recorded.allocated.nodes.filter(|&nodes| nodes > 0).or(Some(recorded.allocated_nodes))?;
    (options.sharing.is_none() && nodes > 0).then_some((cpus, nodes))
}

/// Nodes, tasks and CPUs.
struct Shape {
    min_nodes: u32,
    max_nodes: Option<u32>,
    tasks: u32,
    cpus_per_task: u32,
    min_cpus: u32,
}

/// Builds requests; holds what that needs.
pub(crate) struct RequestBuilder<'b> {
    pub(crate) strings: &'b mut Strings,
    pub(crate) log: &'b mut Log,
    pub(crate) line: u64,
}

impl RequestBuilder<'_> {
    /// The request of a row, and how many CPUs it got; 0 if unknown. Faults go to the log.
    pub(crate) fn build(&mut self, row: &Row<'_>, options: Option<&Options<'_>>) -> (TraceRequest, u32) {
        let recorded = self.recorded(row);
        let (node_list, listed) = options.map_or((Cow::Borrowed(&b""[..]), 0), named_nodes::required);
        let least_candidates = options.map_or(0, named_nodes::least_candidates);
        let shape = match options {
            Some(options) => {
                let is_cut = matches!(node_list, Cow::Owned(_));
                self.shape_of_options(options, (listed, is_cut), &recorded)
            }
            None => {
                self.log.caveat(CaveatKind::LayoutUnknown, self.line);
                shape_of_totals(&recorded)
            }
        };
        let says_options = options.is_some();
        let none = Options::default();
        let options = options.unwrap_or(&none);
        let (memory, memory_allocated) = match options.memory {
            Some(memory) => (memory, None),
            None => self.recorded_memory(row, &recorded, &shape),
        };
        let request = TraceRequest {
            partitions: self.partitions(row, options),
            min_nodes: shape.min_nodes,
            max_nodes: shape.max_nodes,
            tasks: if says_no_tasks(options) && shape.tasks == 1 { 0 } else { shape.tasks.max(1) },
            cpus_per_task: shape.cpus_per_task,
            min_cpus: shape.min_cpus,
            // Who says how many CPUs a task has gets no default for his GPUs.
            cpus_per_gpu: options.cpus_per_gpu.or(options.cpus_per_task.map(|_| 0)),
            ntasks_per_node: options.ntasks_per_node.filter(|_| !options.overcommit),
            ntasks_per_socket: options.ntasks_per_socket.filter(|_| !options.overcommit),
            ntasks_per_core: options.ntasks_per_core,
            ntasks_per_gpu: options.ntasks_per_gpu,
            threads_per_core: options.threads_per_core,
            cores_per_socket: options.cores_per_socket,
            sockets_per_node: options.sockets_per_node,
            min_cpus_per_node: options.min_cpus_per_node,
            memory,
            memory_is_recorded: options.memory.is_none(),
            memory_allocated,
            cpus_allocated: cpus_allocated(&recorded, options),
            constraints: self.constraints(row.get(Column::Constraints), options),
            gres: self.gres(row, options, (&recorded, shape.tasks)),
            enforces_binding: options.enforces_binding,
            tmp_disk_mb: options.tmp_disk_mb,
            sharing: options.sharing.unwrap_or(Sharing::Default),
            required_nodes: self.strings.intern(&node_list),
            candidate_nodes: self.strings.intern(if least_candidates > 0 { options.node_list } else { b"" }),
            least_candidates,
            excluded_nodes: self.strings.intern(options.exclude),
            contiguous: options.contiguous,
            spread: options.spread,
            use_min_nodes: options.use_min_nodes,
            overcommitted: options.tasks.filter(|_| options.overcommit),
            overcommitted_per_node: options.ntasks_per_node.filter(|_| options.overcommit),
            overcommit_gives_cpus: options.overcommit && options.tasks.is_some() && options.cpus_per_task.is_some(),
            nodes_are_recorded: says_options
                && options.nodes.is_none()
                && (listed == 0 || recorded.nodes > listed)
                && shape.max_nodes.is_some()
                && !(options.overcommit && options.spread),
            block_cores: options.block_cores,
            plane: options.plane,
            switches: options.switches,
            licenses: self.first_said(row.get(Column::Licenses), options.licenses),
            reservation: self.first_said(row.get(Column::Reservation), options.reservation),
        };
        (request, recorded.allocated_cpus)
    }

    fn first_said(&mut self, recorded: &[u8], option: &[u8]) -> Symbol {
        self.strings.intern(if recorded.is_empty() { option } else { recorded })
    }

    /// The features asked for. Of a job that started with those that `--prefer` names, these are recorded in their place.
    fn constraints(&mut self, recorded: &[u8], options: &Options<'_>) -> Symbol {
        let preferred = !options.prefer.is_empty() && recorded == options.prefer;
        self.first_said(if preferred { b"" } else { recorded }, options.constraint)
    }

    /// The partitions asked for. The record keeps only the one that was used, or all of a job that never started, the last one tested
    /// first; so the command line's list counts if these are on it (the job was not moved since).
    fn partitions<'a>(&mut self, row: &Row<'a>, options: &Options<'a>) -> Symbol {
        let recorded = row.get(Column::Partition);
        let asked = options.partition;
        let names = |list: &'a [u8]| list.split(|&byte| byte == b',');
        let on_list = names(recorded).all(|used| names(asked).any(|name| name == used));
        self.strings.intern(if recorded.is_empty() || (on_list && asked.contains(&b',')) { asked } else { recorded })
    }

    fn recorded<'a>(&mut self, row: &Row<'a>) -> Recorded<'a> {
        let requested = self.tres(row.get(Column::ReqTres), "ReqTRES");
        let allocated = self.tres(row.get(Column::AllocTres), "AllocTRES");
        let allocated_nodes = self.count(row.get(Column::NNodes), "NNodes");
        let request_cpus =
            requested.cpus.filter(|&cpus| cpus > 0).unwrap_or_else(|| self.count(row.get(Column::ReqCpus), "ReqCPUS"));
        let request_nodes = requested
            .nodes
            .filter(|&nodes| nodes > 0)
            .unwrap_or_else(|| self.count(row.get(Column::ReqNodes), "ReqNodes"));
        let or = |value: u32, other: u32| if value > 0 { value } else { other };
        let allocated_cpus = or(allocated.cpus.unwrap_or(0), self.count(row.get(Column::NCpus), "NCPUS"));
        if request_cpus == 0 || request_nodes == 0 {
            self.log.caveat(CaveatKind::AllocatedAsRequested, self.line);
        }
        let nodes = or(or(request_nodes, or(allocated.nodes.unwrap_or(0), allocated_nodes)), 1);
        Recorded {
            cpus: or(or(request_cpus, allocated_cpus), nodes),
            nodes,
            allocated_nodes,
            allocated_cpus,
            cpus_are_request: request_cpus > 0,
            nodes_are_request: request_nodes > 0,
            requested,
            allocated,
        }
    }

    fn tres<'a>(&mut self, text: &'a [u8], field: &'static str) -> TresCounts<'a> {
        tres(text).unwrap_or_else(|| {
            self.log.error(self.line, field, "no list of TRES counts", ROW_CURE, || {
                format!("'{}' is no list of TRES counts such as cpu=4,mem=8G,node=1", shown(text))
            });
            TresCounts::default()
        })
    }

    /// A count; 0 if empty.
    fn count(&mut self, text: &[u8], field: &'static str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        count(text).unwrap_or_else(|| {
            self.log.error(self.line, field, "no count", ROW_CURE, || format!("'{}' is no count", shown(text)));
            0
        })
    }

    /// Section 6.1 of Slurm's semantics: what the options store. Where the recorded request says more than the command
    /// line, directives in the script (which are not recorded) said it.
    fn shape_of_options(
        &mut self,
        options: &Options<'_>,
        (listed, is_cut): (u32, bool),
        recorded: &Recorded<'_>,
    ) -> Shape {
        let cpus_per_task = options.cpus_per_task.unwrap_or(1);
        // sbatch asks for no more nodes than there are tasks.
        let fewer = |nodes: u32| options.tasks.map_or(nodes, |tasks| nodes.min(tasks.max(1)));
        // Nor for fewer than are named (sbatch's opt.c of 22.05.8, `_opt_verify`).
        let least = options.nodes.map_or(1, |nodes| nodes.0).max(listed);
        let says_nodes = options.nodes.is_some() || listed > 0;
        let asked_nodes = if says_nodes { fewer(least) } else { 1 };
        let tasks = options.tasks.unwrap_or_else(|| match options.ntasks_per_node {
            Some(per_node) => per_node.saturating_mul(asked_nodes),
            None => least,
        });
        let too_few_tasks = is_cut || (says_nodes && options.tasks.is_some_and(|tasks| tasks < least));
        let spread = options.ntasks_per_node.map_or(1, |per_node| tasks.div_ceil(per_node.max(1)));
        let mut shape = Shape {
            // Slurm 22.05 stores -N as given: --ntasks-per-node spreads the tasks at selection only (observed: ub-micro).
            // Where the record counts the spread, the release that wrote it stored the spread.
            min_nodes: if recorded.is_request() && recorded.nodes == spread {
                asked_nodes.max(spread)
            } else {
                asked_nodes
            },
            max_nodes: match options.nodes {
                Some((_, most)) => Some(fewer(most).max(spread)),
                None => too_few_tasks.then_some(asked_nodes),
            },
            tasks,
            cpus_per_task,
            min_cpus: tasks.saturating_mul(cpus_per_task),
        };
        // For a range of nodes sbatch counts one task, and slurmctld those of the fewest nodes only if they are more than that one's CPUs
        // (slurm_opt.c, `slurm_opt_create_job_desc`, and job_mgr.c, `validate_job_create_req`, of 22.05.8 and 25.11.7; rec u6-25-11).
        let is_range = options.nodes.is_some_and(|(least, most)| least != most);
        if is_range && options.tasks.is_none() && options.ntasks_per_node.is_some() && tasks <= cpus_per_task {
            shape.min_cpus = cpus_per_task.max(shape.min_nodes);
        }
        if options.overcommit {
            // As many nodes as tasks, though tasks share a CPU (job_mgr.c of 22.05.8, `_copy_job_desc_to_job_record`; rec at-cpu).
            shape.max_nodes = shape.max_nodes.or(options.tasks.filter(|_| options.spread));
            // A CPU of each node is asked for, however many tasks share it, and a node gives one task its CPUs (slurm_opt.c, dist_tasks.c of 22.05.8;
            // rec ar-qos2, ar-core2).
            shape.tasks = shape.min_nodes.max(spread).max(1);
            shape.min_cpus = shape.min_nodes.max(1);
        }
        count_tasks_of_gpus(options, &mut shape);
        self.add_script_directives(options, recorded, &mut shape);
        shape
    }

    /// What was allocated stands for directives only where the command line says nothing of the kind.
    fn add_script_directives(&mut self, options: &Options<'_>, recorded: &Recorded<'_>, shape: &mut Shape) {
        let mut differs = false;
        let says_tasks = options.tasks.is_some() || options.ntasks_per_node.is_some() || !options.gpus.is_empty();
        let says_nodes = options.nodes.is_some() || !options.node_list.is_empty();
        if recorded.nodes > shape.min_nodes && (recorded.nodes_are_request || !(says_tasks || says_nodes)) {
            shape.min_nodes = recorded.nodes;
            shape.max_nodes = match options.nodes {
                Some(_) => shape.max_nodes.map(|most| most.max(recorded.nodes)),
                None => Some(recorded.nodes),
            };
            differs = true;
        }
        let memory_decides = matches!(options.memory, Some(Memory::PerCpu(_)));
        let says_cpus = says_tasks || options.sharing == Some(Sharing::Exclusive);
        if recorded.cpus > shape.min_cpus && !memory_decides && (recorded.cpus_are_request || !says_cpus) {
            if options.tasks.is_none() {
                shape.tasks = recorded.cpus.div_ceil(shape.cpus_per_task).max(1);
            } else if options.cpus_per_task.is_none() && recorded.cpus.is_multiple_of(shape.tasks.max(1)) {
                shape.cpus_per_task = recorded.cpus / shape.tasks.max(1);
            }
            shape.min_cpus = recorded.cpus;
            differs = true;
        }
        if differs {
            self.log.caveat(CaveatKind::ScriptOptions, self.line);
        }
    }

    /// The recorded memory: before Slurm 21.08 per node or CPU, since then a total of which only the allocation can tell
    /// whether it was meant per node or per CPU. With it [`TraceRequest::memory_allocated`].
    fn recorded_memory(
        &mut self,
        row: &Row<'_>,
        recorded: &Recorded<'_>,
        shape: &Shape,
    ) -> (Memory, Option<(u64, u32)>) {
        let text = row.get(Column::ReqMem);
        let total = match recorded_memory(text) {
            Some(RecordedMemory::Each(memory)) => {
                self.count_rounded(text);
                return (memory, None);
            }
            Some(RecordedMemory::Total(total)) => {
                self.count_rounded(text);
                total
            }
            Some(RecordedMemory::NotSaid) => {
                self.count_rounded(recorded.requested.memory);
                recorded.requested.memory_mb.unwrap_or(0)
            }
            None => {
                self.log.error(self.line, "ReqMem", "no amount of memory", ROW_CURE, || {
                    format!("'{}' is no amount of memory such as 4000M, 2Gc or 64Gn", shown(text))
                });
                0
            }
        };
        if total == 0 {
            return (Memory::Default, None);
        }
        let per_node = total.div_ceil(u64::from(recorded.nodes.max(1)));
        let per_cpu = total.div_ceil(u64::from(shape.min_cpus.max(1)));
        let spread = recorded.allocated_nodes > recorded.nodes;
        // Where CPUs grew as nodes did (whole cores of threads), both fit: the defaults of either kind are found from the amount of a node (rec c1280).
        let by_cpu = match (recorded.allocated.memory_mb, recorded.allocated.cpus) {
            (Some(memory), Some(cpus)) => {
                memory == per_cpu.saturating_mul(u64::from(cpus))
                    && memory != per_node.saturating_mul(u64::from(recorded.allocated_nodes))
            }
            _ => false,
        };
        let is_allocated = recorded.allocated.memory_mb == Some(total);
        let memory = if spread && by_cpu { Memory::PerCpu(per_cpu) } else { Memory::PerNode(per_node) };
        (memory, is_allocated.then_some((total, recorded.allocated_nodes)))
    }

    /// Counts an amount of memory of which the record keeps two decimals alone.
    fn count_rounded(&mut self, amount: &[u8]) {
        let amount = match amount {
            [amount @ .., b'n' | b'c'] => amount,
            amount => amount,
        };
        if least_of_rounded(amount).is_some() {
            self.log.caveat(CaveatKind::MemoryRounded, self.line);
        }
    }

    fn gres(
        &mut self,
        row: &Row<'_>,
        options: &Options<'_>,
        (recorded, tasks): (&Recorded<'_>, u32),
    ) -> Vec<TraceGres> {
        let mut found = Vec::new();
        // Where the record counts other GPUs, directives in the script asked for them.
        let is_gpu = |gres: &&GresCount<'_>| gres.label == b"gpu" || gres.label.starts_with(b"gpu:");
        let gpus = recorded.requested.gres.iter().filter(is_gpu).fold(0u64, |sum, gres| sum.saturating_add(gres.count));
        let of_tasks = options
            .ntasks_per_gpu
            .filter(|per_gpu| gpus_asked(options, 1) == 0 && (gpus == 0 || gpus == u64::from(tasks / per_gpu)));
        if !options.gres.is_empty() || !options.gpus.is_empty() || of_tasks.is_some() {
            self.gres_of_list(options.gres, &mut found);
            for &(scope, list) in &options.gpus {
                self.gpus_of_list(list, scope, &mut found);
            }
            if let Some(per_gpu) = of_tasks.filter(|&per_gpu| tasks >= per_gpu) {
                let label = gres_label(self.strings, b"gpu");
                found.push(TraceGres { label, count: u64::from(tasks / per_gpu), scope: GresScope::PerJob });
            }
        } else if !recorded.requested.gres.is_empty() {
            self.gres_of_totals(&recorded.requested.gres, recorded.nodes, &mut found);
        } else if !row.get(Column::ReqGres).is_empty() {
            self.gres_of_list(row.get(Column::ReqGres), &mut found);
        } else if !recorded.allocated.gres.is_empty() && !recorded.requested.billing {
            self.log.caveat(CaveatKind::GresFromAllocation, self.line);
            self.gres_of_totals(&recorded.allocated.gres, recorded.allocated_nodes.max(1), &mut found);
        } else if !row.get(Column::AllocGres).is_empty() && !recorded.requested.billing {
            self.allocated_gres(row.get(Column::AllocGres), recorded, &mut found);
        }
        found.sort_unstable_by_key(|gres| (gres.label, gres.scope as u8));
        found
    }

    /// `--gpus` and its kin name types and counts of GPUs: `2`, `a100:2`.
    fn gpus_of_list(&mut self, list: &[u8], scope: GresScope, found: &mut Vec<TraceGres>) {
        for (kind, amount) in gpu_items(list) {
            let label = if kind.is_empty() { b"gpu".to_vec() } else { [b"gpu:", kind].concat() };
            let label = gres_label(self.strings, &label);
            match gres_count(amount) {
                Some(0) => {}
                Some(count) => found.push(TraceGres { label, count, scope }),
                None => self.log.caveat(CaveatKind::GresIgnored, self.line),
            }
        }
    }

    fn gres_of_list(&mut self, list: &[u8], found: &mut Vec<TraceGres>) {
        let strings = &mut *self.strings;
        let good = gres_list(list, |named, gres| {
            let scope = named.unwrap_or(GresScope::PerNode);
            found.push(TraceGres { label: gres_label(strings, gres.label), count: gres.count, scope });
        });
        if !good {
            self.log.caveat(CaveatKind::GresIgnored, self.line);
        }
    }

    /// The column AllocGRES of old releases, which counts those of all nodes (their node_scheduler.c, `_build_gres_alloc_string`).
    fn allocated_gres(&mut self, list: &[u8], recorded: &Recorded<'_>, found: &mut Vec<TraceGres>) {
        let mut totals = Vec::new();
        if !gres_list(list, |_, gres| totals.push(gres)) {
            self.log.caveat(CaveatKind::GresIgnored, self.line);
        }
        if !totals.is_empty() {
            self.log.caveat(CaveatKind::GresFromAllocation, self.line);
        }
        self.gres_of_totals(&totals, recorded.allocated_nodes.max(1), found);
    }

    /// Totals over the job: per node where the nodes share them evenly.
    fn gres_of_totals(&mut self, totals: &[GresCount<'_>], nodes: u32, found: &mut Vec<TraceGres>) {
        let nodes = u64::from(nodes.max(1));
        for gres in totals {
            let label = gres_label(self.strings, gres.label);
            found.push(if gres.count.is_multiple_of(nodes) {
                TraceGres { label, count: gres.count / nodes, scope: GresScope::PerNode }
            } else {
                TraceGres { label, count: gres.count, scope: GresScope::PerJob }
            });
        }
    }
}

/// Names and types of GRES in small letters: Slurm compares them without case.
/// Releases up to 20.02 write an id where GresTypes lacks the name, which is its letters, the first one lowest (18.08's gres.c,
/// `_build_id`): 7696487 is gpu.
fn gres_label(strings: &mut Strings, label: &[u8]) -> Symbol {
    let letters = number(label).and_then(|id| u32::try_from(id).ok()).map(u32::to_le_bytes);
    let name = letters.as_ref().map(|letters| letters.strip_suffix(&[0]).unwrap_or(letters));
    match name.filter(|name| name.iter().all(u8::is_ascii_lowercase)) {
        Some(name) => strings.intern(name),
        None => strings.intern(&label.to_ascii_lowercase()),
    }
}

/// Types and counts of GPUs: `2`, `a100:2`.
fn gpu_items(list: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    list.split(|&byte| byte == b',').filter(|item| !item.is_empty()).map(|item| {
        match item.iter().rposition(|&byte| byte == b':' || byte == b'=') {
            Some(at) => (item.get(..at).unwrap_or_default(), item.get(at + 1..).unwrap_or_default()),
            None => (&b""[..], item),
        }
    })
}

/// GPUs that the command line asks for, on so many nodes.
fn gpus_asked(options: &Options<'_>, nodes: u32) -> u64 {
    // Each type's are the most that an option makes them.
    let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    let mut count = |kind: &[u8], scope: GresScope, count: u64| {
        let all = if scope == GresScope::PerNode { count.saturating_mul(u64::from(nodes)) } else { count };
        let most = counts.entry(kind.to_ascii_lowercase()).or_default();
        *most = all.max(*most);
    };
    for &(scope, list) in &options.gpus {
        gpu_items(list).for_each(|(kind, amount)| count(kind, scope, gres_count(amount).unwrap_or(0)));
    }
    gres_list(options.gres, |named, gres| {
        if let Some((name, kind)) = gres.label.split_at_checked(3)
            && name.eq_ignore_ascii_case(b"gpu")
            && (kind.is_empty() || kind.starts_with(b":"))
        {
            count(kind.strip_prefix(b":").unwrap_or(kind), named.unwrap_or(GresScope::PerNode), gres.count);
        }
    });
    counts.values().fold(0, |sum, &count| sum.saturating_add(count))
}

/// `--ntasks-per-gpu`: so many tasks for each GPU, or without any asked for, without `-n` so many for each node. CPUs are those of the tasks said,
/// unless these are more than CPUs (common/gres.c of 22.05.8, `gres_job_state_validate`; job_mgr.c, `validate_job_create_req`; rec az-gpu1).
fn count_tasks_of_gpus(options: &Options<'_>, shape: &mut Shape) {
    let Some(per_gpu) = options.ntasks_per_gpu else { return };
    let gpus = gpus_asked(options, shape.min_nodes);
    if gpus > 0 {
        shape.tasks = u32::try_from(gpus).unwrap_or(u32::MAX).saturating_mul(per_gpu);
    } else if options.tasks.is_none() {
        shape.tasks = shape.min_nodes.saturating_mul(per_gpu);
    }
    if shape.tasks > shape.min_cpus && !options.overcommit {
        shape.min_cpus = shape.tasks.saturating_mul(shape.cpus_per_task);
    }
}

/// Whether GRES were asked for, but no tasks.
fn says_no_tasks(options: &Options<'_>) -> bool {
    let asks_for_gres = !options.gpus.is_empty() || !options.gres.is_empty();
    let says = options.tasks.or(options.ntasks_per_node).or(options.ntasks_per_gpu);
    asks_for_gres && says.is_none()
}

/// Without a command line: as many nodes as it got if that is what was recorded as requested, else as many as needed.
fn shape_of_totals(recorded: &Recorded<'_>) -> Shape {
    let spread = recorded.is_request() && recorded.allocated_nodes > recorded.nodes;
    Shape {
        min_nodes: recorded.nodes,
        max_nodes: (!spread).then_some(recorded.nodes),
        tasks: recorded.cpus.max(recorded.nodes),
        cpus_per_task: 1,
        min_cpus: recorded.cpus,
    }
}

/// A field's text for a message, cut and made printable.
pub(crate) fn shown(text: &[u8]) -> String {
    let cut = text.get(..text.len().min(60)).unwrap_or(text);
    String::from_utf8_lossy(cut).chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}
