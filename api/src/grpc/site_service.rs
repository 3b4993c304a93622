//! `foresite.v1.SiteService`.

use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use super::status::{authorised, status};
use super::v1::upload_trace_request::Part;
use super::{messages, v1};
use crate::app;
use crate::app::traces::TraceHeader;
use crate::auth::permission::WriteSites;
use crate::context::Context;
use crate::error::{ApiError, ApiResult, Code};
use crate::pace::TOO_SLOW;

pub(super) struct Sites {
    pub(super) context: Arc<Context>,
}

#[tonic::async_trait]
impl v1::site_service_server::SiteService for Sites {
    async fn create_site(&self, request: Request<v1::CreateSiteRequest>) -> Result<Response<v1::Site>, Status> {
        let caller = authorised::<WriteSites, _>(&request)?;
        let site = app::sites::create(&self.context, &caller, &request.get_ref().name).await.map_err(status)?;
        Ok(Response::new(messages::site(site)))
    }

    async fn upload_config(&self, request: Request<v1::UploadConfigRequest>) -> Result<Response<v1::Config>, Status> {
        let caller = authorised::<WriteSites, _>(&request)?;
        let v1::UploadConfigRequest { site_id, archive } = request.into_inner();
        let stored = app::configs::create_from_archive(&self.context, &caller, &site_id, archive).await;
        stored.and_then(|stored| messages::config(stored.config)).map(Response::new).map_err(status)
    }

    async fn upload_trace(
        &self,
        request: Request<Streaming<v1::UploadTraceRequest>>,
    ) -> Result<Response<v1::Trace>, Status> {
        let caller = authorised::<WriteSites, _>(&request)?;
        let mut parts = request.into_inner();
        let Some(Part::Header(header)) = parts.message().await?.and_then(|message| message.part) else {
            return Err(status(ApiError::new(Code::InvalidRequest, "the first message must be the header")));
        };
        let timezone = Some(header.timezone).filter(|zone| !zone.is_empty());
        let about = TraceHeader { name: header.name, timezone };
        let trace = app::traces::create(&self.context, &caller, &header.site_id, about, chunks(parts)).await;
        trace.and_then(|stored| messages::trace(stored.trace)).map(Response::new).map_err(status)
    }
}

fn chunks(parts: Streaming<v1::UploadTraceRequest>) -> impl Stream<Item = ApiResult<Bytes>> + Unpin {
    parts.map(|message| match message {
        Ok(v1::UploadTraceRequest { part: Some(Part::Chunk(bytes)) }) => Ok(Bytes::from(bytes)),
        Ok(_) => Err(ApiError::new(Code::InvalidRequest, "after the header only chunks may come")),
        Err(error) if error.code() == Code::RequestTimeout.grpc_code() => {
            Err(ApiError::new(Code::RequestTimeout, TOO_SLOW))
        }
        Err(error) => Err(ApiError::new(Code::InvalidRequest, format!("the stream broke off: {}", error.message()))),
    })
}
