-- Where a team wants to have its events sent. Types of events are a JSON list, the secret is sealed.
CREATE TABLE webhook (
    id              TEXT PRIMARY KEY,
    team_id         TEXT NOT NULL REFERENCES team (id),
    name            TEXT NOT NULL,
    url             TEXT NOT NULL,
    events          TEXT NOT NULL,
    secret          TEXT NOT NULL,
    enabled         INTEGER NOT NULL,
    created_at      BIGINT NOT NULL,
    failing_since   BIGINT,
    disabled_at     BIGINT,
    disabled_reason TEXT
);

CREATE INDEX webhook_team ON webhook (team_id);

-- An event for a webhook, written with the event. No reference to webhook: rows of a deleted one are removed in portions.
CREATE TABLE webhook_message (
    sequence   INTEGER PRIMARY KEY,
    webhook_id TEXT NOT NULL,
    event_id   TEXT NOT NULL,
    event_type TEXT NOT NULL,
    sandbox_id TEXT NOT NULL,
    body       TEXT NOT NULL,
    state      TEXT NOT NULL,
    attempts   INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    first_at   BIGINT,
    next_at    BIGINT NOT NULL,
    hold_until BIGINT,
    UNIQUE (webhook_id, event_id)
);

CREATE INDEX webhook_message_line ON webhook_message (webhook_id, sandbox_id, state, sequence);
CREATE INDEX webhook_message_due ON webhook_message (webhook_id, state, next_at);
CREATE INDEX webhook_message_age ON webhook_message (created_at);

-- A request to a receiver and what came of it.
CREATE TABLE webhook_attempt (
    id               TEXT PRIMARY KEY,
    webhook_id       TEXT NOT NULL,
    event_id         TEXT NOT NULL,
    started_at       BIGINT NOT NULL,
    duration_ms      BIGINT NOT NULL,
    url              TEXT NOT NULL,
    request_headers  TEXT NOT NULL,
    status           INTEGER,
    response_headers TEXT,
    response_body    TEXT,
    error_class      TEXT,
    error_message    TEXT
);

CREATE INDEX webhook_attempt_event ON webhook_attempt (webhook_id, event_id, started_at);
CREATE INDEX webhook_attempt_time ON webhook_attempt (webhook_id, started_at);
