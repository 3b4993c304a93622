//! `/v1/tokens`.

use actix_web::{HttpResponse, delete, get, post, web};
use utoipa_actix_web::service_config::ServiceConfig;

use super::extract::Object;
use super::views::List;
use super::views::token::{IssuedToken, NewTokenView, TokenView};
use crate::app;
use crate::auth::permission::{Authorised, ManageTokens};
use crate::context::Context;
use crate::error::ApiResult;
use crate::rest::problem::Problem;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(create_token).service(list_tokens).service(get_token).service(revoke_token);
}

/// Makes an API token; its secret is in this answer and nowhere else.
#[utoipa::path(
    tag = "tokens",
    request_body = NewTokenView,
    responses(
        (status = 201, description = "Made.", body = IssuedToken),
        (status = 413, description = "Too large.", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "No JSON.", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A field is wrong.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[post("/v1/tokens")]
async fn create_token(
    caller: Authorised<ManageTokens>,
    context: web::Data<Context>,
    web::Json(Object(body)): web::Json<Object<NewTokenView>>,
) -> ApiResult<HttpResponse> {
    let (token, secret) = app::tokens::create(&context, &caller, body.checked()?).await?;
    Ok(HttpResponse::Created().insert_header(("cache-control", "no-store")).json(IssuedToken::new(token, &secret)))
}

/// The tenant's tokens, oldest first.
#[utoipa::path(
    tag = "tokens",
    responses((status = 200, description = "All of them.", body = List<TokenView>)),
    security(("bearer" = []))
)]
#[get("/v1/tokens")]
async fn list_tokens(
    caller: Authorised<ManageTokens>,
    context: web::Data<Context>,
) -> ApiResult<web::Json<List<TokenView>>> {
    let tokens = app::tokens::list(&context, &caller).await?;
    Ok(web::Json(List { items: tokens.into_iter().map(TokenView::from).collect(), next: None }))
}

/// A token, without its secret.
#[utoipa::path(
    tag = "tokens",
    params(("token" = String, Path, description = "Its id.")),
    responses(
        (status = 200, description = "The token.", body = TokenView),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[get("/v1/tokens/{token}")]
async fn get_token(
    caller: Authorised<ManageTokens>,
    context: web::Data<Context>,
    token: web::Path<String>,
) -> ApiResult<web::Json<TokenView>> {
    Ok(web::Json(app::tokens::get(&context, &caller, &token).await?.into()))
}

/// Ends a token at once.
#[utoipa::path(
    tag = "tokens",
    params(("token" = String, Path, description = "Its id.")),
    responses(
        (status = 204, description = "Revoked."),
        (status = 404, description = "There is none.", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []))
)]
#[delete("/v1/tokens/{token}")]
async fn revoke_token(
    caller: Authorised<ManageTokens>,
    context: web::Data<Context>,
    token: web::Path<String>,
) -> ApiResult<HttpResponse> {
    app::tokens::revoke(&context, &caller, &token).await?;
    Ok(HttpResponse::NoContent().finish())
}
