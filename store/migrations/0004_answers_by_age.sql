-- Expired responses to requests with an Idempotency-Key are found by their age.

CREATE INDEX answers_by_age ON answers (created_at);
