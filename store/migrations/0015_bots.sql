-- A bot's token has the ID of the bot's rate limits, a user's has ''. Create tokens of
-- bots when no hub of the release before is running: it would not know that they are a bot's.

ALTER TABLE tokens ADD COLUMN bot NAME NOT NULL DEFAULT '';
