//! What the accounting files say, and what slurm.conf makes of it that nobody expects.

use foresite_engine::association::{AssociationTree, Qos};
use foresite_engine::policy::PriorityPolicy;

use super::Lowering;
use crate::diagnostic::Severity;
use crate::sacctmgr::{InForce, Sacctmgr};

impl Lowering<'_> {
    pub(super) fn accounts(&mut self, accounts: Option<&Sacctmgr>) -> (AssociationTree, Vec<Qos>) {
        match accounts {
            Some(accounts) => {
                let (associations, qos, diagnostics) = accounts.lower(&mut self.tres);
                self.diagnostics.extend(diagnostics);
                let enforcement = self.globals().words("AccountingStorageEnforce");
                let limits = enforcement
                    .iter()
                    .any(|word| ["all", "limits", "safe", "2"].contains(&&*word.to_ascii_lowercase()));
                let in_force = InForce { limits, preemption: self.preempts() };
                self.diagnostics.extend(accounts.left_out(in_force));
                self.check_default_accounts(accounts);
                self.check_cluster(accounts);
                (associations, qos)
            }
            None => (AssociationTree::default(), vec![Qos { name: "normal".to_owned(), ..Qos::default() }]),
        }
    }

    /// Associations of another cluster hold there.
    fn check_cluster(&mut self, accounts: &Sacctmgr) {
        const NAME: &str = "ClusterName";
        if let (Some(ours), Some(theirs)) = (self.conf.cluster_name(), accounts.cluster())
            && !ours.eq_ignore_ascii_case(theirs)
        {
            let message =
                format!("the accounts are those of the cluster '{theirs}', this is '{ours}': taken all the same");
            let remark = self.place_of(NAME).remark(Severity::Warning, NAME, message);
            self.diagnostics.push(remark.cure(format!("hand over the output of sacctmgr dump {ours}")));
        }
    }

    /// `bf_max_job_user` counts a user's default account apart, and all others together (docs/FACTS.md, facts 101 a): who has three or more
    /// is not counted alike whichever that is.
    fn check_default_accounts(&mut self, accounts: &Sacctmgr) {
        const NAME: &str = "bf_max_job_user";
        let users = accounts.users_of_unknown_default();
        if users == 0 || self.scheduler_parameters().number(NAME) == 0 {
            return;
        }
        let message = format!(
            "counts the default account apart, and {users} users of three accounts or more have none that is named: their first one taken"
        );
        let place = self.place_of("SchedulerParameters");
        let remark = place.remark(Severity::Assumed, NAME, message);
        self.diagnostics.push(remark.cure("hand over the output of sacctmgr dump"));
    }

    /// Where fair-share has a weight slurmctld compares a `UsageThreshold` with the factor times that weight (docs/FACTS.md, facts 101 e).
    pub(super) fn check_thresholds(&mut self, priority: &PriorityPolicy, qos: &[Qos]) {
        if !priority.multifactor || priority.weight_fairshare == 0 {
            return;
        }
        let is_void = |qos: &&Qos| qos.enforce_usage_threshold && qos.usage_threshold.is_some_and(|least| least <= 1.0);
        for qos in qos.iter().filter(is_void) {
            let weight = priority.weight_fairshare;
            let message = format!(
                "the UsageThreshold of QOS '{}' holds next to nobody: slurmctld compares it with the fair-share factor times this weight ({weight})",
                qos.name
            );
            let remark =
                self.place_of("PriorityWeightFairshare").remark(Severity::Warning, "PriorityWeightFairshare", message);
            self.diagnostics.push(remark.cure("set the threshold to what is meant times the weight"));
        }
    }
}
