//! The doors of the service: REST, gRPC, pages, authentication and metrics. Handlers decide nothing; `app` holds one function
//! per use case, called by both doors.
//!
//! Reading order: [`config`], [`error`], [`auth`], [`context`], [`app`], then [`rest`] and [`grpc`].

pub mod config;
pub mod error;

mod clock;
mod pace;
pub mod room;
mod trace_id;
pub mod turns;

pub mod auth;
pub mod context;
pub mod janitor;
pub mod links;
pub mod metrics;
pub mod quotas;
pub mod webhooks;

pub mod app;

pub mod grpc;
pub mod openapi;
pub mod rest;

pub mod startup;
