-- What bots have used of their rate limits, and which shares replicas hold. A hub of
-- the release before does not read them.

CREATE TABLE rate_usage (
  account      NAME NOT NULL,
  id           NAME NOT NULL,
  minute_start BIGINT NOT NULL,
  minute_used  BIGINT NOT NULL,
  hour_start   BIGINT NOT NULL,
  hour_used    BIGINT NOT NULL,
  day_start    BIGINT NOT NULL,
  day_used     BIGINT NOT NULL,
  week_start   BIGINT NOT NULL,
  week_used    BIGINT NOT NULL,
  month_start  BIGINT NOT NULL,
  month_used   BIGINT NOT NULL,
  year_start   BIGINT NOT NULL,
  year_used    BIGINT NOT NULL,
  PRIMARY KEY (account, id),
  FOREIGN KEY (account, id) REFERENCES rate_limits
);

CREATE TABLE rate_shares (
  account    NAME NOT NULL,
  id         NAME NOT NULL,
  replica    NAME NOT NULL,
  granted_at BIGINT NOT NULL,
  size       BIGINT NOT NULL,
  PRIMARY KEY (account, id, replica),
  FOREIGN KEY (account, id) REFERENCES rate_limits
);
