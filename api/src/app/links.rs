//! Links to figures, for pages that cannot send a token.

use foresite_formats::comparison::figure;
use serde_json::json;

use super::{audit, results, studies};
use crate::auth::permission::{Authorised, WriteStudies, authorise};
use crate::context::Context;
use crate::error::{ApiError, ApiResult};

/// The longest life of a link [s]: a year and a day.
const LIFE_MAX_SECONDS: i64 = 366 * 86_400;

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureLink {
    /// The whole address.
    pub url: String,
    /// When it ends [Unix milliseconds].
    pub expires_at: i64,
}

/// Makes a link that opens one figure, without a token, to whoever has it.
///
/// # Errors
/// 404 without such a study or figure; 409 until it has succeeded; 422 for a life that is too short or too long.
pub async fn figure(
    context: &Context,
    caller: &Authorised<WriteStudies>,
    study: &str,
    name: &str,
    life_seconds: i64,
) -> ApiResult<FigureLink> {
    if !(1..=LIFE_MAX_SECONDS).contains(&life_seconds) {
        let cure = format!("give 1 to {LIFE_MAX_SECONDS} seconds");
        return Err(ApiError::field("/expires_in_seconds", "no link lives so long", cure));
    }
    let reader = authorise(caller.principal().clone())?;
    let caller = caller.principal();
    let found = studies::find(context, &caller.tenant, study).await?;
    let wanted = name.to_owned();
    let (_, svg) = results::rendered(context, &reader, study, move |found| figure::svg(found, &wanted)).await?;
    svg.ok_or_else(|| ApiError::not_found("figure", name))?;
    let expires = context.store.now().await? / 1000 + life_seconds;
    let path = format!("/v1/studies/{}/figures/{name}.svg", found.id);
    let detail = json!({ "figure": name, "expires": expires });
    let line =
        audit::entry(&context.store, &caller.tenant, &caller.actor, "figure.link", found.id.as_str(), &detail).await?;
    context.store.append_audit(&line).await?;
    let url = format!("{}{}", context.public_url, context.links.sign(&path, &caller.tenant, expires));
    Ok(FigureLink { url, expires_at: expires * 1000 })
}
