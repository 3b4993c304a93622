//! The cost model among the simulator's own settings: `CostModel` sets all of it, `CostModel.…` one figure.

use foresite_engine::policy::CostModel;

use super::settings::{Place, Setting};
use super::value::whole;
use super::{Parameter, Scope, SlurmConf, find_parameter};

/// The figures by name.
const BASE: &str = "CostModel.backfill_base_us";
const RECORD: &str = "CostModel.backfill_record_us";
const PASSED: &str = "CostModel.backfill_passed_us";
const PER_1000_NODES: &str = "CostModel.backfill_record_per_1000_nodes_us";
const MAIN_START: &str = "CostModel.main_start_us";
const NOISE: &str = "CostModel.noise_percent";

impl SlurmConf {
    /// Sets one figure, or all of them by name of a model: `ideal` or `default`.
    pub(super) fn set_simulator(&mut self, setting: Setting) {
        if setting.parameter.name == "CostModel" {
            let is_default = setting.value.eq_ignore_ascii_case("default");
            let model = if is_default { CostModel::RECORDED } else { CostModel::default() };
            self.set_cost(&model, &setting.place);
        }
        self.simulator.insert(setting);
    }

    /// Sets all figures.
    pub(crate) fn set_cost(&mut self, model: &CostModel, place: &Place) {
        let figures = [
            (BASE, model.backfill_base_us),
            (RECORD, model.backfill_record_us),
            (PASSED, model.backfill_passed_us),
            (PER_1000_NODES, model.backfill_record_per_1000_nodes_us),
            (MAIN_START, model.main_start_us),
            (NOISE, u64::from(model.noise_percent)),
        ];
        for (name, value) in figures {
            if let Some(parameter) = find_parameter(Scope::Simulator, name) {
                self.simulator.insert(Setting { parameter, value: value.to_string(), place: place.clone() });
            }
        }
    }

    /// Whether the cycles that a parameter is about take time: the main scheduler's, or backfill's.
    pub(super) fn takes_time(&self, parameter: &Parameter) -> bool {
        let cost = self.cost();
        let backfill = CostModel { main_start_us: 0, ..cost };
        if parameter.name == "max_sched_time" { cost.main_start_us > 0 } else { backfill != CostModel::default() }
    }

    /// The figures in force.
    pub(super) fn cost(&self) -> CostModel {
        let figure = |name, default: u64| {
            let setting = self.simulator.get(name);
            setting.and_then(|setting| u64::try_from(whole(&setting.value)?).ok()).unwrap_or(default)
        };
        let default = CostModel::RECORDED;
        CostModel {
            backfill_base_us: figure(BASE, default.backfill_base_us),
            backfill_record_us: figure(RECORD, default.backfill_record_us),
            backfill_passed_us: figure(PASSED, default.backfill_passed_us),
            backfill_record_per_1000_nodes_us: figure(PER_1000_NODES, default.backfill_record_per_1000_nodes_us),
            main_start_us: figure(MAIN_START, default.main_start_us),
            noise_percent: figure(NOISE, u64::from(default.noise_percent)).min(100) as u32,
        }
    }
}
