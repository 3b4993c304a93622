//! Node selection.

use foresite_engine::policy::{ConsumableUnit, SelectPolicy, SlurmVersion};

use super::Lowering;
use super::partitions::memory;
use crate::diagnostic::Severity;

impl Lowering<'_> {
    /// The words of `SelectTypeParameters`, in capitals.
    fn select_words(&self) -> Vec<String> {
        self.globals().words("SelectTypeParameters").iter().map(|word| word.to_ascii_uppercase()).collect()
    }

    fn is_linear(&self) -> bool {
        let words = self.select_words();
        let has = |name: &str| words.iter().any(|word| word == name);
        match self.globals().setting("SelectType").map(|setting| setting.value.to_ascii_lowercase()) {
            None => self.version < SlurmVersion::V23_11,
            Some(plugin) if plugin == "select/cray_aries" => !has("OTHER_CONS_RES") && !has("OTHER_CONS_TRES"),
            Some(plugin) => plugin == "select/linear",
        }
    }

    /// Whether GRES are given with cores near them: select/cons_tres does that.
    pub(super) fn looks_at_sockets_of_gres(&self) -> bool {
        match self.globals().setting("SelectType").map(|setting| setting.value.to_ascii_lowercase()) {
            None => self.version >= SlurmVersion::V23_11,
            Some(plugin) if plugin == "select/cray_aries" => {
                self.select_words().iter().any(|word| word == "OTHER_CONS_TRES")
            }
            Some(plugin) => plugin == "select/cons_tres",
        }
    }

    /// Whether memory is handed out. select/linear does so only where CR_Memory asks for it; cons_res and cons_tres do where no
    /// unit is named.
    pub(super) fn memory_is_consumed(&self) -> bool {
        let (words, linear) = (self.select_words(), self.is_linear());
        let is_given = self.globals().setting("SelectTypeParameters").is_some();
        let names_a_unit = words.iter().any(|word| {
            ["CR_CPU", "CR_CORE", "CR_SOCKET"].iter().any(|unit| word.strip_suffix("_MEMORY").unwrap_or(word) == *unit)
        });
        words.iter().any(|word| word.ends_with("MEMORY")) && (is_given || !linear) || (!linear && !names_a_unit)
    }

    pub(super) fn select_policy(&mut self, no_switches: bool) -> SelectPolicy {
        let values = self.globals();
        let words = self.select_words();
        let has = |name: &str| words.iter().any(|word| word == name);
        let linear = self.is_linear();
        let is_given = values.setting("SelectTypeParameters").is_some();
        let units = [("CPU", ConsumableUnit::Cpu), ("CORE", ConsumableUnit::Core), ("SOCKET", ConsumableUnit::Socket)];
        let named = units.into_iter().find(|(unit, _)| has(&format!("CR_{unit}")) || has(&format!("CR_{unit}_MEMORY")));
        if linear && named.is_some() && is_given {
            self.note(
                Severity::Warning,
                "SelectTypeParameters",
                "select/linear hands out whole nodes; units of CPUs, cores or sockets have no effect",
            );
        }
        let unit = match named {
            Some((_, unit)) => unit,
            None if has("CR_MEMORY") => ConsumableUnit::Memory,
            // slurm.conf(5): the default of cons_res and cons_tres.
            None => ConsumableUnit::Core,
        };
        let topology = self.globals();
        self.remark_on_two_defaults(&values, &self.place_of("DefMemPerNode"));
        SelectPolicy {
            cuts_to_gres: self.looks_at_sockets_of_gres(),
            linear,
            unit,
            memory: self.memory_is_consumed(),
            one_task_per_core: has("CR_ONE_TASK_PER_CORE"),
            least_loaded_nodes: has("CR_LLN"),
            block_cores: has("CR_CORE_DEFAULT_DIST_BLOCK"),
            pack_serial_at_end: self.scheduler_parameters().flag("pack_serial_at_end"),
            topology_tree: !no_switches,
            topology_optional: topology.has_word("TopologyParam", "TopoOptional"),
            default_memory: memory(&values, "DefMemPerCPU", "DefMemPerNode"),
            max_memory: memory(&values, "MaxMemPerCPU", "MaxMemPerNode"),
            default_cpus_per_gpu: values.integer("DefCpuPerGPU"),
            default_memory_per_gpu: values.megabytes("DefMemPerGPU"),
            max_switch_wait: self.scheduler_parameters().number("max_switch_wait"),
        }
    }
}
