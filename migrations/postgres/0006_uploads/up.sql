-- Traces that come in pieces. Each piece is an object; `received` moves from one to the next by compare-and-set.
CREATE TABLE uploads (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL REFERENCES tenants (id),
    site TEXT NOT NULL REFERENCES sites (id),
    name TEXT NOT NULL,
    timezone TEXT,
    length BIGINT NOT NULL,
    received BIGINT NOT NULL,
    trace TEXT,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX uploads_tenant ON uploads (tenant, id);
CREATE TABLE upload_parts (
    upload TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    start BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    object TEXT NOT NULL,
    PRIMARY KEY (upload, start)
);
ALTER TABLE traces ADD COLUMN timezone TEXT;
CREATE INDEX traces_object ON traces (tenant, site, object);
