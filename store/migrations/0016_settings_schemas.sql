-- The JSON Schema of settings that a stack version includes, and the projects whose owner
-- has the hub refuse settings that it does not allow. A hub of the release before reads
-- neither: it checks no settings.

CREATE TABLE stack_schemas (
  account NAME NOT NULL,
  slug    NAME NOT NULL,
  version NAME NOT NULL,
  sha256  NAME NOT NULL,
  body    BYTES NOT NULL,
  PRIMARY KEY (account, slug, version),
  FOREIGN KEY (account, slug, version) REFERENCES stack_versions ON DELETE CASCADE
);

CREATE TABLE enforced_schemas (
  account NAME NOT NULL,
  slug    NAME NOT NULL,
  set_by  NAME NOT NULL,
  set_at  BIGINT NOT NULL,
  PRIMARY KEY (account, slug),
  FOREIGN KEY (account, slug) REFERENCES projects ON DELETE CASCADE
);
