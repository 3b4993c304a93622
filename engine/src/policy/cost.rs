//! The virtual run time of the controllers' own work.

/// Virtual run time of the controller's own work. All zero (the default): an ideal, instantaneous controller,
/// whose jobs run for whole seconds; otherwise the fractions of seconds that no trace tells are drawn.
///
/// A backfill cycle takes `base + records × record_us(nodes)`, times a factor of its own in 1 ± noise, without its sleeps; those that caps pass
/// over take `passed_us`, and a record of a cycle takes the mean of all that wait.
/// Records count up to the queue's length or `bf_max_job_test`, whichever is less: it is reckoned from what is known without
/// planning, so that a cycle which provably starts nothing need not be planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostModel {
    /// Fixed time of a backfill cycle [µs].
    pub backfill_base_us: u64,
    /// Time of one record in backfill [µs].
    pub backfill_record_us: u64,
    /// Time of a record that a cap passes over (`bf_max_job_user`, `bf_max_job_part`) [µs].
    pub backfill_passed_us: u64,
    /// Additional time of a record per thousand nodes of the cluster [µs].
    pub backfill_record_per_1000_nodes_us: u64,
    /// Time of a start in the main scheduler [µs]: it counts towards `max_sched_time`, and the clock stands still.
    pub main_start_us: u64,
    /// How far a cycle's time may be from that, either way, uniformly [%]; at most 100.
    pub noise_percent: u32,
}

impl CostModel {
    /// A busy controller: 11 ms + records × (1.6 ms + 16 ms per 1,000 nodes) ± 25 %; 0.5 ms for a record that is passed over.
    ///
    /// Base and record: the mean of the lines through 35 recordings on 4 to 16 nodes, whose clock runs 25 to 30 times as fast as their
    /// machine, from one begin to the next without `bf_interval` (10.8 ms, 1.74 ms a record; that is what moves the cycles to come). Noise: two
    /// cycles in a row over as many records differ by a standard deviation of 0.145 each (0.11 to 0.21). An idle controller at real time needs a
    /// twenty-fifth of it there (oracle, probe-turnover: 0.26 ms + 0.048 ms a record): on a small machine no cycle is long
    /// with either. Nodes: with them a record takes 5.7 ms on 256 nodes, where 54 took 0.23 s (4.3 ms each) and 1,500 on a slow
    /// virtual machine 36 s (24 ms; slurm-semantics 8), and Cori's several ten thousand jobs on 11,000 nodes 15 minutes. Starts in the main scheduler: about 100 in 0.44 s
    /// there; a run over 1,500 records that starts none takes 2 to 3 ms, which is left out. A site's own figures come from `sdiag`.
    pub const RECORDED: Self = Self {
        backfill_base_us: 11_000,
        backfill_record_us: 1_600,
        backfill_passed_us: 500,
        backfill_record_per_1000_nodes_us: 16_000,
        main_start_us: 4_400,
        noise_percent: 25,
    };

    /// All work is done at once, and jobs run for whole seconds.
    pub fn is_ideal(&self) -> bool {
        *self == Self::default()
    }

    /// Time of one record in backfill on so many nodes [µs].
    pub const fn record_us(&self, nodes: usize) -> u64 {
        self.backfill_record_us
            .saturating_add(self.backfill_record_per_1000_nodes_us.saturating_mul(nodes as u64) / 1000)
    }
}
