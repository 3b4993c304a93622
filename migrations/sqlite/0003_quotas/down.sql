DROP INDEX studies_tenant_state;
ALTER TABLE configs DROP COLUMN bytes;
DROP TABLE quotas;
