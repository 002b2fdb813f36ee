-- Since when an API declares each scope that it did not declare from the start, as pairs of name and milliseconds; null: none.
-- A column of its own, because a release before compares `scopes` as text when it changes an API.

alter table apis add column scopes_since text;
