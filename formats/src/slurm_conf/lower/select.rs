//! Node selection.

use foresite_engine::policy::{ConsumableUnit, SelectPolicy, SlurmVersion};

use super::Lowering;
use super::partitions::memory;
use crate::diagnostic::Severity;

impl Lowering<'_> {
    pub(super) fn select_policy(&mut self, no_switches: bool) -> SelectPolicy {
        let values = self.globals();
        let words: Vec<String> =
            values.words("SelectTypeParameters").iter().map(|word| word.to_ascii_uppercase()).collect();
        let has = |name: &str| words.iter().any(|word| word == name);
        let linear = match values.setting("SelectType").map(|setting| setting.value.to_ascii_lowercase()) {
            None => self.version < SlurmVersion::V23_11,
            Some(plugin) if plugin == "select/cray_aries" => !has("OTHER_CONS_RES") && !has("OTHER_CONS_TRES"),
            Some(plugin) => plugin == "select/linear",
        };
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
        // select/linear consumes memory only where CR_Memory asks for it.
        let memory_is_consumed =
            words.iter().any(|word| word.ends_with("MEMORY")) && (is_given || !linear) || (!linear && named.is_none());
        let topology = self.globals();
        SelectPolicy {
            linear,
            unit,
            memory: memory_is_consumed,
            one_task_per_core: has("CR_ONE_TASK_PER_CORE"),
            least_loaded_nodes: has("CR_LLN"),
            pack_nodes: has("CR_PACK_NODES"),
            block_cores: has("CR_CORE_DEFAULT_DIST_BLOCK"),
            pack_serial_at_end: self.scheduler_parameters().flag("pack_serial_at_end"),
            topology_tree: !no_switches,
            topology_optional: topology.has_word("TopologyParam", "TopoOptional"),
            default_memory: memory(&values, "DefMemPerCPU", "DefMemPerNode"),
            max_memory: memory(&values, "MaxMemPerCPU", "MaxMemPerNode"),
        }
    }
}
