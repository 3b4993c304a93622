//! Weights of resources that `AccountingStorageTRES` lacks: slurmctld does not start with them (slurm_protocol_api.c of 22.05.8 to 25.05.3,
//! `slurm_get_tres_weight_array`).

use super::Lowering;
use crate::diagnostic::Severity;
use crate::slurm_conf::settings::Setting;

impl Lowering<'_> {
    /// Warns of generic resources and licences with a weight that are not tracked, where accounts are kept. O(weights × tracked).
    pub(super) fn remark_on_untracked(
        &mut self,
        setting: &Setting,
        key: &'static str,
        weights: &[(String, f64, String)],
    ) {
        let value =
            |name: &str| self.conf.globals.get(name).map_or("", |setting| setting.value.as_str()).to_ascii_lowercase();
        if !value("AccountingStorageType").ends_with("slurmdbd") {
            return;
        }
        let tracked = value("AccountingStorageTRES");
        // `gres/gpu:a100` does not make `gres/gpu` known (assoc_mgr.c, `assoc_mgr_find_tres_pos`).
        let is_tracked = |name: &str| tracked.split(',').map(str::trim).any(|one| one == name);
        let names = weights.iter().map(|(name, ..)| name.to_ascii_lowercase());
        let untracked: Vec<String> = names
            .filter(|name| (name.starts_with("gres/") || name.starts_with("license/")) && !is_tracked(name))
            .collect();
        for name in untracked {
            let message =
                format!("AccountingStorageTRES lacks {name}; slurmctld would not start; this counts it all the same");
            let remark = setting.place.remark(Severity::Warning, key, message);
            let remark = remark.cure(format!("add it: AccountingStorageTRES={name}"));
            // A line of defaults is every partition's.
            if !self.diagnostics.contains(&remark) {
                self.diagnostics.push(remark);
            }
        }
    }
}
