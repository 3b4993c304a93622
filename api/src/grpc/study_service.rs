//! `foresite.v1.StudyService`.

use std::sync::Arc;

use foresite_store::state::StudyState;
use futures::StreamExt;
use futures::stream::BoxStream;
use tonic::{Request, Response, Status};

use super::status::{authorised, status};
use super::{messages, v1};
use crate::app;
use crate::auth::permission::{ReadStudies, WriteStudies};
use crate::context::Context;
use crate::error::ApiError;

/// Studies on a page where the caller does not say.
const PAGE_DEFAULT: u32 = 50;

pub(super) struct Studies {
    pub(super) context: Arc<Context>,
}

#[tonic::async_trait]
impl v1::study_service_server::StudyService for Studies {
    type WatchStream = BoxStream<'static, Result<v1::StudyEvent, Status>>;
    type StreamScheduleStream = BoxStream<'static, Result<v1::ScheduleChunk, Status>>;

    async fn create(&self, request: Request<v1::CreateStudyRequest>) -> Result<Response<v1::Study>, Status> {
        let caller = authorised::<WriteStudies, _>(&request)?;
        let v1::CreateStudyRequest { document, idempotency_key } = request.into_inner();
        let key = Some(idempotency_key.as_str());
        let study = app::studies::create(&self.context, &caller, document.as_bytes(), key).await;
        study.map(messages::study).map(Response::new).map_err(status)
    }

    async fn get(&self, request: Request<v1::GetStudyRequest>) -> Result<Response<v1::Study>, Status> {
        let caller = authorised::<ReadStudies, _>(&request)?;
        let study = app::studies::get(&self.context, &caller, &request.get_ref().id).await;
        study.map(messages::study).map(Response::new).map_err(status)
    }

    async fn list(
        &self,
        request: Request<v1::ListStudiesRequest>,
    ) -> Result<Response<v1::ListStudiesResponse>, Status> {
        let caller = authorised::<ReadStudies, _>(&request)?;
        let v1::ListStudiesRequest { page_size, page_token, state } = request.into_inner();
        let state = messages::state(state).map_err(status)?.map(StudyState::as_str);
        let limit = if page_size == 0 { PAGE_DEFAULT } else { page_size };
        let page = app::studies::list(&self.context, &caller, state, Some(&page_token), limit.into()).await;
        let page = page.map_err(status)?;
        Ok(Response::new(v1::ListStudiesResponse {
            studies: page.items.into_iter().map(messages::study).collect(),
            next_page_token: page.next.map(String::from).unwrap_or_default(),
        }))
    }

    async fn watch(&self, request: Request<v1::WatchStudyRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let caller = authorised::<ReadStudies, _>(&request)?;
        let v1::WatchStudyRequest { id, after_event } = request.into_inner();
        let events = app::watch::watch(Arc::clone(&self.context), caller, &id, after_event).await.map_err(status)?;
        Ok(Response::new(events.map(|event| event.map(messages::event).map_err(status)).boxed()))
    }

    async fn cancel(&self, request: Request<v1::CancelStudyRequest>) -> Result<Response<v1::Study>, Status> {
        let caller = authorised::<WriteStudies, _>(&request)?;
        let study = app::studies::cancel(&self.context, &caller, &request.get_ref().id).await;
        study.map(messages::study).map(Response::new).map_err(status)
    }

    async fn get_comparison(
        &self,
        request: Request<v1::GetComparisonRequest>,
    ) -> Result<Response<v1::Comparison>, Status> {
        let caller = authorised::<ReadStudies, _>(&request)?;
        let comparison = app::results::comparison(&self.context, &caller, &request.get_ref().id).await;
        comparison.map(|found| Response::new(v1::Comparison { json: found.json.to_vec() })).map_err(status)
    }

    async fn stream_schedule(
        &self,
        request: Request<v1::StreamScheduleRequest>,
    ) -> Result<Response<Self::StreamScheduleStream>, Status> {
        let caller = authorised::<ReadStudies, _>(&request)?;
        let v1::StreamScheduleRequest { study_id, scenario, replication } = request.into_inner();
        let bytes = app::results::schedule(&self.context, &caller, &study_id, &scenario, replication).await;
        let chunks = bytes.map_err(status)?.1.map(|chunk| match chunk {
            Ok(data) => Ok(v1::ScheduleChunk { data: data.to_vec() }),
            Err(error) => Err(status(ApiError::internal(error))),
        });
        Ok(Response::new(chunks.boxed()))
    }
}
