-- Secrets of teams. A value is sealed with a key that is not in the database.
CREATE TABLE secret (
    id TEXT PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    sealed TEXT NOT NULL,
    -- The sealing key; it changes when the value is sealed anew.
    sealed_with TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (team_id, name)
);
CREATE INDEX secret_sealed_with ON secret (sealed_with);
