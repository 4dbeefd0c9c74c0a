-- A token can be restricted to one account, or to one project of it; '': to none. Create
-- such tokens when no hub of the release before is running: it would not know.

ALTER TABLE tokens ADD COLUMN only_account NAME NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN only_slug NAME NOT NULL DEFAULT '';
