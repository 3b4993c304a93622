//! Real servers for tests. The tests themselves are in `it/`.
//!
//! Each server runs on a free port of 127.0.0.1 with its files in a temporary folder, and ends with the test process, however
//! that ends. `install-servers.sh` installs what is missing.

// A test that cannot have its server should fail loudly.
#![allow(clippy::panic, clippy::expect_used)]

pub mod servers;
