-- Keys are compared byte by byte, as SQLite does.
ALTER TABLE build ALTER COLUMN id TYPE TEXT COLLATE "C";
ALTER TABLE build_tag ALTER COLUMN template_id TYPE TEXT COLLATE "C", ALTER COLUMN tag TYPE TEXT COLLATE "C";
