//! `FORESITE_OBJECTS_URL`: where objects are.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;

use crate::database_url::without_password;
use crate::error::StoreError;

const FORMS: &str = "write file:///FOLDER or s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME]";

/// Opens the store a URL names; gives the prefix of all paths with it.
pub(super) fn open(text: &str) -> Result<(Arc<dyn ObjectStore>, String), StoreError> {
    let fault = |reason: String| StoreError::Url { url: without_password(text), reason };
    if let Some(folder) = text.strip_prefix("file://") {
        if folder.is_empty() {
            return Err(fault(FORMS.to_owned()));
        }
        std::fs::create_dir_all(folder)?;
        let store = LocalFileSystem::new_with_prefix(folder)?.with_automatic_cleanup(false);
        return Ok((Arc::new(store), String::new()));
    }
    let url = ::url::Url::parse(text).map_err(|error| fault(format!("{error}; {FORMS}")))?;
    if url.scheme() != "s3" {
        return Err(fault(format!("unknown scheme {:?}; {FORMS}", url.scheme())));
    }
    let bucket = url.host_str().ok_or_else(|| fault(format!("no bucket; {FORMS}")))?;
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    for (key, value) in url.query_pairs() {
        builder = match &*key {
            // Only an endpoint that says http:// is spoken to without TLS.
            "endpoint" => builder.with_allow_http(value.starts_with("http://")).with_endpoint(value),
            "region" => builder.with_region(value),
            other => return Err(fault(format!("unknown setting {other:?}; {FORMS}"))),
        };
    }
    if let Some(secret) = url.password() {
        builder = builder.with_access_key_id(url.username()).with_secret_access_key(secret);
    }
    Ok((Arc::new(builder.build()?), url.path().trim_matches('/').to_owned()))
}
