-- When an API declared each scope that it did not declare from the start, as pairs of name and milliseconds; null: none. It
-- is a separate column, because older releases compare `scopes` as text when they change an API.

alter table apis add column scopes_since text;
