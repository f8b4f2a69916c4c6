-- Files that outlive sandboxes. Names are of one team; a volume that is being deleted may have the name of a new one.
CREATE TABLE volume (
    id         TEXT   NOT NULL PRIMARY KEY,
    team_id    TEXT   NOT NULL REFERENCES team (id),
    name       TEXT   NOT NULL,
    size_mb    BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

-- What a sandbox has mounted, and what a snapshot was taken with: JSON; absent for none.
ALTER TABLE sandbox ADD COLUMN volumes TEXT;
ALTER TABLE build ADD COLUMN volumes TEXT;
