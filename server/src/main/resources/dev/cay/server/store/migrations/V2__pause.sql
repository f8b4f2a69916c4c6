-- Null for sandboxes of before: they are killed when their time is over, and what they were made from is not known.
ALTER TABLE sandbox ADD COLUMN lifecycle TEXT;
ALTER TABLE sandbox ADD COLUMN origin TEXT;
-- What there is of a paused one; null while it runs.
ALTER TABLE sandbox ADD COLUMN saved TEXT;

-- A saved sandbox under a name of a template: one for each tag, the newest.
CREATE TABLE snapshot (
    name         TEXT PRIMARY KEY,
    template_id  TEXT NOT NULL REFERENCES template (id),
    tag          TEXT NOT NULL,
    build_id     TEXT NOT NULL,
    sandbox_id   TEXT NOT NULL,
    cpu_count    INTEGER NOT NULL,
    memory_mb    INTEGER NOT NULL,
    disk_size_mb INTEGER NOT NULL,
    origin       TEXT NOT NULL,
    created_at   BIGINT NOT NULL
);

CREATE UNIQUE INDEX snapshot_tag ON snapshot (template_id, tag);
