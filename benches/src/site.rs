//! A machine and its users, as the files that users of Foresite hand over: slurm.conf, an accounting dump, sacct rows.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::population::{Ending, Kind, Merged, Population, Submission};

/// When every generated trace begins: Monday 2024-01-01 00:00 UTC [Unix s].
pub(crate) const BEGIN: u64 = 1_704_067_200;

/// A machine and those who use it.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// slurm.conf.
    pub(crate) slurm_conf: String,
    /// topology.conf, if switches matter.
    pub(crate) topology_conf: Option<String>,
    /// How many accounts; each user belongs to one.
    pub(crate) accounts: u64,
    /// What else the dump says of each account (`:GrpJobs=4`).
    pub(crate) limits: &'static str,
    /// Who submits.
    pub(crate) populations: Vec<Population>,
}

/// The header of the rows that [`Site::write_row`] writes.
const COLUMNS: &str = "JobID|JobIDRaw|JobName|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|State|TimelimitRaw|\
                       NNodes|ReqNodes|NCPUS|ReqCPUS|ReqMem|ReqTRES|AllocTRES|NodeList|Constraints|Reservation|Suspended|SubmitLine";

impl Site {
    /// Fewer jobs in proportionally less time: as busy, and shorter.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        for population in &mut self.populations {
            population.jobs = ((population.jobs as f64 * factor) as u64).max(1);
            population.span = ((population.span as f64 * factor) as u64).max(1);
        }
        self
    }

    /// The jobs, in submit order.
    pub(crate) fn submissions(&self, seed: u64) -> Merged {
        Merged::new(&self.populations, seed)
    }

    fn users(&self) -> u64 {
        self.populations.iter().map(|population| population.users).max().unwrap_or(0)
    }

    /// The account of a user.
    pub(crate) fn account_of(&self, user: u64) -> u64 {
        user * self.accounts / self.users().max(1)
    }

    /// `sacctmgr dump`: equal shares for all accounts, and for the users of one.
    pub(crate) fn accounts_text(&self) -> String {
        let mut text = String::from(
            "Cluster - 'bench':Fairshare=1:QOS='normal'\nParent - 'root'\n\
             User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n",
        );
        for account in 0..self.accounts {
            let limits = self.limits;
            let _ = writeln!(
                text,
                "Account - 'a{account}':Description='a{account}':Organization='bench':Fairshare=100{limits}"
            );
        }
        for account in 0..self.accounts {
            let _ = writeln!(text, "Parent - 'a{account}'");
            for user in (0..self.users()).filter(|&user| self.account_of(user) == account) {
                let _ = writeln!(text, "User - 'u{user}':DefaultAccount='a{account}':Fairshare=10");
            }
        }
        text
    }

    /// `sacct --parsable2` of all jobs, as if each had started when it came: a reader must not look at that.
    pub(crate) fn write_trace(&self, seed: u64, to: &mut impl Write) -> io::Result<()> {
        writeln!(to, "{COLUMNS}")?;
        let mut clock = Clock::default();
        for (index, submission) in self.submissions(seed).enumerate() {
            let (id, kind) = (index as u64 + 1, self.kind(&submission));
            for task in 1..=kind.tasks() {
                self.write_row((id, (kind.tasks() > 1).then_some(task)), &submission, &mut clock, to)?;
            }
        }
        Ok(())
    }

    fn kind(&self, job: &Submission) -> &Kind {
        &self.populations[usize::from(job.population)].kinds[usize::from(job.kind)]
    }

    /// The row of a job, or of one task of it.
    fn write_row(
        &self,
        (id, task): (u64, Option<u64>),
        job: &Submission,
        clock: &mut Clock,
        to: &mut impl Write,
    ) -> io::Result<()> {
        let kind = self.kind(job);
        let name = task.map_or(id.to_string(), |task| format!("{id}_{task}"));
        let constraint = usize::from(job.constraint).checked_sub(1).map_or("", |index| kind.constraints[index].1);
        // A started job's row names the one it started in.
        let partition = kind.partition.split(',').next().unwrap_or_default();
        let (user, account) = (job.user, self.account_of(u64::from(job.user)));
        let size = u64::from(job.size);
        let (cpus, nodes) = kind.node_cpus.map_or((size, 1), |per_node| (size * per_node, size));
        let (cancelled, state) = match job.ending {
            Ending::Completed => (None, "COMPLETED"),
            Ending::Failed => (None, "FAILED"),
            Ending::Timeout => (None, "TIMEOUT"),
            Ending::Cancelled(after) => (Some(after), "CANCELLED by 0"),
        };
        let submit = clock.text(BEGIN + job.submit);
        let end = clock.text(BEGIN + job.submit + u64::from(cancelled.unwrap_or(job.run)));
        let start = if cancelled.is_some() { "None" } else { &submit };
        let memory = u64::from(job.memory) * cpus;
        let gres = kind.gres.map_or(String::new(), |gres| format!(",gres/{}", gres.replacen(':', "=", 1)));
        let tres = format!("billing={cpus},cpu={cpus},mem={memory}M,node={nodes}{gres}");
        let alloc = if cancelled.is_some() { "" } else { &tres };
        write!(
            to,
            "{name}|{id}|job|u{user}|a{account}|{partition}|normal|{submit}|{submit}|{start}|{end}|{}|{state}|{}|{nodes}|{nodes}|{cpus}|\
             {cpus}|{memory}M|{tres}|{alloc}|None assigned|{constraint}||00:00:00|sbatch -p {} -t {}",
            job.run, job.minutes, kind.partition, job.minutes
        )?;
        match kind.node_cpus {
            Some(per_node) => write!(to, " -N {size} --ntasks-per-node={per_node}")?,
            None => write!(to, " -n {size}")?,
        }
        if job.memory > 0 {
            write!(to, " --mem-per-cpu={}", job.memory)?;
        }
        if let Some(gres) = kind.gres {
            write!(to, " --gres={gres}")?;
        }
        if !constraint.is_empty() {
            write!(to, " -C {constraint}")?;
        }
        // The first job has none before it.
        if !kind.options.is_empty() && (id > 1 || !kind.options.contains('@')) {
            write!(to, " {}", kind.options.replace('@', &(id - 1).to_string()))?;
        }
        writeln!(to, " job.sh")
    }
}

/// Writes times; remembers the day, which most jobs share with the one before.
#[derive(Debug, Default)]
struct Clock {
    day: Option<u64>,
    date: String,
}

impl Clock {
    fn text(&mut self, unix: u64) -> String {
        let day = unix / 86_400;
        if self.day != Some(day) {
            self.day = Some(day);
            self.date = date(day);
        }
        let second = unix % 86_400;
        format!("{}T{:02}:{:02}:{:02}", self.date, second / 3600, second / 60 % 60, second % 60)
    }
}

/// The date of a day since 1970-01-01, Gregorian.
/// Source: Hinnant, "chrono-compatible low-level date algorithms", civil_from_days.
fn date(day: u64) -> String {
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{:02}", of_year - (153 * shifted + 2) / 5 + 1)
}
