//! The same study by every door gives the same bytes, whatever happens to the workers.

mod deployments;
mod embedded;
mod moody_front;
mod pool;
