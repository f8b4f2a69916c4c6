-- The hash of the refresh token that this one took the place of.
ALTER TABLE sign_in_secret ADD COLUMN parent TEXT;

CREATE INDEX sign_in_secret_parent ON sign_in_secret (parent) WHERE parent IS NOT NULL;

-- The family of keys that asked for a build, whose limits it counts for.
ALTER TABLE build ADD COLUMN key_id TEXT;

CREATE INDEX build_key ON build (key_id, status) WHERE key_id IS NOT NULL;
