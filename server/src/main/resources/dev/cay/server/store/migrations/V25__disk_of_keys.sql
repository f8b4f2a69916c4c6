-- The family of keys that made a volume, whose share of the disk it counts for.
ALTER TABLE volume ADD COLUMN key_id TEXT;
