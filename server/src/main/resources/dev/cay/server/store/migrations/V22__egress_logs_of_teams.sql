-- Whose each egress log is, and how many entries it has: a team keeps so many in all.
ALTER TABLE egress_log ADD COLUMN team_id TEXT;
ALTER TABLE egress_log ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
UPDATE egress_log SET team_id = (SELECT team_id FROM sandbox WHERE sandbox.id = egress_log.sandbox_id);
CREATE INDEX egress_log_team ON egress_log (team_id, kept_at, entries);
