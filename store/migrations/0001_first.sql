-- NAME and BYTES stand for each database's own type: see migrations.go.

CREATE TABLE accounts (
  name        NAME PRIMARY KEY,
  kind        NAME NOT NULL,
  created_at  BIGINT NOT NULL,
  disabled_at BIGINT NOT NULL
);

CREATE TABLE members (
  user_name NAME NOT NULL REFERENCES accounts,
  account   NAME NOT NULL REFERENCES accounts,
  role      NAME NOT NULL,
  PRIMARY KEY (user_name, account)
);
CREATE INDEX members_by_account ON members (account);

CREATE TABLE tokens (
  hash         NAME PRIMARY KEY,
  shown        NAME NOT NULL,
  name         NAME NOT NULL,
  owner        NAME NOT NULL REFERENCES accounts,
  scopes       NAME NOT NULL,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  revoked_at   BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL
);
CREATE INDEX tokens_by_owner ON tokens (owner);

CREATE TABLE apis (
  account    NAME NOT NULL REFERENCES accounts,
  slug       NAME NOT NULL,
  title      NAME NOT NULL,
  version    NAME NOT NULL,
  format     NAME NOT NULL,
  sha256     NAME NOT NULL,
  created_at BIGINT NOT NULL,
  created_by NAME NOT NULL,
  PRIMARY KEY (account, slug)
);

CREATE TABLE api_documents (
  account    NAME NOT NULL,
  slug       NAME NOT NULL,
  media_type NAME NOT NULL,
  body       BYTES NOT NULL,
  PRIMARY KEY (account, slug),
  FOREIGN KEY (account, slug) REFERENCES apis
);

CREATE TABLE stacks (
  account NAME NOT NULL REFERENCES accounts,
  slug    NAME NOT NULL,
  latest  NAME NOT NULL,
  newest  NAME NOT NULL,
  PRIMARY KEY (account, slug)
);

CREATE TABLE stack_versions (
  account      NAME NOT NULL,
  slug         NAME NOT NULL,
  version      NAME NOT NULL,
  digest       NAME NOT NULL,
  size_bytes   BIGINT NOT NULL,
  file_count   BIGINT NOT NULL,
  published_at BIGINT NOT NULL,
  published_by NAME NOT NULL,
  PRIMARY KEY (account, slug, version),
  FOREIGN KEY (account, slug) REFERENCES stacks
);

CREATE TABLE stack_bundles (
  account    NAME NOT NULL,
  slug       NAME NOT NULL,
  version    NAME NOT NULL,
  media_type NAME NOT NULL,
  body       BYTES NOT NULL,
  PRIMARY KEY (account, slug, version),
  FOREIGN KEY (account, slug, version) REFERENCES stack_versions
);

CREATE TABLE projects (
  account       NAME NOT NULL REFERENCES accounts,
  slug          NAME NOT NULL,
  stack_account NAME NOT NULL,
  stack_slug    NAME NOT NULL,
  stack_version NAME NOT NULL,
  api_account   NAME NOT NULL,
  api_slug      NAME NOT NULL,
  visibility    NAME NOT NULL,
  created_at    BIGINT NOT NULL,
  created_by    NAME NOT NULL,
  PRIMARY KEY (account, slug)
);
CREATE INDEX projects_by_stack ON projects (stack_account, stack_slug);

CREATE TABLE configs (
  account     NAME NOT NULL,
  slug        NAME NOT NULL,
  revision    NAME NOT NULL,
  has_config  BOOLEAN NOT NULL,
  updated_at  BIGINT NOT NULL,
  updated_by  NAME NOT NULL,
  updated_via NAME NOT NULL,
  body        BYTES NOT NULL,
  PRIMARY KEY (account, slug),
  FOREIGN KEY (account, slug) REFERENCES projects
);

CREATE TABLE base_sets (
  account    NAME NOT NULL,
  slug       NAME NOT NULL,
  tree       NAME NOT NULL,
  count      BIGINT NOT NULL,
  bytes      BIGINT NOT NULL,
  files      BYTES NOT NULL,
  updated_at BIGINT NOT NULL,
  updated_by NAME NOT NULL,
  PRIMARY KEY (account, slug),
  FOREIGN KEY (account, slug) REFERENCES projects
);

CREATE TABLE packs (
  account NAME NOT NULL REFERENCES accounts,
  stream  NAME NOT NULL,
  start   BIGINT NOT NULL,
  length  BIGINT NOT NULL,
  body    BYTES NOT NULL,
  PRIMARY KEY (account, stream, start)
);

CREATE TABLE contents (
  account    NAME NOT NULL REFERENCES accounts,
  sha256     NAME NOT NULL,
  size       BIGINT NOT NULL,
  stream     NAME NOT NULL,
  start      BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  PRIMARY KEY (account, sha256)
);

CREATE TABLE rate_limits (
  account      NAME NOT NULL REFERENCES accounts,
  id           NAME NOT NULL,
  bot_id       NAME,
  bot_ref_id   NAME,
  minute_limit BIGINT,
  hour_limit   BIGINT,
  day_limit    BIGINT,
  week_limit   BIGINT,
  month_limit  BIGINT,
  year_limit   BIGINT,
  updated_at   BIGINT NOT NULL,
  updated_by   NAME NOT NULL,
  PRIMARY KEY (account, id),
  UNIQUE (account, bot_id),
  UNIQUE (account, bot_ref_id)
);

CREATE TABLE answers (
  caller     NAME NOT NULL,
  method     NAME NOT NULL,
  path       NAME NOT NULL,
  key        NAME NOT NULL,
  body_hash  NAME NOT NULL,
  created_at BIGINT NOT NULL,
  status     BIGINT NOT NULL,
  header     BYTES,
  body       BYTES,
  PRIMARY KEY (caller, method, path, key)
);

CREATE TABLE audit (
  account    NAME NOT NULL,
  at         BIGINT NOT NULL,
  id         NAME NOT NULL,
  actor      NAME NOT NULL,
  token      NAME NOT NULL,
  action     NAME NOT NULL,
  object     NAME NOT NULL,
  detail     NAME NOT NULL,
  request_id NAME NOT NULL,
  PRIMARY KEY (account, at, id)
);
