//! The calls that exist. Names of others come from outside and must not become labels of metrics: each would stay in memory.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use prost::Message;
use prost_types::FileDescriptorSet;

static RPCS: LazyLock<BTreeSet<(String, String)>> = LazyLock::new(|| {
    let sets =
        [super::DESCRIPTORS, tonic_health::pb::FILE_DESCRIPTOR_SET, tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET];
    // What was compiled in can be read.
    let files = sets.into_iter().filter_map(|set| FileDescriptorSet::decode(set).ok()).flat_map(|set| set.file);
    let mut found = BTreeSet::new();
    for file in files {
        for service in &file.service {
            for method in &service.method {
                found.insert((format!("{}.{}", file.package(), service.name()), method.name().to_owned()));
            }
        }
    }
    found
});

/// Service and method of a path as labels: `unmatched` for both unless there is such a call.
pub(super) fn labels(path: &str) -> (&str, &str) {
    let (service, method) = path.trim_start_matches('/').split_once('/').unwrap_or_default();
    match RPCS.contains(&(service.to_owned(), method.to_owned())) {
        true => (service, method),
        false => ("unmatched", "unmatched"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_exist_are_named() {
        for (path, service, method) in [
            ("/foresite.v1.StudyService/Watch", "foresite.v1.StudyService", "Watch"),
            ("/grpc.health.v1.Health/Check", "grpc.health.v1.Health", "Check"),
        ] {
            assert_eq!(labels(path), (service, method));
        }
        let reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        assert_eq!(labels(reflection).1, "ServerReflectionInfo");
        for path in ["/foresite.v1.StudyService/Invented", "/foresite.v1.Invented/Watch", "/a/b", "/", ""] {
            assert_eq!(labels(path), ("unmatched", "unmatched"), "{path}");
        }
    }
}
