//! What the doors promise.

mod authorisation;
mod grpc_authorisation;
mod inputs;
mod openapi;
mod operation;
mod pages;
mod studies;
