-- From where a change was made. Empty: beside the database, or before this step.

ALTER TABLE audit ADD COLUMN address NAME NOT NULL DEFAULT '';
