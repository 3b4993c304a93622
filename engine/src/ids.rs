//! Dense `u32` indices, one type per kind of thing, so that a node's index cannot be passed for a job's.

macro_rules! dense_id {
    ($(#[$doc:meta] $name:ident),+ $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the arena this id points into.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of position `index`. Arenas hold fewer than 2^32 entries.
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }
        }
    )+};
}

dense_id! {
    /// A node, in node order (natural sort by name).
    NodeId,
    /// A partition, in the order of slurm.conf.
    PartitionId,
    /// A row of the association tree: the root, an account, or a user in an account.
    AssociationId,
    /// A quality of service.
    QosId,
    /// A user's name.
    UserId,
    /// A node feature's name.
    FeatureId,
    /// A generic resource's name, or a typed form of it (`gpu`, `gpu:a100`).
    GresId,
    /// A licence's name.
    LicenseId,
    /// An interned request: all jobs that ask for the same thing share one.
    RequestId,
    /// A job of the workload, in submit order.
    JobId,
}
