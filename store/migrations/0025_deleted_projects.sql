-- Projects that were deleted and can be restored until they are purged, with their configs. A
-- project whose config is here, and not in configs, is absent, also for a hub of the release
-- before: that hub answers that the name is taken, and purges none.

CREATE TABLE deleted_projects (
  account     NAME NOT NULL,
  slug        NAME NOT NULL,
  deleted_at  BIGINT NOT NULL,
  deleted_by  NAME NOT NULL,
  kept_until  BIGINT NOT NULL,
  revision    NAME NOT NULL,
  has_config  BOOLEAN NOT NULL,
  updated_at  BIGINT NOT NULL,
  updated_by  NAME NOT NULL,
  updated_via NAME NOT NULL,
  body        BYTES NOT NULL,
  PRIMARY KEY (account, slug),
  FOREIGN KEY (account, slug) REFERENCES projects ON DELETE CASCADE
);
CREATE INDEX deleted_projects_by_time ON deleted_projects (kept_until, account, slug);
