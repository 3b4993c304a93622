DROP TRIGGER audit_no_delete;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'audit is append-only');
END;
DROP TABLE audit_horizon;
ALTER TABLE audit DROP COLUMN trace_id;
