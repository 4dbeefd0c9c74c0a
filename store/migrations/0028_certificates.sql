-- What the hubs share of certificates that an authority issues: certificates with their
-- private keys, the key of the account, and the certificates of challenges. A row whose
-- data is empty says that a hub is ordering the certificate. No backup holds these rows.

CREATE TABLE certificates (
  name       NAME NOT NULL,
  data       BYTES NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (name)
);
