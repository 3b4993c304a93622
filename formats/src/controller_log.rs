//! slurmctld.log: when a recorded controller's schedulers ran and its jobs came and ended, to the millisecond. A simulation at
//! these very moments ([`foresite_engine::simulate_at`]) shows whether it decides as that controller did.
//! Source: log lines of slurmctld 22.05 at `SlurmctldDebug=debug` with `DebugFlags=Backfill`; with `TraceJobs` and `Route` too it also
//! tells when each node answered that a job had left it.

mod told;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use foresite_engine::ids::NodeId;
use foresite_engine::moments::{Moments, RecordedCycle, RecordedRun};
use foresite_engine::policy::{Scheduler, SlurmVersion};
use foresite_engine::scenario::Scenario;
use jiff::tz::TimeZone;
use told::{Told, told};

use crate::compression;
use crate::diagnostic::{Diagnostic, Severity};
use crate::trace::Clock;

/// No log that a simulation could follow is larger than this unpacked [bytes].
const LARGEST: u64 = 4 << 30;
/// The priority thread's first step is counted from a moment just before it says that it begins [ms].
const BEFORE_DECAY_MS: i64 = 3;
/// From 23.11 on the thread that starts it says so, and it begins so much later (rec c1076-24-11: 14 at least) [ms].
const AFTER_DECAY_MS: i64 = 20;
/// So soon a node answers that is let serve again (node_mgr.c of 22.05.8, `update_node`, `node_did_resp`; rec ax-arr) [ms].
const RESPONDS_MS: i64 = 3000;

/// What is understood of a log. Times are milliseconds since the Unix epoch.
#[derive(Debug, Default)]
pub struct ControllerLog {
    main: Vec<(i64, bool)>,
    backfill: Vec<RecordedCycle>,
    builtin: Option<i64>,
    /// When the last decay was read, just as the priority thread begins; and the last line's time.
    decay_from: Option<i64>,
    last: i64,
    /// By the job's id as slurmctld writes it (`12`, `12_3`, `12+1`).
    arrivals: HashMap<String, i64>,
    starts: HashMap<String, i64>,
    /// The runs before the last one; `None` for one that others ended.
    earlier: HashMap<String, Vec<Option<RecordedRun>>>,
    /// The run before the requeue told last, if it had an end of its own: of a job that was done, or whose script is reported dead.
    returned: Option<(String, RecordedRun)>,
    /// When somebody had jobs that run queued again.
    requeued: HashMap<String, i64>,
    /// And whether it was killed.
    ends: HashMap<String, (i64, bool)>,
    /// The job that scancel asked for last.
    asked: Option<String>,
    scans: Vec<i64>,
    returns: HashMap<String, Vec<i64>>,
    /// When a node answered that a job had left it, by the job's id; and the node, if named.
    answers: HashMap<String, Vec<(i64, Option<String>)>>,
    /// The answer that comes next is of this node.
    answering: Option<String>,
    /// When jobs were held, or let go, by their ids.
    holds: Vec<(i64, String, bool)>,
    /// By name.
    reservations: BTreeMap<String, i64>,
    /// By node: when it went down, and when it was back.
    outages: BTreeMap<String, Vec<(i64, Option<i64>)>>,
}

impl ControllerLog {
    /// Reads a log, plain, gzip or zstd, whose times are in `zone`. Lines that tell nothing about scheduling are passed over.
    pub fn read(name: &str, bytes: &[u8], zone: TimeZone) -> (Option<Self>, Vec<Diagnostic>) {
        let mut text = Vec::new();
        let unpacked = compression::open(bytes, Some(LARGEST)).and_then(|mut source| source.read_to_end(&mut text));
        if let Err(error) = unpacked {
            return (None, vec![compression::fault(name, &error)]);
        }
        let text = String::from_utf8_lossy(&text);
        let mut log = Self::default();
        let mut clock = Clock::new(zone);
        for line in text.lines() {
            let Some((stamp, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else { continue };
            if let (Some(at), Some(told)) = (milliseconds(&mut clock, stamp), told(rest)) {
                log.note(at, told);
            }
        }
        if log.main.is_empty() && log.backfill.is_empty() {
            let fault = Diagnostic::error(name, "no line says when a scheduler ran");
            let cure = "give a slurmctld.log written with SlurmctldDebug=debug and DebugFlags=Backfill";
            return (None, vec![fault.cure(cure)]);
        }
        let message = format!(
            "{} main and {} backfill cycles, {} ends of jobs",
            log.main.len(),
            log.backfill.len(),
            log.ends.len()
        );
        (Some(log), vec![Diagnostic::new(Severity::Assumed, name, message)])
    }

    fn note(&mut self, at: i64, told: Told<'_>) {
        // Two lines of one millisecond stand in the order in which things happened.
        let next = at.max(self.last + 1);
        match told {
            Told::Main { full } => self.main.push((next, full)),
            Told::Backfill => self.backfill.push(RecordedCycle { begin: next, work: 0, end: next }),
            Told::Builtin => self.builtin = self.builtin.or(Some(at)),
            Told::Arrives(job) => drop(self.arrivals.insert(job.to_owned(), next)),
            Told::Ends { job, killed } => {
                if killed {
                    self.scanned(at);
                }
                self.ends.entry(job.to_owned()).or_insert((next, killed));
            }
            Told::Asks(job) => {
                self.asked = Some(job.to_owned());
                return;
            }
            Told::Struck { job, raw } => {
                // Preemption strikes jobs, too, but nobody asked for those.
                let array = job.split_once('_').map_or(job, |(array, _)| array);
                if !self.asked.as_ref().is_some_and(|asked| asked == job || asked == raw || asked == array) {
                    return;
                }
                self.ends.entry(job.to_owned()).or_insert((next, true));
            }
            Told::Returns(job) => {
                // Others ended that run, whose script may yet be reported dead (rec aq-mix).
                let (start, end) = (self.starts.remove(job), self.ends.remove(job));
                let run =
                    start.zip(end).map(|(start, (end, is_killed))| RecordedRun { length: end - start, is_killed });
                self.returned = run.map(|run| (job.to_owned(), run));
                let requeued = self.requeued.remove(job);
                if let Some(start) = start {
                    let length = |at: i64| RecordedRun { length: (at - start).max(0), is_killed: false };
                    self.earlier.entry(job.to_owned()).or_default().push(requeued.map(length));
                }
                self.returns.entry(job.to_owned()).or_default().push(next);
            }
            Told::WasDone(job) => {
                if let Some((_, run)) = self.returned.take().filter(|(of, _)| of == job)
                    && let Some(last) = self.earlier.get_mut(job).and_then(|runs| runs.last_mut())
                {
                    *last = Some(run);
                }
                return;
            }
            Told::Answers(node) => {
                self.answering = Some(node.to_owned());
                return;
            }
            Told::Left(job) => {
                let node = self.answering.take();
                self.answers.entry(job.to_owned()).or_default().push((at, node));
                return;
            }
            Told::Holds { job, held } => self.holds.push((next, job.to_owned(), held)),
            Told::Reserves(name) => drop(self.reservations.insert(name.to_owned(), at)),
            Told::Fails(node) => {
                let of_node = self.outages.entry(node.to_owned()).or_default();
                if of_node.last().is_none_or(|last| last.1.is_some()) {
                    of_node.push((next, None));
                }
            }
            Told::Serves(node) => {
                if let Some((_, back @ None)) = self.outages.get_mut(node).and_then(|of_node| of_node.last_mut()) {
                    *back = Some(next);
                }
            }
            Told::Responds(node) => {
                let of_node = self.outages.get_mut(node).and_then(|of_node| of_node.last_mut());
                if let Some((_, Some(back))) = of_node
                    && next - *back <= RESPONDS_MS
                {
                    *back = next;
                }
            }
            // A start may be told more than once.
            Told::Starts(job) if self.starts.get(job).is_some_and(|&start| at - start < 1000) => return,
            Told::Starts(job) => {
                self.requeued.remove(job);
                let end = self.ends.remove(job);
                if let Some(start) = self.starts.insert(job.to_owned(), at) {
                    let run = end.map(|(end, is_killed)| RecordedRun { length: end - start, is_killed });
                    self.earlier.entry(job.to_owned()).or_default().push(run);
                }
                return;
            }
            Told::BackfillDone { us } => {
                if let Some(cycle) = self.backfill.last_mut() {
                    (cycle.work, cycle.end) = (us / 1000, at.max(cycle.begin));
                }
                return;
            }
            Told::Requeued(job) => {
                self.requeued.insert(job.to_owned(), at);
                return;
            }
            Told::Preempted { job, by_scan } => {
                // Whom it strikes is decided anew.
                self.requeued.remove(job);
                if by_scan {
                    self.scanned(at);
                }
                return;
            }
            Told::Decay => {
                self.decay_from = Some(at);
                return;
            }
        }
        self.last = next;
    }

    /// A scan has found a job's time over, or others' after it: it comes every 30 s.
    fn scanned(&mut self, at: i64) {
        if self.scans.last().is_none_or(|last| at - last > 1000) {
            self.scans.push(at);
        }
    }

    /// The moments for a scenario of one controller; and how many of its jobs the log tells nothing about. O(jobs).
    pub fn moments(&self, scenario: &Scenario) -> (Moments, usize) {
        let jobs = &scenario.workload.jobs;
        let names: Vec<String> = jobs.iter().map(|job| job.name.to_string()).collect();
        let arrivals = jobs.iter().zip(&names).map(|(job, name)| {
            // All tasks of an array come with one submission, and all components of a heterogeneous job.
            self.arrivals.get(name).or_else(|| self.arrivals.get(&job.name.id.to_string())).copied()
        });
        let runs = names.iter().map(|name| {
            let mut runs = self.earlier.get(name).cloned().unwrap_or_default();
            if let (Some(start), Some(&(end, is_killed))) = (self.starts.get(name), self.ends.get(name)) {
                runs.push(Some(RecordedRun { length: end - start, is_killed }));
            }
            runs
        });
        let (mut arrivals, runs): (Vec<_>, Vec<_>) = (arrivals.collect(), runs.collect());
        let returns = names.iter().map(|name| self.returns.get(name).cloned().unwrap_or_default()).collect();
        let period = i64::from(scenario.policy.priority.calc_period.max(1)) * 1000;
        let begins = match scenario.policy.version >= SlurmVersion::V23_11 {
            true => AFTER_DECAY_MS,
            false => -BEFORE_DECAY_MS,
        };
        let decay_from = self.decay_from.map(|read| read + begins);
        let steps = decay_from
            .filter(|_| scenario.policy.priority.multifactor)
            .map_or(0, |from| (self.last - from).max(0).div_euclid(period) + 1);
        let from = decay_from.unwrap_or_default();
        // A submission that it refuses it does not name.
        let told = jobs.iter().zip(&arrivals).filter(|(job, _)| job.cancelled_at > job.submit);
        let unknown = told.filter(|(_, arrival)| arrival.is_none()).count();
        arrive_before_the_next(scenario, &mut arrivals);
        let priority = (1..=steps).map(|step| from + step * period).collect();
        let (main, backfill, scans) = (self.main.clone(), self.backfill.clone(), self.scans.clone());
        let (reservations, outages) = (self.reservations.clone(), self.outages.clone());
        let nodes = &scenario.cluster.nodes;
        let ids: HashMap<&str, NodeId> =
            nodes.iter().enumerate().map(|(place, node)| (node.name.as_str(), NodeId::new(place))).collect();
        let named = |(at, node): &(i64, Option<String>)| (*at, node.as_deref().and_then(|node| ids.get(node).copied()));
        let of_job = |name: &String| self.answers.get(name).map(|of_job| of_job.iter().map(named).collect());
        let answers = names.iter().map(|name| of_job(name).unwrap_or_default()).collect();
        let answer = None;
        let holds = self.holds_of(&names);
        let moments = Moments {
            main,
            backfill,
            builtin: self.builtin.filter(|_| scenario.policy.scheduler == Scheduler::SlurmBuiltin),
            priority,
            arrivals,
            runs,
            scans,
            returns,
            holds,
            reservations,
            outages,
            answers,
            answer,
        };
        (moments, unknown)
    }

    /// Holds, each of a job of these names: of the rest of an array (`7_*`) that is all its tasks without a record of their own, which
    /// whoever reads this knows. O(jobs + holds × tasks).
    fn holds_of(&self, names: &[String]) -> Vec<(i64, usize, bool)> {
        if self.holds.is_empty() {
            return Vec::new();
        }
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(name).or_default().push(place);
            if let Some((array, _)) = name.split_once('_') {
                // As `job_id` leaves `7_*`.
                places.entry(&name[..=array.len()]).or_default().push(place);
            }
        }
        let of = |(at, job, held): &(i64, String, bool)| {
            let places = places.get(job.as_str()).into_iter().flatten();
            places.map(|&place| (*at, place, *held)).collect::<Vec<_>>()
        };
        self.holds.iter().flat_map(of).collect()
    }
}

/// Jobs come one after the other: one of which the log says nothing, at the latest with the next that came in its second. O(jobs).
fn arrive_before_the_next(scenario: &Scenario, arrivals: &mut [Option<i64>]) {
    let mut next = None;
    for (job, arrival) in scenario.workload.jobs.iter().zip(arrivals).rev() {
        *arrival = arrival.or(next.filter(|next: &i64| next.div_euclid(1000) == job.submit));
        next = *arrival;
    }
}

/// `2024-01-01T00:03:00.060`.
fn milliseconds(clock: &mut Clock, stamp: &str) -> Option<i64> {
    let (seconds, fraction) = stamp.split_once('.').unwrap_or((stamp, "0"));
    let fraction: i64 = fraction.get(..3.min(fraction.len()))?.parse().ok()?;
    Some(clock.parse(seconds.as_bytes())?.known()? * 1000 + fraction)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const LOG: &str = "\
[2024-01-01T00:03:13.564] sched: Built-in scheduler plugin loaded
[2024-01-01T00:03:24.695] priority/multifactor: _read_last_decay_ran: No last decay to recover
[2024-01-01T00:08:00.152] _slurm_rpc_submit_batch_job: JobId=35 InitPrio=22000 usec=6794
[2024-01-01T00:08:00.152] debug:  sched: Running job scheduler for default depth.
[2024-01-01T00:08:00.190] sched: Allocate JobId=35_0(36) NodeList=m[1-4] #CPUs=48 Partition=normal
[2024-01-01T00:08:01.049] sched/backfill: _attempt_backfill: beginning
[2024-01-01T00:08:01.063] sched/backfill: _attempt_backfill: completed testing 4(4) jobs, usec=14421
[2024-01-01T00:08:17.639] _job_complete: JobId=35_0(36) WEXITSTATUS 0
[2024-01-01T00:08:17.643] _job_complete: JobId=35_0(36) done
[2024-01-01T00:08:20.005] sched: Allocate JobId=35_1(37) NodeList=m[1-4] #CPUs=48 Partition=normal
[2024-01-01T00:08:20.050] sched: _hold_job_rec: hold on JobId=35_2(38) by uid 0
[2024-01-01T00:08:20.051] sched: _release_job_rec: release hold on JobId=35_* by uid 0
[2024-01-01T00:08:20.100] sched: Allocate JobId=39 NodeList=m5 #CPUs=12 Partition=normal
[2024-01-01T00:08:40.010] job_signal: 9 of running JobId=39 successful 0x8008
[2024-01-01T00:08:50.074] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=35 uid 0
[2024-01-01T00:08:50.078] job_signal: 9 of running JobId=35_1(37) successful 0x8004
[2024-01-01T00:09:20.184] _slurm_rpc_submit_batch_het_job: JobId=40 usec=9520
[2024-01-01T00:16:21.507] preempted JobId=1 has been killed to reclaim resources for JobId=Invalid
[2024-01-01T00:16:51.507] preempted JobId=2 has been requeued to reclaim resources for JobId=Invalid
[2024-01-01T00:16:51.630] Requeuing JobId=2
[2024-01-01T00:16:55.000] sched: Allocate JobId=8 NodeList=m2 #CPUs=2 Partition=normal
[2024-01-01T00:16:59.500] debug:  _job_requeue_op: JobId=8 state 0x8000 reason 0 priority 1507
[2024-01-01T00:16:59.620] Requeuing JobId=8
[2024-01-01T00:17:00.000] sched: Allocate JobId=7 NodeList=m1 #CPUs=2 Partition=normal
[2024-01-01T00:18:00.000] _job_complete: JobId=7 WEXITSTATUS 0
[2024-01-01T00:18:40.000] Requeuing JobId=7
[2024-01-01T00:18:40.001] debug:  _job_requeue_op: JobId=7 state 0x0 reason 0 priority 1507
no time here";

    #[test]
    fn the_schedulers_moments_and_the_jobs_are_read() {
        let (log, found) = ControllerLog::read("slurmctld.log", LOG.as_bytes(), TimeZone::UTC);
        let log = log.unwrap();
        let begin = 1_704_067_200_000 + 480_000;
        assert_eq!(log.builtin, Some(begin - 286_436));
        assert_eq!(log.arrivals["35"], begin + 152);
        assert_eq!(log.arrivals["40"], begin + 80_184);
        assert_eq!(log.main, [(begin + 153, false)]);
        assert_eq!(log.backfill, [RecordedCycle { begin: begin + 1049, work: 14, end: begin + 1063 }]);
        assert_eq!(log.ends["35_0"].0 - log.starts["35_0"], 17_449);
        // scancel ends a job's run; a job that is preempted is struck, too.
        assert_eq!((log.ends["35_1"].0 - log.starts["35_1"], log.ends["35_1"].1), (30_073, true));
        assert!(!log.ends.contains_key("39"));
        let holds = log.holds_of(&["35_1", "35_2", "39"].map(str::to_owned));
        assert_eq!(holds, [(begin + 20_050, 1, true), (begin + 20_051, 0, false), (begin + 20_051, 1, false)]);
        assert_eq!(log.scans, [begin + 501_507, begin + 531_507]);
        assert_eq!(log.returns["2"], [begin + 531_630]);
        // Requeued while it ran (rec av-arr), and when it was over: the run has an end of its own.
        assert_eq!(log.earlier["8"], [Some(RecordedRun { length: 4500, is_killed: false })]);
        assert_eq!(log.earlier["7"], [Some(RecordedRun { length: 60_000, is_killed: false })]);
        assert!(found[0].message.contains("1 main and 1 backfill cycles, 2 ends"), "{found:?}");
    }

    /// Recorded (ax-qos): that a node is down is told after its jobs are back in the queue.
    #[test]
    fn a_node_is_down_before_its_jobs_are_queued_again() {
        let log = "\
[2024-01-01T00:08:00.000] debug:  sched: Running job scheduler for default depth.
[2024-01-01T00:08:10.083] update_node: node b4 reason set to: x
[2024-01-01T00:08:10.084] requeue job JobId=20 due to failure of node b4
[2024-01-01T00:08:10.087] Requeuing JobId=20
[2024-01-01T00:08:10.088] Killing JobId=21 on failed node b4
[2024-01-01T00:08:10.090] update_node: node b4 state set to DOWN
[2024-01-01T00:08:10.289] node_did_resp: node b4 returned to service";
        let (log, _) = ControllerLog::read("slurmctld.log", log.as_bytes(), TimeZone::UTC);
        let (log, begin) = (log.unwrap(), 1_704_067_200_000 + 490_000);
        assert_eq!(log.outages["b4"], [(begin + 84, Some(begin + 289))]);
        assert_eq!(log.returns["20"], [begin + 87]);
    }

    /// Recorded (ba-site), with TraceJobs and Route: of a struck job's nodes only the one where its script ran is named.
    #[test]
    fn answers_of_nodes_are_read() {
        let log = "\
[2024-01-01T00:08:00.000] debug:  sched: Running job scheduler for default depth.
[2024-01-01T00:37:53.551] TRACE_JOBS: job_epilog_complete: enter JobId=35_1(38)
[2024-01-01T00:37:53.753] ROUTE: _slurm_rpc_epilog_complete: node_name = b3, JobId=38
[2024-01-01T00:37:53.753] TRACE_JOBS: job_epilog_complete: enter JobId=35_1(38)";
        let (log, _) = ControllerLog::read("slurmctld.log", log.as_bytes(), TimeZone::UTC);
        let at = 1_704_067_200_000 + (37 * 60 + 53) * 1000;
        assert_eq!(log.unwrap().answers["35_1"], [(at + 551, None), (at + 753, Some("b3".to_owned()))]);
    }

    /// Recorded (u2 of 26.05): backfill's starts are told only so, twice; a start of the main scheduler once more.
    #[test]
    fn starts_of_26_05_are_read_once() {
        let log = "\
[2024-01-01T00:06:00.000] debug:  sched: Running job scheduler for default depth.
[2024-01-01T00:06:00.840] TRACE_JOBS: select_nodes: [JobId=1] change state: PENDING -> RUNNING
[2024-01-01T00:06:00.840] TRACE_JOBS: select_nodes: [JobId=1] change state: PENDING -> RUNNING
[2024-01-01T00:06:00.846] sched: Allocate JobId=1 NodeList=n1 #CPUs=1 Partition=batch";
        let (log, _) = ControllerLog::read("slurmctld.log", log.as_bytes(), TimeZone::UTC);
        let log = log.unwrap();
        assert_eq!(log.starts["1"], 1_704_067_560_840);
        assert!(log.earlier.is_empty());
    }

    #[test]
    fn a_log_without_schedulers_is_refused_with_a_cure() {
        let (log, found) = ControllerLog::read("x.log", b"[2024-01-01T00:03:24.695] error: nothing", TimeZone::UTC);
        assert!(log.is_none());
        assert!(found[0].to_string().contains("SlurmctldDebug=debug"), "{}", found[0]);
    }
}
