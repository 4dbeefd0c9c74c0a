-- How many bytes the body of an entry takes, and those of all entries up to it, so that
-- a write can bound a history without reading it.
ALTER TABLE config_history ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE config_history ADD COLUMN bytes_so_far BIGINT NOT NULL DEFAULT 0;
