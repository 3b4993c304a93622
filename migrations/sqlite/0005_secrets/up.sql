-- Keys that all replicas must share and that no setting gives, such as the one that signs links to figures.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
