-- What sandboxes tried to reach, as JSON: written from time to time, at a pause and at the end.
CREATE TABLE egress_log (
    sandbox_id TEXT PRIMARY KEY,
    seen TEXT NOT NULL,
    kept_at BIGINT NOT NULL
);
CREATE INDEX egress_log_kept_at ON egress_log (kept_at);
