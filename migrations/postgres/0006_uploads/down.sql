DROP INDEX traces_object;
ALTER TABLE traces DROP COLUMN timezone;
DROP TABLE upload_parts;
DROP TABLE uploads;
