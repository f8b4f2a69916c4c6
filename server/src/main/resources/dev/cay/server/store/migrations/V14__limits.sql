-- What a team or a key may use, as JSON; nothing where no limits were set for it.
ALTER TABLE team ADD COLUMN limits TEXT;
ALTER TABLE api_key ADD COLUMN limits TEXT;

-- The key that a sandbox was created with, whose limits it counts for.
ALTER TABLE sandbox ADD COLUMN key_id TEXT;

CREATE INDEX sandbox_team ON sandbox (team_id, state);
CREATE INDEX sandbox_key ON sandbox (key_id, state) WHERE key_id IS NOT NULL;
