-- Who last updated an API, 0 and empty: nobody since it was registered. The index finds the
-- projects that use an API before it is deleted.

ALTER TABLE apis ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE apis ADD COLUMN updated_by NAME NOT NULL DEFAULT '';
CREATE INDEX projects_by_api ON projects (api_account, api_slug, account, slug);
