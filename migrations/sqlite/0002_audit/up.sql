-- Lines name their request, and old ones may be removed by retention alone: below the horizon, which only ever rises.
ALTER TABLE audit ADD COLUMN trace_id TEXT;
CREATE TABLE audit_horizon (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    at BIGINT NOT NULL
);
INSERT INTO audit_horizon (id, at) VALUES (1, 0);

CREATE TRIGGER audit_horizon_rises BEFORE UPDATE ON audit_horizon WHEN NEW.at < OLD.at
BEGIN
    SELECT RAISE(ABORT, 'the audit horizon only rises');
END;
CREATE TRIGGER audit_horizon_stays BEFORE DELETE ON audit_horizon
BEGIN
    SELECT RAISE(ABORT, 'the audit horizon only rises');
END;
DROP TRIGGER audit_no_delete;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit WHEN OLD.at >= (SELECT at FROM audit_horizon WHERE id = 1)
BEGIN
    SELECT RAISE(ABORT, 'audit is append-only');
END;
