-- What a template has at one time. Origin, start, tags and failure are JSON.
CREATE TABLE build (
    id           TEXT PRIMARY KEY,
    template_id  TEXT NOT NULL REFERENCES template (id),
    status       TEXT NOT NULL,
    cpu_count    INTEGER NOT NULL,
    memory_mb    INTEGER NOT NULL,
    disk_size_mb INTEGER NOT NULL,
    origin       TEXT NOT NULL,
    snapshot     TEXT,
    sandbox_id   TEXT,
    start        TEXT,
    wanted_tags  TEXT NOT NULL,
    failure      TEXT,
    plan         TEXT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    finished_at  BIGINT
);

CREATE INDEX build_template ON build (template_id);

CREATE TABLE build_tag (
    template_id TEXT NOT NULL REFERENCES template (id),
    tag         TEXT NOT NULL,
    build_id    TEXT NOT NULL,
    assigned_at BIGINT NOT NULL,
    PRIMARY KEY (template_id, tag)
);

-- A template had one build, in its own row.
INSERT INTO build (id, template_id, status, cpu_count, memory_mb, disk_size_mb, origin, wanted_tags, created_at,
    updated_at, finished_at)
SELECT build_id, id, CASE layers WHEN '[]' THEN 'WAITING' ELSE 'READY' END, cpu_count, memory_mb, disk_size_mb,
    '{"layers":' || layers || ',"defaultUser":"' || default_user || '"'
        || COALESCE(',"defaultWorkdir":"' || default_workdir || '"', '') || '}',
    '[]', updated_at, updated_at, updated_at
FROM template WHERE NOT EXISTS (SELECT 1 FROM snapshot WHERE snapshot.template_id = template.id);

INSERT INTO build_tag (template_id, tag, build_id, assigned_at)
SELECT id, 'default', build_id, updated_at
FROM template WHERE NOT EXISTS (SELECT 1 FROM snapshot WHERE snapshot.template_id = template.id);

-- What was saved from sandboxes had a table of its own.
INSERT INTO build (id, template_id, status, cpu_count, memory_mb, disk_size_mb, origin, snapshot, sandbox_id,
    wanted_tags, created_at, updated_at, finished_at)
SELECT build_id, template_id, 'READY', cpu_count, memory_mb, disk_size_mb, origin, name, sandbox_id, '[]', created_at,
    created_at, created_at
FROM snapshot;

INSERT INTO build_tag (template_id, tag, build_id, assigned_at)
SELECT template_id, tag, build_id, created_at FROM snapshot;

DROP TABLE snapshot;
ALTER TABLE template DROP COLUMN cpu_count;
ALTER TABLE template DROP COLUMN memory_mb;
ALTER TABLE template DROP COLUMN disk_size_mb;
ALTER TABLE template DROP COLUMN layers;
ALTER TABLE template DROP COLUMN default_user;
ALTER TABLE template DROP COLUMN default_workdir;
ALTER TABLE template DROP COLUMN build_id;
