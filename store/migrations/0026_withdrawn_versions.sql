-- Stack versions that were withdrawn. stacks.latest is never one of them, also when a hub of
-- the release before publishes: it compares the new version with the present latest.

CREATE TABLE withdrawn_versions (
  account      NAME NOT NULL,
  slug         NAME NOT NULL,
  version      NAME NOT NULL,
  withdrawn_at BIGINT NOT NULL,
  PRIMARY KEY (account, slug, version),
  FOREIGN KEY (account, slug, version) REFERENCES stack_versions ON DELETE CASCADE
);
