-- Projects whose preview is public. A hub of the release before does not read it: it serves
-- no previews.

CREATE TABLE public_previews (
  account NAME NOT NULL,
  slug    NAME NOT NULL,
  set_by  NAME NOT NULL,
  set_at  BIGINT NOT NULL,
  PRIMARY KEY (account, slug),
  FOREIGN KEY (account, slug) REFERENCES projects
);
