-- Who did what. Rows are only added, and removed from the old end. Columns repeat what the body says, to search by;
-- the hash is over the hash of the row before and the body.
CREATE TABLE audit (
    sequence   BIGINT PRIMARY KEY,
    id         TEXT NOT NULL,
    at         BIGINT NOT NULL,
    action     TEXT NOT NULL,
    actor      TEXT NOT NULL,
    team_id    TEXT,
    sandbox_id TEXT,
    body       TEXT NOT NULL,
    hash       TEXT NOT NULL
);

CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_team ON audit (team_id, sequence);
CREATE INDEX audit_sandbox ON audit (sandbox_id, sequence);
CREATE INDEX audit_action ON audit (action, sequence);

-- The end of the chain: one row, which a transaction that adds to the chain locks.
CREATE TABLE audit_head (
    id       BIGINT PRIMARY KEY,
    sequence BIGINT NOT NULL,
    hash     TEXT NOT NULL
);

-- What was removed because it was old: up to which row, how many, and the hash of the last of them.
CREATE TABLE audit_removed (
    last_sequence BIGINT PRIMARY KEY,
    entries       BIGINT NOT NULL,
    last_hash     TEXT NOT NULL,
    removed_at    BIGINT NOT NULL
);

-- How far entries were copied to a file or to syslog.
CREATE TABLE audit_export (
    target   TEXT PRIMARY KEY,
    sequence BIGINT NOT NULL
);
