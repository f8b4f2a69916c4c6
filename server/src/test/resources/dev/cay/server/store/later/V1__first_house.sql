CREATE TABLE team (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    slug       TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

CREATE TABLE api_key (
    id          TEXT PRIMARY KEY,
    team_id     TEXT NOT NULL REFERENCES team (id),
    name        TEXT NOT NULL,
    hash        TEXT NOT NULL UNIQUE,
    mask_prefix TEXT NOT NULL,
    mask_suffix TEXT NOT NULL,
    created_at  BIGINT NOT NULL
);

CREATE TABLE template (
    id              TEXT PRIMARY KEY,
    team_id         TEXT NOT NULL REFERENCES team (id),
    public          INTEGER NOT NULL,
    cpu_count       INTEGER NOT NULL,
    memory_mb       INTEGER NOT NULL,
    disk_size_mb    INTEGER NOT NULL,
    layers          TEXT NOT NULL,
    default_user    TEXT NOT NULL,
    default_workdir TEXT,
    build_id        TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    last_spawned_at BIGINT,
    spawn_count     BIGINT NOT NULL,
    build_count     INTEGER NOT NULL
);

-- An empty namespace means: everybody may use the bare name.
CREATE TABLE template_alias (
    namespace   TEXT NOT NULL,
    alias       TEXT NOT NULL,
    template_id TEXT NOT NULL REFERENCES template (id),
    PRIMARY KEY (namespace, alias)
);

CREATE TABLE sandbox (
    id              TEXT PRIMARY KEY,
    team_id         TEXT NOT NULL REFERENCES team (id),
    template_id     TEXT NOT NULL,
    build_id        TEXT NOT NULL,
    alias           TEXT,
    execution_id    TEXT NOT NULL,
    state           TEXT NOT NULL,
    version         BIGINT NOT NULL,
    secure          INTEGER NOT NULL,
    cpu_count       INTEGER NOT NULL,
    memory_mb       INTEGER NOT NULL,
    disk_size_mb    INTEGER NOT NULL,
    metadata        TEXT NOT NULL,
    network         TEXT NOT NULL,
    started_at      BIGINT NOT NULL,
    end_at          BIGINT NOT NULL,
    killed_at       BIGINT,
    idempotency_key TEXT,
    request_hash    TEXT
);

CREATE INDEX sandbox_state ON sandbox (state);
CREATE UNIQUE INDEX sandbox_idempotency ON sandbox (team_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE event (
    sequence     INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    type         TEXT NOT NULL,
    team_id      TEXT NOT NULL,
    sandbox_id   TEXT NOT NULL,
    template_id  TEXT NOT NULL,
    build_id     TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    data         TEXT NOT NULL,
    happened_at  BIGINT NOT NULL
);

CREATE INDEX event_team ON event (team_id, sequence);
CREATE INDEX event_sandbox ON event (sandbox_id, sequence);
CREATE INDEX event_age ON event (happened_at);
