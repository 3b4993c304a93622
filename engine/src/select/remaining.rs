//! What of a request is still needed while nodes are taken one by one.

use crate::select::pick::Offer;
use crate::select::shape::Shape;

/// What is still needed.
#[derive(Clone, Debug)]
pub(super) struct Remaining {
    /// Nodes wanted: the most of a range.
    pub(super) nodes: i64,
    /// Nodes without which the job cannot run: the least of a range.
    pub(super) least_nodes: i64,
    pub(super) cpus: i64,
    /// Units of the GRES that is counted for the whole job.
    pub(super) gres: i64,
    pub(super) max_nodes: i64,
    /// Nodes give all that they offer.
    pub(super) uncut: bool,
}

impl Remaining {
    /// All that a shape asks for.
    pub(super) fn of(shape: &Shape) -> Self {
        Self {
            // Where GRES are counted for the whole job, the least nodes that will do (src 22.05).
            nodes: i64::from(if shape.gres_of_job.is_empty() {
                shape.wanted_nodes.max(shape.spread)
            } else {
                shape.spread
            }),
            least_nodes: i64::from(shape.spread),
            cpus: i64::from(shape.min_cpus),
            gres: shape.gres_of_job.first().map_or(0, |wanted| i64::from(wanted.count)),
            max_nodes: i64::from(shape.max_nodes),
            uncut: false,
        }
    }

    pub(super) fn satisfied(&self) -> bool {
        self.nodes <= 0 && self.cpus <= 0 && self.gres <= 0
    }

    /// Whether one node more would do, as far as CPUs and GRES go.
    pub(super) fn is_met_by(&self, offer: &Offer) -> bool {
        i64::from(offer.cpus) >= self.cpus && i64::from(offer.gres) >= self.gres
    }

    /// Whether so many nodes cover what is still needed, down to the least the job accepts.
    pub(super) fn suffice(&self, shape: &Shape, nodes: i64) -> bool {
        nodes >= self.least_run(shape)
    }

    /// As many nodes as [`Remaining::suffice`].
    pub(super) fn least_run(&self, shape: &Shape) -> i64 {
        let most = if shape.gres_of_job.is_empty() { shape.wanted_nodes } else { shape.spread };
        let slack = i64::from(most) - i64::from(shape.spread);
        self.nodes - slack.max(0)
    }

    /// Whether what was taken will do.
    pub(super) fn is_enough(&self, shape: &Shape) -> bool {
        self.cpus <= 0 && self.gres <= 0 && self.suffice(shape, 0)
    }

    /// An offer, cut to as many CPUs as the job may take of it: it leaves a core or a socket for each node that it cannot do without, whatever
    /// its tasks take (cons_tres/job_test.c of 22.05.8, `_cpus_to_use`; rec t15, t16); but no fewer than come with the GPUs that it brings (facts 42).
    pub(super) fn allowed(&self, shape: &Shape, mut offer: Offer) -> Offer {
        if !shape.whole_nodes && !self.uncut {
            let with_units = i64::from(shape.unit_cpus()) * i64::from(offer.gres).min(self.gres.max(1));
            let (offered, least) = (i64::from(offer.cpus), i64::from(shape.min_cpus_per_node));
            let allowed = self.cpus - self.reserved(&offer);
            if offered > allowed {
                // The least is given though the partition's cap leaves fewer (facts 50).
                offer.cpus = allowed.max(least).max(with_units.min(offered)).max(0) as u32;
            }
        }
        Self::with_free_units(shape, offer)
    }

    /// With `--cpus-per-gpu`, what comes with the GPUs that are free on the node, and no more (cons_tres/gres_sched.c of 22.05.8,
    /// `gres_sched_add`; rec be-h8). Where it brings none it keeps its CPUs.
    fn with_free_units(shape: &Shape, mut offer: Offer) -> Offer {
        let unit = shape.unit_cpus();
        if unit > 0 && !shape.cons_res {
            let units = (offer.cpus / unit).min(u32::from(offer.gres));
            if units > 0 {
                (offer.cpus, offer.gres) = (units * unit, units as u16);
            }
        }
        offer
    }

    /// CPUs left for the other nodes without which the job cannot run.
    fn reserved(&self, offer: &Offer) -> i64 {
        (self.least_nodes - 1).max(0) * i64::from(offer.kept)
    }

    /// Whether those are more than the job still needs: then even a node without room for its tasks is given the least that a node gets,
    /// since none is more than less than none (cons_tres/job_test.c of 22.05.8, `_cpus_to_use`; rec ba-sock).
    pub(super) fn is_overdrawn(&self, offer: &Offer) -> bool {
        self.cpus < self.reserved(offer)
    }

    /// Takes an offer, as far as it is [`Remaining::allowed`].
    pub(super) fn take(&mut self, shape: &Shape, offer: Offer) -> Offer {
        let offer = self.allowed(shape, offer);
        self.cpus -= i64::from(offer.cpus);
        self.gres -= i64::from(offer.gres);
        self.nodes -= 1;
        self.least_nodes -= 1;
        self.max_nodes -= 1;
        offer
    }
}
