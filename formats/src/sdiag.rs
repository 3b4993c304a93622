//! Measured cycle times (`sdiag`): how long this site's backfill cycles take. Source: sdiag(1) of 22.05 to 25.05.

use foresite_engine::policy::CostModel;

use crate::diagnostic::{Diagnostic, Severity};
use crate::slurm_conf::SlurmConf;
use crate::slurm_conf::settings::Place;

/// The section of the backfill scheduler; it ends with the next line that is not indented.
const SECTION: &str = "Backfilling stats";
const CYCLES: &str = "Total cycles";
const MEAN_CYCLE: &str = "Mean cycle";
const MEAN_DEPTH: &str = "Depth Mean";

/// What sdiag says about backfill.
#[derive(Clone, Debug, PartialEq)]
pub struct Sdiag {
    file: String,
    /// Where the mean stands.
    line: u64,
    /// Mean time of a cycle without its sleeps [µs].
    mean_cycle_us: u64,
    /// Records a cycle looked at, on average.
    mean_depth: u64,
}

/// Whether a line begins the section of `sdiag`'s output that [`Sdiag::read`] reads.
pub fn is_section(line: &str) -> bool {
    line.trim_start().starts_with(SECTION)
}

impl Sdiag {
    /// Reads the output of `sdiag`; `name` is what diagnostics call it. `None` if anything is wrong, and if it tells nothing of
    /// cycles, which is assumed to be no fault: sched/builtin has none, and counters are reset at midnight. O(bytes).
    pub fn read(name: &str, bytes: &[u8]) -> (Option<Self>, Vec<Diagnostic>) {
        let text = String::from_utf8_lossy(bytes);
        let cure = "hand over the whole output of sdiag, taken after some hours of work";
        let mut lines = text.lines().zip(1_u64..);
        let Some((_, begin)) = lines.find(|(line, _)| is_section(line)) else {
            let fault = Diagnostic::error(name, format!("there is no section '{SECTION}'"));
            return (None, vec![fault.cure(cure)]);
        };
        let mut faults = Vec::new();
        let section = lines.take_while(|(line, _)| line.is_empty() || line.starts_with(char::is_whitespace));
        let section: Vec<(&str, &str, u64)> = section
            .filter_map(|(line, number)| line.split_once(':').map(|(key, value)| (key.trim(), value.trim(), number)))
            .collect();
        let mut figure = |key: &str| {
            let Some(&(_, value, line)) = section.iter().find(|(known, ..)| *known == key) else {
                let fault = Diagnostic::error(name, format!("'{SECTION}' has no line '{key}'")).field(key);
                faults.push(Diagnostic { line: Some(begin), ..fault.cure(cure) });
                return None;
            };
            let number = value.parse::<u64>().ok();
            if number.is_none() {
                let shown: String = value.chars().take(60).collect();
                let fault = Diagnostic::error(name, format!("'{shown}' is not a whole number")).field(key);
                faults.push(Diagnostic { line: Some(line), ..fault.cure(cure) });
            }
            number.map(|number| (number, line))
        };
        // Without cycles there are no means.
        let untold = |what: &str, field: &str, line| {
            let message = format!("{what}: cycles take the times of the default model");
            (None, vec![Diagnostic::new(Severity::Assumed, name, message).at(line).field(field).cure(cure)])
        };
        let cycles = figure(CYCLES);
        if let Some((0, line)) = cycles {
            return untold("backfill has not run since the counters were reset", CYCLES, line);
        }
        let (mean, depth) = (figure(MEAN_CYCLE), figure(MEAN_DEPTH));
        if let (true, Some((0, line))) = (mean.is_some(), depth) {
            return untold("backfill has looked at no job", MEAN_DEPTH, line);
        }
        let sdiag = mean.zip(depth).map(|((mean_cycle_us, line), (mean_depth, _))| Self {
            file: name.to_owned(),
            line,
            mean_cycle_us,
            mean_depth,
        });
        (sdiag.filter(|_| faults.is_empty()), faults)
    }

    /// The cost model whose cycles of the mean depth take the mean time on so many nodes: the default model, in proportion.
    pub fn cost(&self, nodes: usize) -> CostModel {
        let model = CostModel::RECORDED;
        let (mean, depth, nodes) = (u128::from(self.mean_cycle_us), u128::from(self.mean_depth.max(1)), nodes as u128);
        let per_1000 = u128::from(model.backfill_record_per_1000_nodes_us);
        // In thousandths of a microsecond, of the default model.
        let record = u128::from(model.backfill_record_us) * 1000 + per_1000 * nodes;
        let cycle = u128::from(model.backfill_base_us) * 1000 + record * depth;
        let per_1000_us = mean * per_1000 * 1000 / cycle;
        let record_us = mean * record / cycle;
        CostModel {
            // What is left, so that the sum is exact.
            backfill_base_us: (mean - record_us * depth) as u64,
            backfill_record_us: record_us.saturating_sub(per_1000_us * nodes / 1000) as u64,
            backfill_passed_us: (mean * u128::from(model.backfill_passed_us) * 1000 / cycle) as u64,
            backfill_record_per_1000_nodes_us: per_1000_us as u64,
            main_start_us: model.main_start_us,
            noise_percent: model.noise_percent,
        }
    }

    /// Sets the configuration's cost model; says what follows from the file.
    pub fn calibrate(&self, conf: &mut SlurmConf) -> Diagnostic {
        let nodes = conf.node_names().count();
        let cost = self.cost(nodes);
        conf.set_cost(&cost, &Place { file: self.file.as_str().into(), line: Some(self.line) });
        let message = format!(
            "a backfill cycle is taken to last {} µs and {} µs a job on {nodes} nodes, ± {} %",
            cost.backfill_base_us,
            cost.record_us(nodes),
            cost.noise_percent
        );
        let remark = Diagnostic::new(Severity::Assumed, &self.file, message).field(MEAN_CYCLE);
        Diagnostic { line: Some(self.line), ..remark }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// In the shape of sdiag(1)'s example, 22.05.
    const TEXT: &str = "\
*******************************************************
sdiag output at Tue Nov 14 12:00:00 2023 (1699963200)
*******************************************************
Main schedule statistics (microseconds):
\tTotal cycles: 300
\tMean cycle:   100
\tMean depth cycle:  2

Backfilling stats
\tTotal backfilled jobs (since last slurm start): 12
\tTotal cycles: 57
\tLast cycle when: Tue Nov 14 11:59:31 2023 (1699963171)
\tLast cycle: 1900
\tMax cycle:  9000
\tMean cycle: 120300
\tLast depth cycle: 31
\tLast depth cycle (try sched): 30
\tDepth Mean: 40
\tDepth Mean (try depth): 38
\tQueue length mean: 40

Latency for 1000 calls to gettimeofday(): 20 microseconds
";

    fn faults(text: &str) -> Vec<String> {
        let (sdiag, faults) = Sdiag::read("sdiag.txt", text.as_bytes());
        assert_eq!(sdiag, None);
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_mean_cycle_takes_the_measured_time() {
        let (sdiag, faults) = Sdiag::read("sdiag.txt", TEXT.as_bytes());
        assert!(faults.is_empty());
        for nodes in [1, 10, 256, 5936, 11_000] {
            let cost = sdiag.as_ref().unwrap().cost(nodes);
            assert_eq!(cost.backfill_base_us + 40 * cost.record_us(nodes), 120_300, "{nodes} nodes: {cost:?}");
            assert_eq!(cost.noise_percent, CostModel::RECORDED.noise_percent);
        }
    }

    #[test]
    fn on_a_machine_of_twice_the_nodes_a_record_takes_longer() {
        let cost = Sdiag::read("sdiag.txt", TEXT.as_bytes()).0.unwrap().cost(1000);
        assert!(cost.record_us(2000) > 18 * cost.record_us(1000) / 10);
    }

    #[test]
    fn faults_name_line_and_field() {
        assert_eq!(
            faults(&TEXT.replace("120300", "N/A").replace("Depth Mean: 40", "Depth Mean: some")),
            [
                "sdiag.txt:15: error: Mean cycle: 'N/A' is not a whole number; hand over the whole output of sdiag, taken after some hours of work",
                "sdiag.txt:18: error: Depth Mean: 'some' is not a whole number; hand over the whole output of sdiag, taken after some hours of work",
            ]
        );
        assert!(
            faults(&TEXT.replace("\tDepth Mean: 40\n", ""))[0]
                .contains("sdiag.txt:9: error: Depth Mean: 'Backfilling stats' has no line")
        );
        assert!(faults("")[0].contains("there is no section 'Backfilling stats'"));
    }

    #[test]
    fn where_it_tells_nothing_the_default_model_is_assumed() {
        let cure = "cycles take the times of the default model; hand over the whole output of sdiag, taken after some hours of work";
        assert_eq!(
            faults(&TEXT.replace("cycles: 57", "cycles: 0")),
            [format!(
                "sdiag.txt:11: assumed: Total cycles: backfill has not run since the counters were reset: {cure}"
            )]
        );
        assert_eq!(
            faults(&TEXT.replace("Depth Mean: 40", "Depth Mean: 0")),
            [format!("sdiag.txt:18: assumed: Depth Mean: backfill has looked at no job: {cure}")]
        );
    }
}
