//! What the controller finds when it starts: jobs that run or wait since before the simulated part of the trace.
//! Their recorded starts and nodes are the initial state; nothing else is ever taken from a recorded schedule.

use super::Controller;
use crate::ids::JobId;
use crate::job::Before;
use crate::node_set::NodeSet;

impl Controller<'_> {
    /// Takes over the jobs that stand before the first submission. O(such jobs).
    pub(super) fn open(&mut self) {
        let jobs = &self.scenario.workload.jobs;
        let there = jobs.iter().take_while(|job| job.before().is_some()).count();
        // Those that run come first: who waits must not be asked before the machine is as it was.
        for (index, job) in jobs.iter().enumerate().take(there) {
            if let Some(Before::Running { since, nodes }) = job.before()
                && !self.goes_on(JobId::new(index), *since, nodes)
            {
                self.submit(JobId::new(index));
            }
        }
        for (index, _) in jobs.iter().enumerate().take(there).filter(|(_, job)| job.before() == Some(&Before::Waiting))
        {
            self.submit(JobId::new(index));
        }
        (self.next_arrival, self.arriving) = (there, there);
    }

    /// The job runs since `since`: on its recorded nodes; if it does not fit there, on others. False if it fits nowhere.
    fn goes_on(&mut self, id: JobId, since: i64, nodes: &[crate::ids::NodeId]) -> bool {
        let job = self.job(id);
        let (user, request, release) = (job.user.0, job.request, job.release);
        let shapes = self.take_shapes(request);
        let recorded = NodeSet::from_nodes(self.scenario.cluster.nodes.len(), nodes.iter().copied());
        let mut found = None;
        for (position, shape) in shapes.iter().enumerate() {
            let mut usable = shape.eligible.clone();
            usable.intersect(&self.up);
            let mut there = usable.clone();
            there.intersect(&recorded);
            let fits = self.selector.fits(&self.free, shape, user, &there)
                || self.selector.fits(&self.free, shape, user, &usable);
            if fits {
                found = Some((position, self.selector.allocate(&self.free, shape)));
                break;
            }
        }
        self.put_shapes(request, shapes);
        let Some((position, allocation)) = found else { return false };
        let partition = self.partitions(id)[position];
        self.comes_alive(id);
        if let Some(live) = self.live.get_mut(id) {
            live.accrue = release;
        }
        self.records[id.index()].eligible = Some(release);
        self.run_since(id, partition, allocation, since);
        true
    }
}
