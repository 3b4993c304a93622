//! The same study by every door gives the same bytes, whatever happens to the workers.

mod embedded;
mod moody_front;
mod pool;
