//! Typed ids: a site's id cannot be passed for a trace's.

/// Declares an id type stored as text.
macro_rules! id_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, diesel::expression::AsExpression, diesel::deserialize::FromSqlRow)]
        #[diesel(sql_type = diesel::sql_types::Text)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                Self::parse(&text).ok_or_else(|| format!("{text:?} is no {}", stringify!($name)))
            }
        }

        impl<DB> diesel::serialize::ToSql<diesel::sql_types::Text, DB> for $name
        where
            DB: diesel::backend::Backend,
            str: diesel::serialize::ToSql<diesel::sql_types::Text, DB>,
        {
            fn to_sql<'b>(&'b self, out: &mut diesel::serialize::Output<'b, '_, DB>) -> diesel::serialize::Result {
                <str as diesel::serialize::ToSql<diesel::sql_types::Text, DB>>::to_sql(&self.0, out)
            }
        }

        impl<DB> diesel::deserialize::FromSql<diesel::sql_types::Text, DB> for $name
        where
            DB: diesel::backend::Backend,
            String: diesel::deserialize::FromSql<diesel::sql_types::Text, DB>,
        {
            fn from_sql(bytes: DB::RawValue<'_>) -> diesel::deserialize::Result<Self> {
                <String as diesel::deserialize::FromSql<diesel::sql_types::Text, DB>>::from_sql(bytes).map(Self)
            }
        }
    };
}

pub(crate) use id_type;

/// Declares an id type whose values are UUIDs of version 7 (ordered by time of creation).
macro_rules! uuid_type {
    ($(#[$meta:meta])* $name:ident) => {
        id_type! { $(#[$meta])* $name }

        impl $name {
            /// A new id, later in order than all made before on this machine.
            #[allow(clippy::new_without_default, reason = "a default that differs each time would surprise")]
            pub fn new() -> Self {
                Self(uuid::Uuid::now_v7().to_string())
            }

            /// Reads an id; `None` for anything but a UUID (for the caller that is "not found").
            pub fn parse(text: &str) -> Option<Self> {
                uuid::Uuid::parse_str(text).ok().map(|uuid| Self(uuid.to_string()))
            }
        }
    };
}

id_type! {
    /// A tenant: the word in the token's claim, 1 to 64 letters, digits, `.`, `_`, `-`.
    TenantId
}

impl TenantId {
    /// Reads a tenant's name.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        fits.then(|| Self(text.to_owned()))
    }
}

impl Default for TenantId {
    /// The tenant of an installation that has only one.
    fn default() -> Self {
        Self("default".to_owned())
    }
}

uuid_type! {
    /// An API token (its row, not its secret).
    TokenId
}
uuid_type! {
    /// A site: one cluster.
    SiteId
}
uuid_type! {
    /// One version of a site's configuration files.
    ConfigId
}
uuid_type! {
    /// A recorded trace.
    TraceId
}
uuid_type! {
    /// A study.
    StudyId
}
uuid_type! {
    /// A task: a unit of a study's work.
    TaskId
}
uuid_type! {
    /// A trace that comes in pieces.
    UploadId
}
uuid_type! {
    /// A webhook.
    WebhookId
}
uuid_type! {
    /// A message to a webhook.
    DeliveryId
}
uuid_type! {
    /// A line of the audit log.
    AuditId
}
