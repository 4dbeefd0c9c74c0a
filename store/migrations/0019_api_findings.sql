-- What the OpenAPI specification does not allow in a registered description: a JSON array,
-- no row for none. A hub of the release before reads none.

CREATE TABLE api_findings (
  account  NAME NOT NULL,
  slug     NAME NOT NULL,
  findings BYTES NOT NULL,
  PRIMARY KEY (account, slug),
  FOREIGN KEY (account, slug) REFERENCES apis ON DELETE CASCADE
);
