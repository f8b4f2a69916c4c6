-- The egress of a template's sandboxes whose client says nothing about it, as JSON; nothing where none was set.
ALTER TABLE template ADD COLUMN network TEXT;
