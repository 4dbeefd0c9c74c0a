-- The body of an entry of a config's history, compressed, in the entry's own row: one table
-- and two indexes less to write. NULL for one that is in config_bodies: of a hub of the release
-- before, which cannot show what this one adds, and of a config that does not fit into a frame.
-- A revision is looked for among the entries of its project, whose number is bounded.
ALTER TABLE config_history ADD COLUMN body BYTES;
DROP INDEX config_history_by_revision;
