-- The egress of a team's sandboxes whose client says nothing about it, as JSON; nothing where none was set.
ALTER TABLE team ADD COLUMN network TEXT;
