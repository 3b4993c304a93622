//! Waiting for nodes of few leaf switches (`--switches=1@t`). Source: slurm-semantics 6.8; sbatch(1), slurm.conf(5)
//! `max_switch_wait`; rec p-sel3.

use crate::ids::JobId;
use crate::select::shape::Shape;
use crate::simulation::events::Event;
use crate::simulation::{Controller, SECOND, seconds};

impl Controller<'_> {
    /// Before a job is tried: says whether nodes of more leaves are as good as none. The wait begins with the first test, be it that of
    /// its submission (rec n-whole) or the first that limits allow (rec j-topo).
    pub(crate) fn wait_for_a_leaf(&mut self, id: JobId, shape: &Shape) {
        if let Some(live) = self.selector.best_switch_of.take().and_then(|before| self.live.get_mut(before)) {
            live.best_switch = self.selector.best_switch;
        }
        self.selector.most_leaves = None;
        let Some((most, wait)) = shape.leaf_wait else { return };
        let now = seconds(self.now);
        let Some(live) = self.live.get_mut(id) else { return };
        let since = *live.leaf_since.get_or_insert_with(|| {
            self.events.push((now + wait) * SECOND, Event::LeafWaitOver);
            now
        });
        self.selector.best_switch = live.best_switch;
        self.selector.most_leaves = (now - since < wait).then_some(most);
        self.selector.best_switch_of = Some(id);
    }
}
