//! Rows and objects: the only crate that knows SQL.
//!
//! [`Store`] is the database, PostgreSQL or SQLite behind one set of functions, one file per resource. [`objects::Objects`]
//! keeps the big things (traces, configurations, schedules) by their SHA-256. Nothing here decides what a user may do, or when
//! anything is: callers say so, from [`Store::now`]. Every function that serves a user takes the tenant and sees nothing outside it.
//!
//! The lives of studies and tasks are in [`studies`] and [`tasks`]. Their writes begin by locking the study's row, so that
//! all changes to one study happen one after the other.

mod text_enum;

pub mod ids;
pub mod state;
pub mod time;

pub mod database_url;
pub mod error;
pub mod page;

mod connection;
pub mod migrations;
mod schema;

pub mod objects;

pub mod files;

pub mod audit;
pub mod configs;
pub mod quotas;
pub mod sites;
pub mod tenants;
pub mod tokens;
pub mod traces;
pub mod uploads;
pub mod webhooks;

mod deployment;
pub mod events;
pub mod replications;
pub mod retention;
pub mod secrets;
pub mod studies;
pub mod tasks;

pub mod counts;

pub use connection::Store;
pub use database_url::DatabaseUrl;
pub use error::StoreError;
pub use files::files_to_json;
