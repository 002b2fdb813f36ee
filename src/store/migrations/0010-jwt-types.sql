-- The `typ` header of an API's JWTs. null: at+jwt.

alter table apis add column jwt_type text;
