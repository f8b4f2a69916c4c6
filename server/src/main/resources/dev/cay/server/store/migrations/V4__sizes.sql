-- Records of killed sandboxes are deleted by their age.
CREATE INDEX sandbox_killed ON sandbox (killed_at);

-- Which Cay the records belong to: one row.
CREATE TABLE store_owner (
    id          INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    claimed_at  BIGINT NOT NULL
);
