-- A browser that is signed in. token is the hash of the token with which it signed
-- in; empty: the user's own rights. The cookie is not stored, only its hash.

CREATE TABLE sessions (
  user_name  NAME NOT NULL REFERENCES accounts,
  hash       NAME NOT NULL,
  token      NAME NOT NULL,
  scopes     NAME NOT NULL,
  agent      NAME NOT NULL,
  address    NAME NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL,
  PRIMARY KEY (user_name, hash)
);
