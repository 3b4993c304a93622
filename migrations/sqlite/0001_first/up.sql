-- The first tables. Both databases have the same columns: text ids (UUIDv7), times in Unix milliseconds, JSON as text.
CREATE TABLE tenants (
    id TEXT NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL
);

CREATE TABLE api_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX api_tokens_tenant ON api_tokens (tenant, id);

CREATE TABLE sites (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX sites_tenant ON sites (tenant, id);

CREATE TABLE configs (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    site TEXT NOT NULL REFERENCES sites (id),
    object TEXT NOT NULL,
    files TEXT NOT NULL,
    diagnostics TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX configs_site ON configs (tenant, site, id);

CREATE TABLE traces (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    site TEXT NOT NULL REFERENCES sites (id),
    name TEXT NOT NULL,
    object TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    summary TEXT NOT NULL,
    diagnostics TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX traces_site ON traces (tenant, site, id);

CREATE TABLE studies (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    inputs TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    engine_version TEXT NOT NULL,
    state TEXT NOT NULL,
    replications_done BIGINT NOT NULL,
    replications_total BIGINT NOT NULL,
    last_event BIGINT NOT NULL,
    error TEXT,
    comparison_object TEXT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT
);
CREATE INDEX studies_tenant ON studies (tenant, id);
CREATE INDEX studies_state ON studies (state, id);
CREATE INDEX studies_input_hash ON studies (tenant, input_hash);

-- One row per unit of work. (study, kind, scenario, replication_from) is unique, so the summary can be asked for only once.
CREATE TABLE tasks (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    study TEXT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    scenario BIGINT NOT NULL,
    replication_from BIGINT NOT NULL,
    replication_to BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    max_failures BIGINT NOT NULL,
    worker TEXT,
    lease_until BIGINT,
    error TEXT,
    queued_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    UNIQUE (study, kind, scenario, replication_from)
);
CREATE INDEX tasks_queued ON tasks (state, queued_at);
CREATE INDEX tasks_lease ON tasks (state, lease_until);

-- The primary key is what makes each result exist once.
CREATE TABLE replications (
    tenant TEXT NOT NULL REFERENCES tenants (id),
    study TEXT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    scenario BIGINT NOT NULL,
    replication BIGINT NOT NULL,
    schedule_object TEXT NOT NULL,
    summary TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (study, scenario, replication)
);

-- The key is written before its study, hence the deferred reference.
CREATE TABLE idempotency_keys (
    tenant TEXT NOT NULL REFERENCES tenants (id),
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    study TEXT NOT NULL REFERENCES studies (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX idempotency_keys_study ON idempotency_keys (study);

CREATE TABLE study_events (
    tenant TEXT NOT NULL REFERENCES tenants (id),
    study TEXT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (study, seq)
);

-- Append-only: the triggers below refuse changes.
CREATE TABLE audit (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    resource TEXT NOT NULL,
    detail TEXT NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX audit_tenant ON audit (tenant, id);

CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'audit is append-only');
END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'audit is append-only');
END;
