//! One row of sacct made into a job.

use super::begin::begin;
use super::caveat::CaveatKind;
use super::column::Column;
use super::job_id::{JobId, number};
use super::log::{Log, ROW_CURE};
use super::model::{TraceBefore, TraceExtra, TraceJob, TraceRequest, TraceStart};
use super::never_eligible::AFTER_THE_TRACE;
use super::request::{RequestBuilder, shown};
use super::row::Row;
use super::states::{TraceState, missed_deadline};
use super::strings::Strings;
use super::submit_line::{OptionRemark, Options, named_by_others, parse};
use super::times::{Clock, Limit, elapsed, limit_field, limit_raw, too_large};
use foresite_engine::job::{DependencyKind, JobName, JobPart, TimeLimit};

/// Which columns there are; decides what an empty field means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Present {
    pub(crate) elapsed: bool,
    pub(crate) limit: bool,
    pub(crate) alloc_tres: bool,
    /// When the simulated part begins.
    pub(crate) opens: Option<i64>,
}

/// What reading rows needs.
pub(crate) struct RowReader<'b> {
    pub(crate) clock: &'b mut Clock,
    pub(crate) strings: &'b mut Strings,
    pub(crate) log: &'b mut Log,
    pub(crate) line: u64,
    pub(crate) present: Present,
    /// The latest moment of all rows so far.
    pub(crate) latest: &'b mut i64,
}

/// What a row says.
pub(crate) struct TakenRow<'r> {
    /// The job; its request index is not set.
    pub(crate) job: TraceJob,
    pub(crate) request: TraceRequest,
    /// The tasks that its command line names.
    pub(crate) tasks: &'r [u8],
    /// Its End.
    pub(crate) end: Option<i64>,
}

/// How a job ended: what is taken from the record of its run.
struct Ending {
    run_time: u32,
    is_bound: bool,
    cancelled_at: Option<i64>,
}

/// An array waits at most so long for a scheduler to come to it [s]: `sched_interval` (Slurm's default).
const STAMP_SECONDS: i64 = 60;

impl RowReader<'_> {
    /// The job of a row; `None` for a fault, which the log then holds.
    pub(crate) fn job<'r>(&mut self, row: &Row<'r>, id: &JobId) -> Option<TakenRow<'r>> {
        let (name, pending_limit) = match id {
            JobId::One(name) => (*name, None),
            JobId::Pending(tasks) => (JobName { id: tasks.id, part: JobPart::Whole }, tasks.limit),
            JobId::Step => return None,
        };
        let submit = self.time(row, Column::Submit, "Submit");
        let eligible = self.time(row, Column::Eligible, "Eligible");
        let end = self.time(row, Column::End, "End");
        let state = self.state(row.get(Column::State));
        let recorded_limit = self.limit(row);
        let submit = match submit? {
            Some(submit) => submit,
            None => {
                self.log.error(self.line, "Submit", "no submit time", "remove the row", || {
                    format!("job {name} has no submit time")
                });
                return None;
            }
        };
        let (eligible, end, state, recorded_limit) = (eligible?, end?, state?, recorded_limit?);
        let log = &mut *self.log;
        let line = self.line;
        let component = if let JobPart::Component(component) = name.part { component } else { 0 };
        let options = parse(row.get(Column::SubmitLine), component, |word, remark| match remark {
            OptionRemark::NoEffect => log.option(word, line),
            OptionRemark::BadValue => log.caveat(CaveatKind::OptionValue, line),
            OptionRemark::SomeNodes => log.caveat(CaveatKind::SomeNodes, line),
        });
        let asked_limit = options.as_ref().and_then(|options| options.time);
        let may_shrink = options.as_ref().is_some_and(|options| options.time_min.is_some());
        let time_limit = match recorded_limit {
            // Whom backfill starts has the limit that it got, not the one that it asked for (rec at-share).
            Some(limit) => asked_limit.filter(|_| may_shrink).unwrap_or(limit).minutes(),
            None => match asked_limit {
                Some(limit) => limit.minutes(),
                None => {
                    self.log.caveat(CaveatKind::LimitUnknown, self.line);
                    None
                }
            },
        };
        let mut ending = self.ending(row, state, submit, end, time_limit)?;
        let mut builder = RequestBuilder { strings: self.strings, log: self.log, line: self.line };
        let (mut request, cpus) = builder.build(row, options.as_ref());
        if let (JobPart::Component(_), Some(options)) = (name.part, &options) {
            let others = named_by_others(row.get(Column::SubmitLine), component);
            if !others.is_empty() {
                let all: Vec<&[u8]> =
                    [options.exclude].into_iter().filter(|own| !own.is_empty()).chain(others).collect();
                request.excluded_nodes = self.strings.intern(&all.join(&b","[..]));
            }
        }
        let mut extra = TraceExtra { array_task_limit: pending_limit, ..TraceExtra::default() };
        let waits = ending.cancelled_at.is_some() || state == TraceState::Pending;
        let is_never = eligible.is_none() && !row.get(Column::Eligible).is_empty() && waits;
        let eligible = eligible.unwrap_or(submit).max(submit);
        // An array is stamped as eligible when a scheduler first comes to it; it was in the queue before (docs/FACTS.md, facts 70).
        let is_array = matches!((id, name.part), (JobId::Pending(_), _) | (_, JobPart::Task(_)));
        let is_held = |options: &Options<'_>| !options.begin.is_empty() || options.dependency_unknown || options.hold;
        let is_stamped = is_array && eligible - submit <= STAMP_SECONDS && !options.as_ref().is_some_and(is_held);
        let mut release = if pending_limit.is_some() || is_stamped { submit } else { eligible };
        let (mut nice, mut is_let_go) = (0, true);
        let mut is_simulated = pending_limit.is_some() || !request.reservation.is_empty();
        if let Some(options) = &options {
            nice = options.nice;
            if self.held_by_options(options, submit, name, &mut extra) {
                (release, is_simulated) = (submit, !options.hold);
            }
            if options.hold {
                // Somebody has to let it go, which makes it eligible anew: who left the queue as it came never was (rec ax-tier).
                let asked = extra.begin.unwrap_or(submit).max(submit);
                let never = ending.cancelled_at.filter(|_| eligible <= asked);
                is_let_go = never.is_none();
                release = never.unwrap_or(eligible).max(eligible);
                // That is after all else that it waited for.
                (extra.begin, extra.dependencies) = (None, None);
                extra.array_task_limit = extra.array_task_limit.filter(|_| is_let_go);
            }
        }
        let is_never = is_never && !is_simulated;
        if is_never {
            release = *ending.cancelled_at.get_or_insert(AFTER_THE_TRACE);
            (extra.begin, extra.dependencies, is_let_go) = (None, None, false);
        }
        if extra.deadline.is_some() && missed_deadline(row.get(Column::State)) {
            // Who comes to it too late is simulated, be it after the deadline (rec w2312); nobody else took it from the queue.
            ending.cancelled_at = ending.cancelled_at.map(|_| AFTER_THE_TRACE);
        }
        // What a reservation holds back is simulated; lowering takes that back where the site does not have it.
        if is_let_go
            && !request.reservation.is_empty()
            && !options.as_ref().is_some_and(|options| options.dependency_unknown)
        {
            release = submit;
        }
        if let Some(opens) = self.present.opens.filter(|&opens| submit < opens) {
            extra.before = self.before(row, state, &ending, end, opens)?;
            // What it waited for is over, or will be seen again.
            release = if is_let_go { eligible.min(opens) } else { release };
        }
        if is_never && state == TraceState::Cancelled {
            self.log.caveat(CaveatKind::NeverEligible, self.line);
        } else if release > submit && !is_never {
            self.log.caveat(CaveatKind::EligibleAsRelease, self.line);
        }
        let started =
            if waits { None } else { self.started(row, eligible, if cpus > 0 { cpus } else { request.min_cpus }) };
        let user = if row.get(Column::User).is_empty() { row.get(Column::Uid) } else { row.get(Column::User) };
        let job = TraceJob {
            name,
            line: self.line,
            submit,
            eligible,
            release,
            cancelled_at: ending.cancelled_at,
            run_time: ending.run_time,
            estimate: limit_seconds(time_limit),
            run_time_is_bound: ending.is_bound,
            state,
            started,
            time_limit,
            user: self.strings.intern(user),
            account: self.strings.intern(row.get(Column::Account)),
            qos: self.strings.intern(row.get(Column::Qos)),
            request: 0,
            nice,
            extra: (extra != TraceExtra::default()).then(|| Box::new(extra)),
        };
        Some(TakenRow { job, request, tasks: options.map_or(&[], |options| options.array), end })
    }

    /// Takes what the command line says about when the job may start; true if that replaces the recorded Eligible.
    fn held_by_options(&mut self, options: &Options<'_>, submit: i64, name: JobName, extra: &mut TraceExtra) -> bool {
        extra.time_min = options.time_min;
        extra.requeue = options.requeue;
        extra.kill_on_invalid_dep = options.kill_on_invalid_dep;
        extra.prefer = self.strings.intern(options.prefer);
        if !options.array.is_empty() && matches!(name.part, JobPart::Task(_)) {
            extra.array_task_limit = options.array_limit;
        }
        if !options.deadline.is_empty() {
            extra.deadline = begin(options.deadline, submit, self.clock);
        }
        let mut known = extra.array_task_limit.is_some();
        if !options.begin.is_empty() {
            match begin(options.begin, submit, self.clock) {
                Some(time) => {
                    extra.begin = (time > submit).then_some(time);
                    known = true;
                }
                None => {
                    self.log.caveat(CaveatKind::BeginUnknown, self.line);
                    return false;
                }
            }
        }
        if options.dependency_unknown {
            self.log.caveat(CaveatKind::DependencyUnknown, self.line);
            return false;
        }
        if let Some(dependencies) = &options.dependencies {
            if dependencies.on.iter().any(|on| on.kind == DependencyKind::Singleton) {
                extra.job_name = self.strings.intern(options.job_name);
            }
            extra.dependencies = Some(dependencies.clone());
            known = true;
        }
        known
    }

    pub(super) fn time(&mut self, row: &Row<'_>, column: Column, field: &'static str) -> Option<Option<i64>> {
        let text = row.get(column);
        let moment = self.clock.parse(text);
        if moment.is_none() {
            let cure = "export with SLURM_TIME_FORMAT=standard or %s, or, if it is this one alone, correct it";
            self.log.error(self.line, field, "no time", cure, || match too_large(text) {
                "" => format!("'{}' is no time such as 2024-01-31T12:34:56 or Unknown", shown(text)),
                why => format!("'{}' is no time{why}", shown(text)),
            });
        }
        let known = moment.map(super::times::Moment::known);
        // Who waits may be eligible long after the trace.
        let told = known.flatten().filter(|_| column != Column::Eligible);
        *self.latest = told.map_or(*self.latest, |at| at.max(*self.latest));
        known
    }

    fn state(&mut self, text: &[u8]) -> Option<TraceState> {
        if text.is_empty() {
            self.log.error(self.line, "State", "no state", ROW_CURE, || "the job has no state".to_owned());
            return None;
        }
        Some(TraceState::parse(text).unwrap_or_else(|| {
            self.log.caveat(CaveatKind::StateUnknown, self.line);
            TraceState::Failed
        }))
    }

    /// The recorded limit; `None` inside if there is no such column.
    fn limit(&mut self, row: &Row<'_>) -> Option<Option<Limit>> {
        if !self.present.limit {
            return Some(None);
        }
        let (raw, text) = (row.get(Column::TimelimitRaw), row.get(Column::Timelimit));
        let limit = match limit_raw(raw) {
            Some(Limit::NotGiven) => limit_field(text),
            limit => limit,
        };
        if limit.is_none() {
            let (field, text) = if raw.is_empty() { ("Timelimit", text) } else { ("TimelimitRaw", raw) };
            self.log
                .error(self.line, field, "no time limit", ROW_CURE, || format!("'{}' is no time limit", shown(text)));
        }
        limit.map(Some)
    }

    /// ElapsedRaw or Elapsed; `None` inside if neither says it.
    fn elapsed(&mut self, row: &Row<'_>) -> Option<Option<u64>> {
        let (raw, text) = (row.get(Column::ElapsedRaw), row.get(Column::Elapsed));
        if let Some(seconds) = number(raw) {
            return Some(Some(seconds));
        }
        let seconds = if raw.is_empty() { elapsed(text) } else { None };
        if seconds.is_none() {
            let (field, text, what) = match raw {
                b"" => ("Elapsed", text, "duration such as 1-02:03:04"),
                _ => ("ElapsedRaw", raw, "number of seconds"),
            };
            self.log.error(self.line, field, "no duration", ROW_CURE, || format!("'{}' is no {what}", shown(text)));
        }
        seconds
    }

    /// Run time, and whether it was cancelled in the queue. Start is looked at only where no elapsed time is recorded.
    fn ending(
        &mut self,
        row: &Row<'_>,
        state: TraceState,
        submit: i64,
        end: Option<i64>,
        limit: Option<TimeLimit>,
    ) -> Option<Ending> {
        let elapsed = self.elapsed(row)?;
        let suspended = row.get(Column::Suspended);
        if !suspended.iter().all(|byte| matches!(byte, b'0' | b':' | b'.' | b'-')) {
            self.log.caveat(CaveatKind::Suspended, self.line);
        }
        let seconds = match (elapsed, end) {
            (Some(seconds), _) => Some(seconds),
            (None, Some(end)) if !self.present.elapsed => {
                let start = self.time(row, Column::Start, "Start")?;
                let waits = start.is_none() && state == TraceState::Cancelled && !self.was_allocated(row);
                let ran = end.saturating_sub(start.unwrap_or(submit));
                if ran < 0 {
                    self.log.caveat(CaveatKind::EndBeforeStart, self.line);
                }
                if waits { None } else { Some(u64::try_from(ran).unwrap_or(0)) }
            }
            _ => None,
        };
        let run_time = u32::try_from(seconds.unwrap_or(0)).unwrap_or(u32::MAX);
        let mut ending = Ending { run_time, is_bound: state == TraceState::Timeout, cancelled_at: None };
        match state {
            TraceState::Cancelled if run_time == 0 => {
                ending.cancelled_at = Some(end.unwrap_or(submit).max(submit));
                if end.is_none() {
                    self.log.caveat(CaveatKind::CancelTimeUnknown, self.line);
                }
            }
            TraceState::Failed if run_time == 0 && self.present.alloc_tres && !self.was_allocated(row) => {
                // sbatch was told that no node could ever serve it, and slurmctld forgot it at once.
                ending.cancelled_at = Some(submit);
                self.log.caveat(CaveatKind::Refused, self.line);
            }
            TraceState::Pending | TraceState::Running => {
                ending.is_bound = true;
                if state == TraceState::Pending {
                    ending.run_time = limit_seconds(limit);
                }
            }
            _ if seconds.is_none() => self.log.caveat(CaveatKind::RunTimeUnknown, self.line),
            TraceState::Preempted | TraceState::Resizing => ending.is_bound = true,
            _ => {}
        }
        Some(ending)
    }

    /// Its recorded start. A Start that is none is only missed where the baseline is held against the record.
    fn started(&mut self, row: &Row<'_>, eligible: i64, cpus: u32) -> Option<TraceStart> {
        let at = self.clock.parse(row.get(Column::Start))?.known()?;
        Some(TraceStart::new(at, eligible, cpus))
    }

    /// How a job submitted before the simulated part stood when that begins: the one use that the simulation makes of Start and NodeList.
    /// `Some(None)` if it was over.
    fn before(
        &mut self,
        row: &Row<'_>,
        state: TraceState,
        ending: &Ending,
        end: Option<i64>,
        opens: i64,
    ) -> Option<Option<TraceBefore>> {
        let waits = Some(Some(TraceBefore::Waiting));
        if let Some(cancelled_at) = ending.cancelled_at {
            return if cancelled_at > opens { waits } else { Some(None) };
        }
        match state {
            TraceState::Pending => return waits,
            TraceState::Running => {}
            _ if end.is_some_and(|end| end <= opens) => return Some(None),
            _ => {}
        }
        let start = self.time(row, Column::Start, "Start")?;
        let start = start.or_else(|| end.map(|end| end.saturating_sub(i64::from(ending.run_time))));
        let Some(since) = start.filter(|&since| since < opens) else { return waits };
        Some(Some(TraceBefore::Running { since, nodes: self.strings.intern(row.get(Column::NodeList)) }))
    }

    fn was_allocated(&self, row: &Row<'_>) -> bool {
        self.present.alloc_tres && !row.get(Column::AllocTres).is_empty()
    }
}

fn limit_seconds(limit: Option<TimeLimit>) -> u32 {
    match limit {
        Some(TimeLimit::Minutes(minutes)) => minutes.saturating_mul(60),
        Some(TimeLimit::Unlimited) | None => 0,
    }
}
