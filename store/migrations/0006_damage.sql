-- What was found to be damaged when it was read, until it is uploaded again: the
-- SHA-256 of a base file's content, or the name of a project whose list of base
-- files is damaged. A hub of the release before does not read it.

CREATE TABLE damage (
  account  NAME NOT NULL,
  object   NAME NOT NULL,
  found_at BIGINT NOT NULL,
  PRIMARY KEY (account, object)
);
