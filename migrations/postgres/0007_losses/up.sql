-- Workers that a task has lost (killed, cut off) are counted apart from attempts that failed.
ALTER TABLE tasks ADD COLUMN losses BIGINT NOT NULL DEFAULT 0;
