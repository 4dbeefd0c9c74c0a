-- A terminal that waits for a token, which a signed-in user approves by comparing the
-- code. hash is that of the secret that the terminal alone knows; the token is made when
-- the terminal fetches it, and stored as its hash.

CREATE TABLE devices (
  hash       NAME PRIMARY KEY,
  code       NAME NOT NULL UNIQUE,
  client     NAME NOT NULL,
  address    NAME NOT NULL,
  state      NAME NOT NULL,
  user_name  NAME NOT NULL,
  parent     NAME NOT NULL,
  scopes     NAME NOT NULL,
  ends_at    BIGINT NOT NULL,
  token      NAME NOT NULL,
  every      BIGINT NOT NULL,
  polled_at  BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX devices_by_address ON devices (address, expires_at);
CREATE INDEX devices_by_age ON devices (expires_at);

-- How many wrong codes a user has typed since a time.
CREATE TABLE device_attempts (
  user_name NAME PRIMARY KEY,
  since     BIGINT NOT NULL,
  wrong     BIGINT NOT NULL
);
