//! From the parsed records to the engine's cluster and policy.

mod accounts;
mod checks;
pub(super) mod gres;
mod nodes;
mod partitions;
mod policy;
mod priority;
mod schedulers;
mod select;
mod spec_cores;
mod topology;
mod untracked;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use foresite_engine::calendar::Calendar;
use foresite_engine::cluster::Cluster;
use foresite_engine::ids::NodeId;
use foresite_engine::policy::SlurmVersion;

use super::SlurmConf;
use super::settings::Place;
use super::tres::TresNames;
use crate::diagnostic::{Diagnostic, Severity, any_error};
use crate::sacctmgr::Sacctmgr;
use crate::site::Site;
use values::Values;

/// Every node holds a count of each generic resource, so that there may not be too many.
const MAX_GRES: usize = 256;

impl SlurmConf {
    /// The engine's values, or `None` where an error is among the diagnostics. Defaults are those of the release set by
    /// `SlurmVersion`. Without `accounts` there is the root association and the QOS `normal` only. O(nodes × partitions).
    pub fn lower(&self, accounts: Option<&Sacctmgr>) -> (Option<Site>, Vec<Diagnostic>) {
        let mut lowering = Lowering {
            conf: self,
            version: self.version.unwrap_or(SlurmVersion::V22_05),
            tres: TresNames::default(),
            nodes_by_name: BTreeMap::new(),
            said: BTreeSet::new(),
            diagnostics: Vec::new(),
        };
        let site = lowering.site(accounts);
        let site = (!any_error(&lowering.diagnostics)).then_some(site);
        (site, lowering.diagnostics)
    }
}

/// The state of lowering.
struct Lowering<'a> {
    conf: &'a SlurmConf,
    version: SlurmVersion,
    tres: TresNames,
    nodes_by_name: BTreeMap<String, NodeId>,
    /// Remarks that are made once however many records call for them.
    said: BTreeSet<String>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lowering<'a> {
    fn site(&mut self, accounts: Option<&Sacctmgr>) -> Site {
        self.check_values();
        let mut cluster = Cluster { name: self.globals().text("ClusterName").to_owned(), ..Cluster::default() };
        self.licenses();
        self.nodes(&mut cluster);
        let (associations, qos) = self.accounts(accounts);
        cluster.switches = self.switches(cluster.nodes.len());
        cluster.partitions = self.partitions(&cluster, &qos, accounts.is_some());
        self.inherit_accounts(&mut cluster.partitions, &associations);
        let policy = self.policy(cluster.switches.is_empty());
        self.check_thresholds(&policy.priority, &qos);
        cluster.gres = std::mem::take(&mut self.tres.gres);
        for gres in &mut cluster.gres {
            gres.counted = self.is_only_counted(&gres.name);
        }
        cluster.licenses = std::mem::take(&mut self.tres.licenses);
        if cluster.gres.len() > MAX_GRES {
            let error =
                self.whole_file().error("Gres", format!("there are more than {MAX_GRES} generic resources and types"));
            self.diagnostics.push(error.cure("name fewer"));
            cluster.gres.truncate(MAX_GRES);
        }
        for node in &mut cluster.nodes {
            node.gres.resize(cluster.gres.len(), 0);
        }
        let has_accounts = accounts.is_some_and(Sacctmgr::has_associations);
        Site { cluster, associations, qos, policy, calendar: Calendar::default(), has_accounts }
    }

    /// Whether Slurm would let some jobs preempt others.
    fn preempts(&self) -> bool {
        !self.globals().text("PreemptType").to_ascii_lowercase().ends_with("/none")
    }

    fn globals(&self) -> Values<'a> {
        Values::global(&self.conf.globals)
    }

    /// The whole file, for what no line says.
    fn whole_file(&self) -> Place {
        Place { file: self.conf.name.as_str().into(), line: None }
    }

    /// Where a parameter was set, or the file.
    fn place_of(&self, name: &str) -> Place {
        self.conf.globals.get(name).map_or_else(|| self.whole_file(), |setting| setting.place.clone())
    }

    fn note(&mut self, severity: Severity, name: &str, message: impl Into<String>) {
        let remark = self.place_of(name).remark(severity, name, message);
        self.diagnostics.push(remark);
    }
}
