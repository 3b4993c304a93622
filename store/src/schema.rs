//! The tables, as the migrations leave them. Both databases share them.

use diesel::{allow_tables_to_appear_in_same_query, joinable, table};

table! { tenants (id) { id -> Text, created_at -> BigInt, } }

table! {
    api_tokens (id) {
        id -> Text, tenant -> Text, name -> Text, hash -> Text, role -> Text, scopes -> Text, created_at -> BigInt,
        expires_at -> Nullable<BigInt>, last_used_at -> Nullable<BigInt>, revoked_at -> Nullable<BigInt>,
    }
}

table! { sites (id) { id -> Text, tenant -> Text, name -> Text, created_by -> Text, created_at -> BigInt, } }

table! {
    configs (id) {
        id -> Text, tenant -> Text, site -> Text, object -> Text, files -> Text, diagnostics -> Text, created_by -> Text,
        created_at -> BigInt, bytes -> BigInt,
    }
}

table! {
    traces (id) {
        id -> Text, tenant -> Text, site -> Text, name -> Text, object -> Text, bytes -> BigInt, summary -> Text,
        diagnostics -> Text, created_by -> Text, created_at -> BigInt, timezone -> Nullable<Text>,
        compact_trace -> Nullable<Text>,
    }
}

table! {
    studies (id) {
        id -> Text, tenant -> Text, name -> Text, document -> Text, inputs -> Text, input_hash -> Text,
        engine_version -> Text, state -> Text, replications_done -> BigInt, replications_total -> BigInt,
        last_event -> BigInt, error -> Nullable<Text>, comparison_object -> Nullable<Text>, created_by -> Text,
        created_at -> BigInt, started_at -> Nullable<BigInt>, finished_at -> Nullable<BigInt>,
        compact_trace -> Nullable<Text>,
    }
}

table! {
    tasks (id) {
        id -> Text, tenant -> Text, study -> Text, kind -> Text, scenario -> BigInt, replication_from -> BigInt,
        replication_to -> BigInt, state -> Text, attempt -> BigInt, failures -> BigInt, max_failures -> BigInt,
        worker -> Nullable<Text>, lease_until -> Nullable<BigInt>, error -> Nullable<Text>, queued_at -> BigInt,
        started_at -> Nullable<BigInt>, finished_at -> Nullable<BigInt>, losses -> BigInt,
    }
}

table! {
    replications (study, scenario, replication) {
        tenant -> Text, study -> Text, scenario -> BigInt, replication -> BigInt, schedule_object -> Text, summary -> Text,
        created_at -> BigInt,
    }
}

table! {
    idempotency_keys (tenant, key) {
        tenant -> Text, key -> Text, request_hash -> Text, study -> Text, created_at -> BigInt,
    }
}

table! {
    study_events (study, seq) {
        tenant -> Text, study -> Text, seq -> BigInt, kind -> Text, data -> Text, at -> BigInt,
    }
}

table! {
    audit (id) {
        id -> Text, tenant -> Text, actor -> Text, action -> Text, resource -> Text, detail -> Text, at -> BigInt,
        trace_id -> Nullable<Text>,
    }
}

table! { audit_horizon (id) { id -> BigInt, at -> BigInt, } }

table! {
    quotas (tenant, source) {
        tenant -> Text, source -> Text, requests_per_minute -> Nullable<BigInt>, uploads_per_hour -> Nullable<BigInt>,
        stored_bytes -> Nullable<BigInt>, studies_active -> Nullable<BigInt>, jobs_per_study -> Nullable<BigInt>,
        updated_at -> BigInt,
    }
}

table! {
    webhooks (id) {
        id -> Text, tenant -> Text, url -> Text, secret -> Text, events -> Text, created_by -> Text, created_at -> BigInt,
        disabled_at -> Nullable<BigInt>, disabled_reason -> Nullable<Text>,
    }
}

table! {
    webhook_deliveries (id) {
        id -> Text, tenant -> Text, webhook -> Text, event -> Text, data -> Text, state -> Text, attempts -> BigInt,
        next_at -> BigInt, last_status -> Nullable<BigInt>, last_error -> Nullable<Text>, created_at -> BigInt,
        finished_at -> Nullable<BigInt>,
    }
}

table! { secrets (name) { name -> Text, value -> Text, created_at -> BigInt, } }

table! {
    uploads (id) {
        id -> Text, tenant -> Text, site -> Text, name -> Text, timezone -> Nullable<Text>, length -> BigInt,
        received -> BigInt, trace -> Nullable<Text>, created_by -> Text, created_at -> BigInt, updated_at -> BigInt,
    }
}

table! {
    upload_parts (upload, start) { upload -> Text, start -> BigInt, bytes -> BigInt, object -> Text, }
}

joinable!(upload_parts -> uploads (upload));
allow_tables_to_appear_in_same_query!(studies, tasks);
allow_tables_to_appear_in_same_query!(upload_parts, uploads);
