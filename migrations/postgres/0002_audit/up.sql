-- Lines name their request, and old ones may be removed by retention alone: below the horizon, which only ever rises.
ALTER TABLE audit ADD COLUMN trace_id TEXT;
CREATE TABLE audit_horizon (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    at BIGINT NOT NULL
);
INSERT INTO audit_horizon (id, at) VALUES (1, 0);

CREATE FUNCTION audit_horizon_rises() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.at < OLD.at THEN
        RAISE EXCEPTION 'the audit horizon only rises';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER audit_horizon_rises BEFORE UPDATE OR DELETE ON audit_horizon
    FOR EACH ROW EXECUTE FUNCTION audit_horizon_rises();

CREATE FUNCTION audit_is_append_only_above_the_horizon() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < (SELECT at FROM audit_horizon WHERE id = 1) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit is append-only';
END
$$;
DROP TRIGGER audit_append_only ON audit;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only_above_the_horizon();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
