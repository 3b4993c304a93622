//! The queue's and the worker's promises.
