-- What a config was before: a row for each write that changed it, and the bodies of
-- those revisions, compressed. A hub of the release before writes neither: the next
-- write adds the config that it finds. That hub deletes projects, too, hence the cascade.
CREATE TABLE config_history (
  account     NAME NOT NULL,
  slug        NAME NOT NULL,
  n           BIGINT NOT NULL,
  revision    NAME NOT NULL,
  parent      NAME NOT NULL,
  has_config  BOOLEAN NOT NULL,
  updated_at  BIGINT NOT NULL,
  updated_by  NAME NOT NULL,
  updated_via NAME NOT NULL,
  token_name  NAME NOT NULL,
  request_id  NAME NOT NULL,
  added       BIGINT NOT NULL,
  changed     BIGINT NOT NULL,
  removed     BIGINT NOT NULL,
  PRIMARY KEY (account, slug, n),
  FOREIGN KEY (account, slug) REFERENCES projects ON DELETE CASCADE
);
CREATE INDEX config_history_by_revision ON config_history (account, slug, revision, n);
CREATE INDEX config_history_by_age ON config_history (updated_at, account, slug);

CREATE TABLE config_bodies (
  account  NAME NOT NULL,
  slug     NAME NOT NULL,
  revision NAME NOT NULL,
  n        BIGINT NOT NULL,
  body     BYTES NOT NULL,
  PRIMARY KEY (account, slug, revision, n),
  FOREIGN KEY (account, slug) REFERENCES projects ON DELETE CASCADE
);
