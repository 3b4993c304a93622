-- What a tenant may use: `service` rows are granted next to the database, `tenant` rows are an administrator's own, lower limits.
-- NULL is no limit of that source.
CREATE TABLE quotas (
    tenant TEXT NOT NULL REFERENCES tenants (id),
    source TEXT NOT NULL,
    requests_per_minute BIGINT,
    uploads_per_hour BIGINT,
    stored_bytes BIGINT,
    studies_active BIGINT,
    jobs_per_study BIGINT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, source)
);
ALTER TABLE configs ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
CREATE INDEX studies_tenant_state ON studies (tenant, state);
