-- Whether so many messages of a webhook wait that further ones are given up at once.
ALTER TABLE webhook ADD COLUMN is_full INTEGER NOT NULL DEFAULT 0;

-- Messages that wait are few among all that are kept.
CREATE INDEX webhook_message_open ON webhook_message (webhook_id, next_at) WHERE state = 'OPEN';
CREATE INDEX webhook_message_page ON webhook_message (webhook_id, sequence);

-- The first of the keys that took each other's place, which share their limits; nothing for one that took no place.
ALTER TABLE api_key ADD COLUMN family TEXT;
