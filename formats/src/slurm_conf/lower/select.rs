//! Node selection.

use foresite_engine::policy::{ConsumableUnit, SelectPolicy, SlurmVersion};

use super::partitions::memory;
use super::{Lowering, Values};
use crate::diagnostic::Severity;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plugin {
    Linear,
    ConsRes,
    ConsTres,
}

impl Lowering<'_> {
    /// The words of `SelectTypeParameters`, in capitals.
    fn select_words(&self) -> Vec<String> {
        self.globals().words("SelectTypeParameters").iter().map(|word| word.to_ascii_uppercase()).collect()
    }

    /// The plugin that chooses nodes: below select/cray_aries the one that its parameters name, and select/cons_tres for the
    /// select/cons_res that 23.11 and later do not have.
    fn plugin(&self) -> Plugin {
        let words = self.select_words();
        let has = |name: &str| words.iter().any(|word| word == name);
        let named = self.globals().setting("SelectType").map(|setting| setting.value.to_ascii_lowercase());
        let plugin = match named.as_deref() {
            None if self.version < SlurmVersion::V23_11 => Plugin::Linear,
            None => Plugin::ConsTres,
            Some("select/linear") => Plugin::Linear,
            Some("select/cons_res") => Plugin::ConsRes,
            Some("select/cray_aries") if has("OTHER_CONS_TRES") => Plugin::ConsTres,
            Some("select/cray_aries") if has("OTHER_CONS_RES") => Plugin::ConsRes,
            Some("select/cray_aries") => Plugin::Linear,
            Some(_) => Plugin::ConsTres,
        };
        let is_gone = plugin == Plugin::ConsRes && self.version >= SlurmVersion::V23_11;
        if is_gone { Plugin::ConsTres } else { plugin }
    }

    fn is_linear(&self) -> bool {
        self.plugin() == Plugin::Linear
    }

    /// Whether GRES are given with cores near them: select/cons_tres does that.
    pub(super) fn looks_at_sockets_of_gres(&self) -> bool {
        self.plugin() == Plugin::ConsTres
    }

    /// What newer releases do not start with (RELEASE_NOTES of 23.11 and 24.05).
    fn remark_on_what_newer_releases_left_out(&mut self) {
        let plugin = self.globals().text("SelectType").to_ascii_lowercase();
        let is_tree = self.globals().text("TopologyPlugin").eq_ignore_ascii_case("topology/tree");
        let of_cray = plugin == "select/cray_aries";
        let cons_res =
            plugin == "select/cons_res" || of_cray && self.select_words().iter().any(|word| word == "OTHER_CONS_RES");
        let (message, cure) = if of_cray && self.version >= SlurmVersion::V24_05 {
            ("24.05 and later have no select/cray_aries; taken as what SelectTypeParameters names", "select/cons_tres")
        } else if cons_res && self.version >= SlurmVersion::V23_11 {
            ("23.11 and later have no select/cons_res; taken as select/cons_tres", "select/cons_tres")
        } else if plugin == "select/linear" && is_tree && self.version >= SlurmVersion::V24_05 {
            let message =
                "slurmctld of 24.05 and later does not start with it beside topology/tree; taken as 23.11 takes them";
            (message, "select/cons_tres, or leave out TopologyPlugin")
        } else {
            return;
        };
        let remark = self.place_of("SelectType").remark(Severity::Warning, "SelectType", message);
        self.diagnostics.push(remark.cure(format!("write SelectType={cure}")));
    }

    /// Whether memory is handed out. select/linear does so only where CR_Memory asks for it; cons_res and cons_tres do where no
    /// unit is named.
    pub(super) fn memory_is_consumed(&self) -> bool {
        let (words, linear) = (self.select_words(), self.is_linear());
        let is_given = self.globals().setting("SelectTypeParameters").is_some();
        let has_memory = words.iter().any(|word| word.ends_with("MEMORY"));
        has_memory && (is_given || !linear) || (!linear && self.named_unit().is_none())
    }

    /// slurm.conf(5), `SelectTypeParameters` of a partition: cores or sockets, where the cluster hands out cores or sockets.
    pub(super) fn consumed_in(&mut self, values: &Values) -> Option<(ConsumableUnit, bool)> {
        let setting = values.setting("SelectTypeParameters").filter(|setting| !setting.value.is_empty())?;
        let word = setting.value.to_ascii_uppercase();
        let place = &setting.place;
        if self.is_linear() || !matches!(self.unit(), ConsumableUnit::Core | ConsumableUnit::Socket) {
            let message = "the cluster hands out neither cores nor sockets (CR_Core, CR_Socket): without effect";
            self.diagnostics.push(place.remark(Severity::Warning, "partition.NAME.SelectTypeParameters", message));
            return None;
        }
        let message =
            "approximated: sockets that jobs of other partitions use in part, or that keep cores, serve nobody here";
        self.diagnostics.push(place.remark(Severity::Assumed, "partition.NAME.SelectTypeParameters", message));
        let unit = if word.starts_with("CR_SOCKET") { ConsumableUnit::Socket } else { ConsumableUnit::Core };
        Some((unit, word.ends_with("_MEMORY")))
    }

    /// CPUs, cores or sockets, if `SelectTypeParameters` names them.
    fn named_unit(&self) -> Option<ConsumableUnit> {
        let words = self.select_words();
        let units =
            [("CR_CPU", ConsumableUnit::Cpu), ("CR_CORE", ConsumableUnit::Core), ("CR_SOCKET", ConsumableUnit::Socket)];
        let is_named = |name: &str| words.iter().any(|word| word.strip_suffix("_MEMORY").unwrap_or(word) == name);
        units.into_iter().find(|(name, _)| is_named(name)).map(|(_, unit)| unit)
    }

    /// What the cluster hands out.
    fn unit(&self) -> ConsumableUnit {
        match self.named_unit() {
            Some(unit) => unit,
            None if self.select_words().iter().any(|word| word == "CR_MEMORY") => ConsumableUnit::Memory,
            // slurm.conf(5): the default of cons_res and cons_tres.
            None => ConsumableUnit::Core,
        }
    }

    /// What slurmctld does not start with, though each word is one of its own (slurm_selecttype_info.c of 22.05.8).
    fn remark_on_select_words(&mut self) {
        let words = self.select_words();
        let is_unit = |word: &&String| {
            let word = word.as_str();
            let unit = word.strip_suffix("_MEMORY").unwrap_or(word);
            word == "CR_MEMORY" || ["CR_CPU", "CR_CORE", "CR_SOCKET"].contains(&unit)
        };
        let units: Vec<&str> = words.iter().filter(is_unit).map(String::as_str).collect();
        let message = if units.len() > 1 {
            format!("slurmctld does not start with {} together; name one, as CR_Core_Memory", units.join(" and "))
        } else if self.unit() == ConsumableUnit::Cpu && words.iter().any(|word| word == "CR_ONE_TASK_PER_CORE") {
            "slurmctld does not start with CR_ONE_TASK_PER_CORE beside CR_CPU; use CR_Core".to_owned()
        } else {
            return;
        };
        self.note(Severity::Warning, "SelectTypeParameters", message);
    }

    pub(super) fn select_policy(&mut self, no_switches: bool) -> SelectPolicy {
        let values = self.globals();
        let words = self.select_words();
        let has = |name: &str| words.iter().any(|word| word == name);
        let linear = self.is_linear();
        let is_given = values.setting("SelectTypeParameters").is_some();
        if linear && self.named_unit().is_some() && is_given {
            self.note(
                Severity::Warning,
                "SelectTypeParameters",
                "select/linear hands out whole nodes; units of CPUs, cores or sockets have no effect",
            );
        }
        self.remark_on_select_words();
        self.remark_on_what_newer_releases_left_out();
        let unit = self.unit();
        let topology = self.globals();
        self.remark_on_two_defaults(&values, &self.place_of("DefMemPerCPU"));
        SelectPolicy {
            cuts_to_gres: self.looks_at_sockets_of_gres(),
            spare_rows: self.globals().text("PreemptType").eq_ignore_ascii_case("preempt/qos"),
            linear,
            cons_res: self.plugin() == Plugin::ConsRes,
            unit,
            memory: self.memory_is_consumed(),
            one_task_per_core: has("CR_ONE_TASK_PER_CORE"),
            least_loaded_nodes: has("CR_LLN"),
            block_cores: has("CR_CORE_DEFAULT_DIST_BLOCK"),
            pack_serial_at_end: self.scheduler_parameters().flag("pack_serial_at_end"),
            topology_tree: !no_switches,
            topology_optional: topology.has_word("TopologyParam", "TopoOptional"),
            topology_dragonfly: topology.has_word("TopologyParam", "Dragonfly"),
            default_memory: memory(&values, "DefMemPerCPU", "DefMemPerNode"),
            max_memory: memory(&values, "MaxMemPerCPU", "MaxMemPerNode"),
            default_cpus_per_gpu: values.integer("DefCpuPerGPU"),
            default_memory_per_gpu: values.megabytes("DefMemPerGPU"),
            max_switch_wait: self.scheduler_parameters().number("max_switch_wait"),
        }
    }
}
