//! What the doors promise.

mod audit;
mod authorisation;
mod compact_traces;
mod grpc_authorisation;
mod grpc_door;
mod inputs;
mod links;
mod noise;
mod openapi;
mod operation;
mod pages;
mod quotas;
mod slow_clients;
mod studies;
mod telemetry;
mod uploads;
mod webhooks;
