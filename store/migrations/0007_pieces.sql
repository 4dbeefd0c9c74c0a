-- What was sent as one bundle or document, in pieces that are read one by one.
-- The body columns of older rows hold theirs whole; newer rows leave them empty.
CREATE TABLE pieces (
  kind    NAME NOT NULL,
  account NAME NOT NULL,
  slug    NAME NOT NULL,
  version NAME NOT NULL,
  n       BIGINT NOT NULL,
  sha256  NAME NOT NULL,
  body    BYTES NOT NULL,
  PRIMARY KEY (kind, account, slug, version, n)
);
