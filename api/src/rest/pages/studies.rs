//! The studies, and one study with its comparison.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use foresite_store::state::StudyState;
use maud::{Markup, html};

use super::layout::page;
use super::sign_in::refused;
use crate::app;
use crate::app::studies::StudyStatus;
use crate::auth::permission::{Authorised, ReadStudies, authorise};
use crate::context::Context;
use crate::error::ApiResult;
use crate::rest::extract::principal;
use crate::rest::views::study::StudyView;

/// Rows of the list.
const ROWS: i64 = 100;
/// A page of a study at work reloads itself [s].
const REFRESH_SECONDS: u32 = 3;

/// `/`: the studies, newest first.
pub(super) async fn list(context: web::Data<Context>, request: HttpRequest) -> HttpResponse {
    match list_body(&context, &request).await {
        Ok(body) => page(StatusCode::OK, "Studies", None, &body),
        Err(error) => refused(error),
    }
}

/// `/studies/{study}`: state and, once there is one, the comparison.
pub(super) async fn one(context: web::Data<Context>, request: HttpRequest, study: web::Path<String>) -> HttpResponse {
    match one_body(&context, &request, &study).await {
        Ok((title, is_final, body)) => page(StatusCode::OK, &title, (!is_final).then_some(REFRESH_SECONDS), &body),
        Err(error) => refused(error),
    }
}

async fn viewer(request: &HttpRequest) -> ApiResult<Authorised<ReadStudies>> {
    authorise(principal(request).await?)
}

async fn list_body(context: &Context, request: &HttpRequest) -> ApiResult<Markup> {
    let found = app::studies::list(context, &viewer(request).await?, None, None, ROWS).await?;
    let studies: Vec<StudyView> = found.items.into_iter().map(StudyView::from).collect();
    Ok(html! {
        h1 { "Studies" }
        @if studies.is_empty() {
            p { "There is none yet. " code { "foresite submit STUDY --server URL" } " sends one." }
        } @else {
            table {
                tr { th { "Study" } th { "State" } th.number { "Replications" } th { "Created" } }
                @for study in &studies {
                    tr {
                        td { a href={ "/studies/" (study.id) } { (title(study)) } }
                        td { (study.state) }
                        td.number { (study.progress.replications_done) " of " (study.progress.replications_total) }
                        td { (study.created_at) }
                    }
                }
            }
        }
    })
}

async fn one_body(context: &Context, request: &HttpRequest, id: &str) -> ApiResult<(String, bool, Markup)> {
    let status = app::studies::get(context, &viewer(request).await?, id).await?;
    let state = status.study.state;
    let view = StudyView::from(status.clone());
    let address = format!("/v1/studies/{}", view.id);
    let body = html! {
        // The report brings its own title.
        @if state != StudyState::Succeeded { h1 { (title(&view)) } }
        p { "State: " strong { (view.state) } (waiting(&status)) }
        p {
            progress value=(view.progress.replications_done) max=(view.progress.replications_total.max(1)) {}
            " " (view.progress.replications_done) " of " (view.progress.replications_total) " replications"
            @if let Some(end) = &view.expected_end_at { ", expected end " (end) }
        }
        @if let Some(error) = &view.error { p.error { (error) } }
        @if state == StudyState::Succeeded {
            p {
                a href={ (address) "/comparison" } { "JSON" } " · "
                a href={ (address) "/comparison?format=csv" } { "CSV" } " · "
                a href={ (address) "/report" } { "Report" }
            }
            iframe src={ (address) "/report" } title="Comparison" {}
        }
    };
    Ok((title(&view), state.is_final(), body))
}

fn title(study: &StudyView) -> String {
    if study.name.is_empty() { study.id.clone() } else { study.name.clone() }
}

fn waiting(status: &StudyStatus) -> String {
    match status.queue_position {
        Some(0) => ", next in the queue".to_owned(),
        Some(before) => format!(", {before} tasks before it in the queue"),
        None => String::new(),
    }
}
