-- A message that a user asked to send again has retries of its own and holds back no other.
ALTER TABLE webhook_message ADD COLUMN redelivered INTEGER NOT NULL DEFAULT 0;

-- Why and when a message was given up, where its attempts do not tell it.
ALTER TABLE webhook_message ADD COLUMN given_up TEXT;
ALTER TABLE webhook_message ADD COLUMN given_up_at BIGINT;

-- Large fields of the data of events. Each is stored once, however many events and messages have it.
CREATE TABLE event_part (
    id       TEXT PRIMARY KEY,
    team_id  TEXT NOT NULL,
    field    TEXT NOT NULL,
    content  TEXT NOT NULL,
    size     INTEGER NOT NULL,
    used_at  BIGINT NOT NULL
);

CREATE INDEX event_part_team ON event_part (team_id, used_at, size);

-- The ids of those fields, as a JSON list; nothing where an event has all its data itself.
ALTER TABLE event ADD COLUMN parts TEXT;
ALTER TABLE webhook_message ADD COLUMN parts TEXT;

-- Lists of events and statistics of attempts are read from these indexes alone.
CREATE INDEX event_team_type ON event (team_id, sequence, type);
CREATE INDEX event_sandbox_type ON event (sandbox_id, sequence, type, team_id);
CREATE INDEX webhook_attempt_stats ON webhook_attempt (webhook_id, started_at, duration_ms, error_class);
