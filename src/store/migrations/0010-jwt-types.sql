-- The header's type of the JWTs that an API takes. null: at+jwt.

alter table apis add column jwt_type text;
