ALTER TABLE studies DROP COLUMN compact_trace;
ALTER TABLE traces DROP COLUMN compact_trace;
