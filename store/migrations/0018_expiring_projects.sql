-- Projects that a hub deletes at a time. A hub of the release before does not read it: what
-- expires while all hubs are of that release is deleted later.

CREATE TABLE expiring_projects (
  account    NAME NOT NULL,
  slug       NAME NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account, slug),
  FOREIGN KEY (account, slug) REFERENCES projects ON DELETE CASCADE
);
CREATE INDEX expiring_projects_by_time ON expiring_projects (expires_at, account, slug);
