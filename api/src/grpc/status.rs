//! Errors as gRPC statuses: the same code table as REST; every fault of refused input in the details.

use bytes::Bytes;
use prost::Message;
use tonic::metadata::MetadataValue;
use tonic::{Request, Status};

use super::messages;
use super::v1;
use crate::auth::Principal;
use crate::auth::permission::{Authorised, Permission, authorise};
use crate::error::ApiError;
use crate::trace_id;

/// Faults told in the details [bytes]: they travel in a header, and many clients take 8 KiB of headers at most.
const DETAILS_MAX: usize = 4096;

/// The status of an error. Its stable code also stands in the metadata `foresite-code`; a fault of ours is logged here.
pub(super) fn status(error: ApiError) -> Status {
    let trace_id = trace_id::current().unwrap_or_else(|| trace_id::of(None));
    error.log(&trace_id);
    let details = if error.diagnostics().is_empty() {
        Bytes::new()
    } else {
        let mut room = DETAILS_MAX;
        let mut fits = |fault: &v1::Diagnostic| {
            let is_first = room == DETAILS_MAX;
            let left = room.checked_sub(fault.encoded_len());
            room = left.unwrap_or_default();
            left.is_some() || is_first
        };
        let errors =
            error.diagnostics().iter().cloned().map(messages::diagnostic).take_while(|fault| fits(fault)).collect();
        Bytes::from(v1::Faults { code: error.code().as_str().to_owned(), errors }.encode_to_vec())
    };
    let mut status = Status::with_details(error.code().grpc_code(), error.to_string(), details);
    let metadata = status.metadata_mut();
    metadata.insert("foresite-code", MetadataValue::from_static(error.code().as_str()));
    if let Some(seconds) = error.retry_after_seconds() {
        metadata.insert("retry-after", MetadataValue::from(seconds));
    }
    if let Ok(value) = MetadataValue::try_from(trace_id) {
        metadata.insert("foresite-trace-id", value);
    }
    status
}

/// The caller, if it has the permission. The layer has authenticated it.
pub(super) fn authorised<P: Permission, T>(request: &Request<T>) -> Result<Authorised<P>, Status> {
    let principal = request.extensions().get::<Principal>().cloned();
    let principal = principal.ok_or_else(|| status(ApiError::internal("a call passed the guard without a caller")))?;
    authorise(principal).map_err(status)
}
