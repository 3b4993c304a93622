//! Objects, in a folder and on a real S3 server.

use bytes::Bytes;
use foresite_store::StoreError;
use foresite_store::objects::{ObjectHash, Objects};
use futures::TryStreamExt;

use crate::fixtures::{blocking, local_objects, s3, unique};

async fn s3_objects() -> Objects {
    let url = blocking(|| s3().create_bucket(&unique("bucket"))).await;
    Objects::open(&url).unwrap()
}

fn chunks(parts: &[&'static [u8]]) -> impl futures::Stream<Item = Result<Bytes, std::io::Error>> + Unpin + use<> {
    let parts: Vec<_> = parts.iter().map(|part| Ok(Bytes::from_static(part))).collect();
    futures::stream::iter(parts)
}

async fn objects_round_trip(objects: &Objects) {
    objects.ping().await.unwrap();
    let put = objects.put_stream(chunks(&[b"hello ", b"world"]), 11).await.unwrap();
    assert_eq!(put.hash.as_str(), "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
    assert_eq!((put.bytes, put.is_new), (11, true));
    assert_eq!(objects.get(&put.hash, 11).await.unwrap(), "hello world");

    let again = objects.put("hello world").await.unwrap();
    assert_eq!((&again.hash, again.is_new), (&put.hash, false));

    let (size, stream) = objects.stream(&put.hash).await.unwrap();
    let pieces: Vec<Bytes> = stream.try_collect().await.unwrap();
    assert_eq!((size, pieces.concat()), (11, b"hello world".to_vec()));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy");
    assert_eq!(objects.fetch(&put.hash, &file).await.unwrap(), 11);
    assert_eq!(std::fs::read(&file).unwrap(), b"hello world");
    assert_eq!(objects.put_file(&file).await.unwrap().hash, put.hash);

    objects.delete(&put.hash).await.unwrap();
    objects.delete(&put.hash).await.unwrap();
    assert!(!objects.exists(&put.hash).await.unwrap());
    assert!(matches!(objects.get(&put.hash, 11).await, Err(StoreError::NoSuchObject(hash)) if hash == put.hash));
}

async fn large_objects_are_sent_in_parts(objects: &Objects) {
    static PART: [u8; 1 << 20] = [7; 1 << 20];
    let put = objects.put_stream(chunks(&[PART.as_slice(); 20]), 20 << 20).await.unwrap();
    assert_eq!(put.bytes, 20 << 20);
    let back = objects.get(&put.hash, 20 << 20).await.unwrap();
    assert_eq!(ObjectHash::of(&back), put.hash);
}

async fn objects_belong_to_one_deployment(objects: &Objects) {
    objects.belong_to("ours").await.unwrap();
    objects.belong_to("ours").await.unwrap();
    let refused = objects.belong_to("others").await;
    assert!(matches!(refused, Err(StoreError::ForeignObjects { owner, .. }) if owner == "ours"));
    // The mark is no object.
    let hashes: Vec<_> = objects.list().try_collect().await.unwrap();
    assert!(hashes.is_empty(), "{hashes:?}");
}

async fn limits_hold(objects: &Objects) {
    let too_large = objects.put_stream(chunks(&[b"hello ", b"world"]), 10).await;
    assert!(matches!(too_large, Err(StoreError::TooLarge { limit: 10 })));
    let put = objects.put("hello world!").await.unwrap();
    assert!(matches!(objects.get(&put.hash, 10).await, Err(StoreError::TooLarge { limit: 10 })));
}

mod in_a_folder {
    use super::*;

    #[tokio::test]
    async fn objects_round_trip() {
        super::objects_round_trip(&local_objects().objects).await;
    }

    #[tokio::test]
    async fn large_objects_are_sent_in_parts() {
        super::large_objects_are_sent_in_parts(&local_objects().objects).await;
    }

    #[tokio::test]
    async fn limits_hold() {
        super::limits_hold(&local_objects().objects).await;
    }

    #[tokio::test]
    async fn objects_belong_to_one_deployment() {
        super::objects_belong_to_one_deployment(&local_objects().objects).await;
    }

    #[tokio::test]
    async fn a_damaged_object_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::open(&format!("file://{}", folder.path().display())).unwrap();
        let put = objects.put("hello").await.unwrap();
        let hex = put.hash.as_str();
        std::fs::write(folder.path().join("sha256").join(&hex[..2]).join(hex), "hellO").unwrap();
        let fetched = objects.fetch(&put.hash, &folder.path().join("copy")).await;
        assert!(matches!(fetched, Err(StoreError::Corrupt { .. })), "{fetched:?}");
    }
}

mod on_s3 {
    use super::*;

    #[tokio::test]
    async fn objects_round_trip() {
        super::objects_round_trip(&s3_objects().await).await;
    }

    #[tokio::test]
    async fn large_objects_are_sent_in_parts() {
        super::large_objects_are_sent_in_parts(&s3_objects().await).await;
    }

    #[tokio::test]
    async fn limits_hold() {
        super::limits_hold(&s3_objects().await).await;
    }

    #[tokio::test]
    async fn objects_belong_to_one_deployment() {
        super::objects_belong_to_one_deployment(&s3_objects().await).await;
    }
}

#[test]
fn a_wrong_url_is_explained() {
    for (url, word) in
        [("ftp://x", "unknown scheme"), ("s3://b?regoin=x", "regoin"), ("file://", "file:///FOLDER"), ("x", "file:///")]
    {
        let fault = Objects::open(url).unwrap_err().to_string();
        assert!(fault.contains(word), "{url}: {fault}");
    }
}
