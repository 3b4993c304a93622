-- Traces as their reader left them (StoredCompact as JSON), so that no task reads their text again.
ALTER TABLE traces ADD COLUMN compact_trace TEXT;
ALTER TABLE studies ADD COLUMN compact_trace TEXT;
