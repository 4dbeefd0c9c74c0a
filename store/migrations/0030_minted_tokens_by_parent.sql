-- Which tokens were created with one, for revoking them with it, and for keeping its row as
-- long as they are valid.

CREATE INDEX minted_tokens_by_parent ON minted_tokens (owner, parent);
