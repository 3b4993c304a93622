DROP TRIGGER audit_no_truncate ON audit;
DROP TRIGGER audit_append_only ON audit;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
DROP FUNCTION audit_is_append_only_above_the_horizon();
DROP TABLE audit_horizon;
DROP FUNCTION audit_horizon_rises();
ALTER TABLE audit DROP COLUMN trace_id;
