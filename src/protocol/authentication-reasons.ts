/** Why a client or an API is not authenticated, as docs/errors.md explains it. The response does not say which. */
export const AUTHENTICATION_REASONS = {
  client_missing: 'no client is named',
  client_unknown:
    'there is no such client: it was never registered, was deleted, or got no token within a day of its registration',
  client_disabled: 'the operator disabled it with `grantor client disable`',
  client_not_allowed:
    'the operator blocked the domain of its metadata document or of a redirect URI, or accepts no new clients by their documents',
  client_secret_missing: 'the client has a secret and did not send it',
  client_secret_wrong: 'the secret is not a currently valid secret of the client ([registration.md](registration.md))',
  client_secret_unexpected: 'the client registered `none` and sent a secret',
  assertion_missing: 'the client registered `private_key_jwt`, and sent no assertion or a secret',
  assertion_unexpected: 'the client sent an assertion, and did not register `private_key_jwt`',
  assertion_malformed:
    '`client_assertion` is not a JWT that can be accepted (RFC 7523 §3): it needs `iss` and `sub` that equal the client id, `exp` and `jti`; an `alg` that the metadata lists; a `typ` of `JWT` or `client-authentication+jwt`, or none; and no `jku`, `jwk`, `x5u` or `crit`. Or `client_assertion_type` is another one',
  assertion_of_another_client: '`client_id` is not the client of the assertion',
  assertion_audience: '`aud` is not the issuer or the token endpoint, or has another value too',
  assertion_expired:
    'the assertion has expired, expires in more than ten minutes, has a time in the future, or was issued before the store was restored or all tokens were revoked; the clock of the client may be wrong',
  assertion_wrong: "none of the client's keys verifies the assertion, or its algorithm is not the registered one",
  assertion_replayed: 'the assertion was used before. Make a new one, with another `jti`, for each request',
  basic_malformed: 'the Authorization header is not Basic with an id and a secret',
  api_credentials_wrong:
    'an API introspected a token with wrong credentials; make new ones with `grantor api create-credentials`',
} as const
