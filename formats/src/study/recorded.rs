//! What the trace says became of the simulated jobs: a schedule that the baseline's can be held against.

use foresite_engine::job::Workload;
use foresite_engine::outcome::JobState;

use super::window::Window;
use crate::schedule_file::{Schedule, ScheduleRow};
use crate::trace::{Trace, TraceJob, TraceStart, TraceState};

/// The record of each simulated job, in the trace's order.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    jobs: Vec<Record>,
}

#[derive(Clone, Copy, Debug)]
enum Record {
    /// It ran, and nothing tells when.
    Unknown,
    /// It never started.
    Never,
    /// It started, and ran so long [s]; `None` if it had not ended.
    Started(TraceStart, Option<u32>),
}

impl Recorded {
    /// The records of the jobs that the window keeps; `None` where less than half of those that ran have a start, so that they say little of
    /// the rest. `workload` is the trace's before it is cut. O(jobs).
    pub(super) fn of(trace: &Trace, workload: &Workload, window: Window) -> Option<Self> {
        let kept = trace.jobs.iter().zip(&workload.trace_order).filter(|(_, id)| {
            let job = workload.jobs.get(id.index());
            job.is_some_and(|job| window.keeps(job))
        });
        let jobs: Vec<Record> = kept.map(|(job, _)| Record::of(job)).collect();
        let count = |is: fn(&Record) -> bool| jobs.iter().filter(|job| is(job)).count();
        let started = count(|job| matches!(job, Record::Started(..)));
        (started > 0 && started >= count(|job| matches!(job, Record::Unknown))).then_some(Self { jobs })
    }

    /// Whether the record tells of every job that ran: what is measured of all jobs together needs that.
    pub(super) fn is_whole(&self) -> bool {
        !self.jobs.iter().any(|job| matches!(job, Record::Unknown))
    }

    /// The recorded schedule: the rows of the baseline's with what the trace tells, without those of which it tells nothing. Node lists are left
    /// out. O(rows).
    pub(super) fn schedule(&self, baseline: &Schedule) -> Schedule {
        let rows = baseline.rows.iter().zip(&self.jobs).filter_map(|(row, record)| record.row(row)).collect();
        Schedule { rows, labels: baseline.labels.clone(), node_lists: String::new() }
    }
}

impl Record {
    fn of(job: &TraceJob) -> Self {
        match job.started {
            Some(start) => Self::Started(start, Some(job.run_time).filter(|_| job.state != TraceState::Running)),
            None if job.cancelled_at.is_some() || job.state == TraceState::Pending => Self::Never,
            None => Self::Unknown,
        }
    }

    fn row(self, simulated: &ScheduleRow) -> Option<ScheduleRow> {
        let blank =
            ScheduleRow { node_list_begin: 0, node_list_len: 0, nodes: 0, cpus: 0, started_by: None, ..*simulated };
        match self {
            Self::Unknown => None,
            Self::Never => Some(ScheduleRow { start: None, state: JobState::Cancelled, ..blank }),
            Self::Started(start, ran) => {
                let simulated_run = || Some(simulated.end? - simulated.start?);
                let end = ran.map(i64::from).or_else(simulated_run).map(|ran| start.at.saturating_add(ran));
                let eligible = Some(start.at.saturating_sub(i64::from(start.wait)));
                Some(ScheduleRow { eligible, start: Some(start.at), end, cpus: start.cpus.get(), ..blank })
            }
        }
    }
}
