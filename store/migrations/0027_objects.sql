-- Packs outside the database. A pack with an object has no body here; the object has size bytes.
ALTER TABLE packs ADD COLUMN object NAME NOT NULL DEFAULT '';
ALTER TABLE packs ADD COLUMN size BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX packs_by_object ON packs (account, object) WHERE object <> '';

-- The object store that this database was made with; no row: packs are in the database. An
-- object in it has the id as its content, so that no other directory or bucket is taken for it.
CREATE TABLE object_store (
  n       BIGINT NOT NULL PRIMARY KEY, -- 1
  id      NAME NOT NULL,
  address NAME NOT NULL
);

-- The objects that no pack names: about to be uploaded, uploaded by a push in progress, or
-- left by a pack. A collection sets removing, after which no pack can name the object.
CREATE TABLE unused_objects (
  account   NAME NOT NULL REFERENCES accounts,
  name      NAME NOT NULL,
  unused_at BIGINT NOT NULL,
  removing  BOOLEAN NOT NULL,
  PRIMARY KEY (account, name)
);
CREATE INDEX unused_objects_by_age ON unused_objects (unused_at, account, name);
