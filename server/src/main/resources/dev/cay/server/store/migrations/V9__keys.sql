-- What a key may do, for which sandbox if for one alone, until when, and when it was used last.
ALTER TABLE api_key ADD COLUMN scope TEXT NOT NULL DEFAULT 'all';
ALTER TABLE api_key ADD COLUMN expires_at BIGINT;
ALTER TABLE api_key ADD COLUMN last_used_at BIGINT;

-- Records of sandboxes name their team for ever, so a team is marked and not removed.
ALTER TABLE team ADD COLUMN deleted_at BIGINT;
