-- Garbage collection looks at what changed since it last ran. A hub of the release
-- before writes base_sets without indexed_tree: the default, or the tree that was
-- indexed before, shows that such a set is to be indexed again.

ALTER TABLE base_sets ADD COLUMN indexed_tree NAME NOT NULL DEFAULT '';
CREATE INDEX base_sets_unindexed ON base_sets (account, slug) WHERE tree <> indexed_tree;

CREATE TABLE base_set_contents (
  account NAME NOT NULL,
  slug    NAME NOT NULL,
  sha256  NAME NOT NULL,
  PRIMARY KEY (account, slug, sha256),
  FOREIGN KEY (account, slug) REFERENCES base_sets ON DELETE CASCADE
);
CREATE INDEX base_set_contents_by_digest ON base_set_contents (account, sha256);

CREATE INDEX contents_by_touch ON contents (touched_at, account, sha256);
CREATE INDEX contents_by_stream ON contents (account, stream, start);

CREATE TABLE changed_streams (
  account    NAME NOT NULL,
  stream     NAME NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (account, stream)
);
INSERT INTO changed_streams (account, stream, changed_at) SELECT DISTINCT account, stream, 0 FROM packs;

CREATE TABLE periodic_work (
  task     NAME PRIMARY KEY,
  ran_at   BIGINT NOT NULL,
  position BIGINT NOT NULL
);
