//! One command per file: its arguments as a struct, its work as `execute`.

pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod migrate;
pub(crate) mod openapi;
pub(crate) mod pseudonymize;
pub(crate) mod quota;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod simulate;
pub(crate) mod submit;
pub(crate) mod task;
pub(crate) mod token;
pub(crate) mod work;
