//! How the engine's types stand in the compact form: the engine itself knows nothing of files.

use foresite_engine::job::{
    Dependencies, Dependency, DependencyKind, GresScope, JobName, JobPart, Memory, Sharing, TimeLimit,
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(remote = "JobName")]
pub(crate) struct JobNameForm {
    id: u64,
    #[serde(with = "JobPartForm")]
    part: JobPart,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "JobPart")]
enum JobPartForm {
    Whole,
    Task(u32),
    Component(u32),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Memory")]
pub(crate) enum MemoryForm {
    Default,
    PerNode(u64),
    PerCpu(u64),
    PerGpu(u64),
    WholeNode,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Sharing")]
pub(crate) enum SharingForm {
    Default,
    Exclusive,
    ExclusiveUser,
    OverSubscribe,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "GresScope")]
#[expect(clippy::enum_variant_names, reason = "they are the engine's")]
pub(crate) enum GresScopeForm {
    PerNode,
    PerJob,
    PerTask,
    PerSocket,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "TimeLimit")]
enum TimeLimitForm {
    Minutes(u32),
    Unlimited,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "DependencyKind")]
enum DependencyKindForm {
    After(u32),
    AfterAny,
    AfterOk,
    AfterNotOk,
    AfterCorr,
    Singleton,
}

/// `Option<TimeLimit>`.
pub(crate) mod time_limit {
    use serde::{Deserializer, Serializer};

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Form(#[serde(with = "TimeLimitForm")] TimeLimit);

    pub(crate) fn serialize<S: Serializer>(limit: &Option<TimeLimit>, serializer: S) -> Result<S::Ok, S::Error> {
        limit.map(Form).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TimeLimit>, D::Error> {
        Ok(Option::<Form>::deserialize(deserializer)?.map(|Form(limit)| limit))
    }
}

/// `Option<Dependencies>`.
pub(crate) mod dependencies {
    use serde::{Deserializer, Serializer};

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Kind(#[serde(with = "DependencyKindForm")] DependencyKind);

    type Form = (bool, Vec<(Kind, u64, Option<u32>)>);

    pub(crate) fn serialize<S: Serializer>(found: &Option<Dependencies>, serializer: S) -> Result<S::Ok, S::Error> {
        let form = |found: &Dependencies| -> Form {
            (found.any, found.on.iter().map(|on| (Kind(on.kind), on.id, on.task)).collect())
        };
        found.as_ref().map(form).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dependencies>, D::Error> {
        let found = Option::<Form>::deserialize(deserializer)?;
        let plain = |(Kind(kind), id, task)| Dependency { kind, id, task };
        Ok(found.map(|(any, on)| Dependencies { any, on: on.into_iter().map(plain).collect() }))
    }
}
