-- How often the tokens that open a sandbox were renewed.
ALTER TABLE sandbox ADD COLUMN token_version INTEGER NOT NULL DEFAULT 0;
