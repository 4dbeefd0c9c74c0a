-- A link that does one thing once: kind sign-in starts a session of the user account,
-- kind invitation gives a role on the org account. token is the hash of the token with
-- which it was created; empty: none. The link is not stored, only the hash of its secret.

CREATE TABLE links (
  account    NAME NOT NULL REFERENCES accounts,
  hash       NAME NOT NULL,
  kind       NAME NOT NULL,
  token      NAME NOT NULL,
  scopes     NAME NOT NULL,
  role       NAME NOT NULL,
  page       NAME NOT NULL,
  created_by NAME NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  PRIMARY KEY (account, hash)
);

-- Tokens that were created with another token of their owner, with which they end. A
-- table of its own, because a hub of the release before reads all columns of tokens.

CREATE TABLE minted_tokens (
  owner  NAME NOT NULL,
  hash   NAME NOT NULL,
  parent NAME NOT NULL,
  PRIMARY KEY (owner, hash)
);
