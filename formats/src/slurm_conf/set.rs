//! `set` and `scale`: what-ifs by parameter.

use std::collections::BTreeSet;

use foresite_engine::policy::SlurmVersion;

use super::near::did_you_mean;
use super::records::PartitionRecord;
use super::settings::{Place, Setting, Settings};
use super::value::yes_no;
use super::{Kind, Parameter, Scope, SlurmConf, Status, find_parameter, parameter_names, read};
use crate::diagnostic::Diagnostic;

/// What a key names.
enum Target<'a> {
    /// A line of its own, or a setting of the simulator.
    Global(&'static Parameter),
    /// An option of a parameter that is a list of options.
    Option(&'static Parameter),
    /// A key of a partition.
    Partition(&'a str, &'static Parameter),
    /// A key of some nodes.
    Node(&'a str, &'static Parameter),
}

impl Target<'_> {
    fn parameter(&self) -> &'static Parameter {
        match self {
            Self::Global(parameter)
            | Self::Option(parameter)
            | Self::Partition(_, parameter)
            | Self::Node(_, parameter) => parameter,
        }
    }
}

impl SlurmConf {
    /// Sets a modelled parameter: `PriorityWeightFairshare`, `SchedulerParameters.bf_max_job_user`, `partition.NAME.MaxTime`,
    /// `node.HOSTLIST.Weight`, `SlurmVersion`, `CostModel.noise_percent`. Options that are flags take true and false.
    ///
    /// # Errors
    /// An unknown or unmodelled parameter, an unknown partition or node (naming near ones), a value out of range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Diagnostic> {
        let target = self.target(key)?;
        let parameter = target.parameter();
        parameter
            .kind
            .check(value)
            .map_err(|fault| self.edit_error(key, fault, &format!("{}: {}", parameter.name, parameter.meaning)))?;
        self.check_effect(&target, key, value)?;
        if let Target::Partition(name, parameter) = target {
            self.check_partition_value(key, name, parameter, value)?;
        }
        self.apply(&target, key, value)
    }

    /// Nodes must be there; there is one default partition.
    fn check_partition_value(
        &mut self,
        key: &str,
        name: &str,
        parameter: &'static Parameter,
        value: &str,
    ) -> Result<(), Diagnostic> {
        if parameter.name == "Default" && yes_no(value) == Some(true) {
            for other in self.partitions.iter_mut().filter(|other| other.name != name) {
                other.settings.remove("Default");
            }
        }
        if parameter.name == "Nodes" {
            let place = Place { file: self.name.as_str().into(), line: None };
            let mut settings = Settings::default();
            settings.insert(Setting { parameter, value: value.to_owned(), place: place.clone() });
            let candidate = PartitionRecord { name: name.to_owned(), settings, place };
            let known: BTreeSet<&str> = self.node_names().collect();
            let (_, undefined) = self
                .members(&candidate, &known)
                .map_err(|error| self.edit_error(key, error.to_string(), "write a hostlist"))?;
            if let Some(node) = undefined.first() {
                let cure = did_you_mean(node, known.iter().copied(), "name nodes of slurm.conf");
                return Err(self.edit_error(key, format!("there is no node '{node}'"), &cure));
            }
        }
        Ok(())
    }

    /// Multiplies a modelled numeric parameter; where the file does not set it, Slurm's default is scaled.
    ///
    /// # Errors
    /// As [`Self::set`]; also a parameter that is no number, and a value that scaling cannot change (zero, unlimited).
    pub fn scale(&mut self, key: &str, factor: f64) -> Result<(), Diagnostic> {
        let target = self.target(key)?;
        let parameter = target.parameter();
        let scaled = |current: &str| {
            let fault =
                |fault: String| self.edit_error(key, format!("cannot be scaled: {fault}"), "use set with a value");
            parameter.kind.scaled(current, factor).map_err(fault)
        };
        if let Target::Node(list, _) = target {
            let names: BTreeSet<String> = self.existing(list).map_err(|error| error.field(key))?.into_iter().collect();
            // Nodes of different records may hold different values.
            let mut values = Vec::new();
            for record in self.nodes.iter().filter(|record| record.names.iter().any(|name| names.contains(name))) {
                let inside: Vec<&str> =
                    record.names.iter().filter(|name| names.contains(*name)).map(String::as_str).collect();
                let current = record.settings.current(parameter);
                values.push((crate::hostlist::compress(inside), scaled(&current)?));
            }
            for (list, value) in values {
                self.apply(&Target::Node(&list, parameter), key, &value)?;
            }
            return Ok(());
        }
        let value = scaled(&self.current(&target))?;
        self.apply(&target, key, &value)
    }

    /// The value in force; empty for nodes, which may hold several.
    fn current(&self, target: &Target) -> String {
        match target {
            Target::Partition(name, parameter) => {
                let partition = self.partitions.iter().find(|partition| partition.name == *name);
                partition.map_or_else(String::new, |partition| partition.settings.current(parameter))
            }
            Target::Option(parameter) => self.options(parameter.scope).current(parameter),
            Target::Global(parameter) if parameter.scope == Scope::Simulator => self.simulator.current(parameter),
            Target::Global(parameter) => self.globals.current(parameter),
            Target::Node(..) => String::new(),
        }
    }

    /// A change that the engine would not see is refused: its study would find no difference where Slurm may make one.
    fn check_effect(&self, target: &Target, key: &str, value: &str) -> Result<(), Diagnostic> {
        let Some((word, reason)) = target.parameter().unseen_change(&self.current(target), value) else {
            return Ok(());
        };
        Err(self.edit_error(
            key,
            format!("'{word}' is not modelled: {reason}"),
            "leave it as the file has it: the simulation would not show the change",
        ))
    }

    /// As [`Self::check_effect`], for the options of a list that is replaced.
    fn check_options(&self, key: &str, scope: Scope, options: &Settings) -> Result<(), Diagnostic> {
        let before = self.options(scope);
        let named = before.iter().chain(options.iter()).map(|setting| setting.parameter.canonical());
        for parameter in named {
            let Some(reason) = parameter.why_not(self.takes_time(parameter)) else { continue };
            if !parameter.kind.same(&before.current(parameter), &options.current(parameter)) {
                return Err(self.edit_error(
                    key,
                    format!("'{}' is not modelled: {reason}", parameter.name),
                    "leave it as the file has it: the simulation would not show the change",
                ));
            }
        }
        Ok(())
    }

    fn options(&self, scope: Scope) -> &Settings {
        match scope {
            Scope::PreemptParameters => &self.preempt_parameters,
            _ => &self.scheduler_parameters,
        }
    }

    fn target<'a>(&self, key: &'a str) -> Result<Target<'a>, Diagnostic> {
        let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
        let record_key = || rest.and_then(|rest| rest.rsplit_once('.'));
        let target = match (first.to_ascii_lowercase().as_str(), rest) {
            ("partition", _) => {
                let (name, parameter) = record_key().ok_or_else(|| {
                    self.edit_error(key, "this names no parameter".into(), "write partition.NAME.PARAMETER")
                })?;
                if !self.partition_names().any(|known| known == name) {
                    let cure = did_you_mean(name, self.partition_names(), "name a partition of slurm.conf");
                    return Err(self.edit_error(key, format!("there is no partition '{name}'"), &cure));
                }
                Target::Partition(name, self.modelled(key, Scope::Partition, parameter)?)
            }
            ("node", _) => {
                let (list, parameter) = record_key().ok_or_else(|| {
                    self.edit_error(key, "this names no parameter".into(), "write node.HOSTLIST.PARAMETER")
                })?;
                self.existing(list).map_err(|error| error.field(key))?;
                Target::Node(list, self.modelled(key, Scope::Node, parameter)?)
            }
            ("schedulerparameters", Some(option)) => {
                Target::Option(self.modelled(key, Scope::SchedulerParameters, option)?)
            }
            ("preemptparameters", Some(option)) => {
                Target::Option(self.modelled(key, Scope::PreemptParameters, option)?)
            }
            _ if find_parameter(Scope::Simulator, key).is_some() => {
                Target::Global(self.modelled(key, Scope::Simulator, key)?)
            }
            _ => Target::Global(self.modelled(key, Scope::Global, key)?),
        };
        Ok(target)
    }

    /// The parameter of that name, under its present name; only if it is modelled.
    fn modelled(&self, key: &str, scope: Scope, name: &str) -> Result<&'static Parameter, Diagnostic> {
        let Some(parameter) = find_parameter(scope, name) else {
            let inside = find_parameter(Scope::SchedulerParameters, name).filter(|_| scope == Scope::Global);
            let cure = match inside {
                Some(option) => format!("it is an option: write {}", option.key()),
                None => did_you_mean(
                    name,
                    parameter_names(scope).chain(parameter_names(Scope::Simulator)),
                    "see the table of parameters",
                ),
            };
            let shown: String = name.chars().take(60).collect();
            return Err(self.edit_error(key, format!("there is no parameter '{shown}'"), &cure));
        };
        if let Some(reason) = parameter.why_not(self.takes_time(parameter)) {
            let cure = match parameter.status {
                Status::WithTime(_) => "set CostModel=default before, or leave it out: it would change nothing",
                _ => "leave it out: it would change nothing",
            };
            return Err(self.edit_error(key, format!("'{}' is not modelled: {reason}", parameter.name), cure));
        }
        match (parameter.status, parameter.alias_of) {
            (Status::Modelled, Some(canonical)) => Ok(find_parameter(scope, canonical).unwrap_or(parameter)),
            (Status::Modelled | Status::NotModelled(_) | Status::WithTime(_), _) => Ok(parameter),
            (Status::Harmless, _) => {
                let message = format!("'{}' has no effect on scheduling ({})", parameter.name, parameter.meaning);
                Err(self.edit_error(key, message, "leave it out: it would change nothing"))
            }
        }
    }

    fn apply(&mut self, target: &Target, key: &str, value: &str) -> Result<(), Diagnostic> {
        let place = Place { file: format!("what-if {key}").into(), line: None };
        let setting =
            |parameter: &'static Parameter| Setting { parameter, value: value.to_owned(), place: place.clone() };
        match *target {
            Target::Global(parameter) if parameter.name == "SlurmVersion" => self.version = Some(version(value)),
            Target::Global(parameter) if parameter.scope == Scope::Simulator => self.set_simulator(setting(parameter)),
            Target::Global(parameter) => {
                if let Some(scope) = option_scope(parameter) {
                    let (options, diagnostics) = read::read_options(scope, value, &place);
                    // A slip in a file is Slurm's to ignore; one in a what-if would make it study nothing.
                    if let Some(fault) = diagnostics.into_iter().next() {
                        return Err(Diagnostic { severity: crate::diagnostic::Severity::Error, ..fault });
                    }
                    self.check_options(key, scope, &options)?;
                    match scope {
                        Scope::PreemptParameters => self.preempt_parameters = options,
                        _ => self.scheduler_parameters = options,
                    }
                }
                self.globals.insert(setting(parameter));
            }
            Target::Option(parameter) => {
                let options = match parameter.scope {
                    Scope::PreemptParameters => &mut self.preempt_parameters,
                    _ => &mut self.scheduler_parameters,
                };
                if parameter.kind == Kind::Flag && yes_no(value) == Some(false) {
                    options.remove(parameter.name);
                } else {
                    options.insert(setting(parameter));
                }
            }
            Target::Partition(name, parameter) => {
                for partition in self.partitions.iter_mut().filter(|partition| partition.name == name) {
                    replace_rivals(&mut partition.settings, parameter);
                    partition.settings.insert(setting(parameter));
                }
            }
            Target::Node(list, parameter) => {
                let names: BTreeSet<String> =
                    self.existing(list).map_err(|error| error.field(key))?.into_iter().collect();
                for at in self.isolate(&names) {
                    if let Some(record) = self.nodes.get_mut(at) {
                        record.settings.insert(setting(parameter));
                    }
                }
            }
        }
        if let Target::Global(parameter) = target {
            replace_rivals(&mut self.globals, parameter);
        }
        Ok(())
    }
}

/// What would keep a setting from being in force is forgotten: memory per CPU and per node exclude one another.
fn replace_rivals(settings: &mut Settings, parameter: &Parameter) {
    let rivals = [("DefMemPerCPU", "DefMemPerNode"), ("MaxMemPerCPU", "MaxMemPerNode")];
    for (per_cpu, per_node) in rivals {
        if parameter.name == per_cpu {
            settings.remove(per_node);
        } else if parameter.name == per_node {
            settings.remove(per_cpu);
        }
    }
    // A partition's old `Priority` would win over what it stands for: the other of the two keeps it.
    let other = match parameter.name {
        "PriorityTier" => "PriorityJobFactor",
        "PriorityJobFactor" => "PriorityTier",
        _ => return,
    };
    if let (Some(old), Some(other)) = (settings.remove("Priority"), find_parameter(parameter.scope, other)) {
        settings.insert(Setting { parameter: other, ..old });
    }
}

/// The scope of the options that a parameter lists.
fn option_scope(parameter: &Parameter) -> Option<Scope> {
    match parameter.name {
        "SchedulerParameters" => Some(Scope::SchedulerParameters),
        "PreemptParameters" => Some(Scope::PreemptParameters),
        _ => None,
    }
}

/// The release modelled for a release named; those between count as the one before.
fn version(text: &str) -> SlurmVersion {
    match text {
        "23.02" => SlurmVersion::V23_02,
        "23.11" => SlurmVersion::V23_11,
        "24.05" => SlurmVersion::V24_05,
        "24.11" => SlurmVersion::V24_11,
        "25.05" => SlurmVersion::V25_05,
        "25.11" => SlurmVersion::V25_11,
        "26.05" => SlurmVersion::V26_05,
        _ => SlurmVersion::V22_05,
    }
}
