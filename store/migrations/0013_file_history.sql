-- The trees of base files that a project had: a row for each, with what leads from it to
-- the tree before it, and the blobs of the latter that it no longer names. A hub of the
-- release before writes no rows: the next push then begins a new history.
CREATE TABLE file_history (
  account     NAME NOT NULL,
  slug        NAME NOT NULL,
  n           BIGINT NOT NULL,
  tree        NAME NOT NULL,
  parent      NAME NOT NULL,
  count       BIGINT NOT NULL,
  bytes       BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  updated_by  NAME NOT NULL,
  updated_via NAME NOT NULL,
  token_name  NAME NOT NULL,
  request_id  NAME NOT NULL,
  added       BIGINT NOT NULL,
  changed     BIGINT NOT NULL,
  removed     BIGINT NOT NULL,
  undo        BYTES NOT NULL,
  PRIMARY KEY (account, slug, n),
  FOREIGN KEY (account, slug) REFERENCES projects ON DELETE CASCADE
);

CREATE TABLE file_history_contents (
  account NAME NOT NULL,
  slug    NAME NOT NULL,
  n       BIGINT NOT NULL,
  sha256  NAME NOT NULL,
  PRIMARY KEY (account, slug, n, sha256),
  FOREIGN KEY (account, slug, n) REFERENCES file_history ON DELETE CASCADE
);
CREATE INDEX file_history_contents_by_digest ON file_history_contents (account, sha256);
