//! Slurm's decisions from outside: scenarios as text in, schedules as text out.
//!
//! [`dsl`] reads a scenario, [`schedule`] runs it and compares. Expected times are bounds that follow from the
//! specification (a tick's phase is chance), so every scenario is run with several seeds.
//! [`conformance`] holds the sixteen tests of the specification.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod ablation;
mod backfill;
mod batches;
mod calendar;
mod completing;
mod conformance;
mod cpus_per_gpu;
mod cycle_time;
mod determinism;
mod drawn;
mod dsl;
mod gpus;
mod gpus_of_sockets;
mod hetjobs;
mod invariants;
mod limits;
mod main_scheduler;
mod options;
mod outages;
mod past_tasks;
mod pins;
mod preemption;
mod priority;
mod reasons;
mod requeue;
mod reservations;
mod schedule;
mod selection;
mod sharing;
mod since_23_02;
mod since_24_11;
mod since_25_11;
mod sizes;
mod strays;
mod switches;
mod versions;
mod waiting;
mod warm_start;
