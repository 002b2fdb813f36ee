/**
 * Why a client or an API is not authenticated, as docs/reasons.md explains it. The response says which only if that reveals nothing about a
 * client.
 */
export const AUTHENTICATION_REASONS = {
  client_missing: 'no client is named',
  client_unknown: 'the client was never registered, was deleted, or got no token within a day of its registration',
  client_disabled: 'the operator disabled it with `grantor client disable`',
  client_not_allowed: 'the operator blocked a domain of the client, or accepts no new clients with metadata documents',
  client_secret_missing: 'the client has a secret and did not send it',
  client_secret_wrong:
    'the secret is not a currently valid secret of the client ([registration.md](clients.md#registration))',
  client_secret_unexpected: 'the client registered `none` and sent a secret',
  assertion_missing: 'the client registered `private_key_jwt`, and sent no assertion or a secret',
  assertion_unexpected: 'the client sent an assertion, and did not register `private_key_jwt`',
  assertion_malformed:
    '`client_assertion` or its type is not acceptable: a member is missing or wrong ([registration.md](clients.md#keys-instead-of-a-secret))',
  assertion_of_another_client: '`client_id` is not the client of the assertion',
  assertion_audience:
    '`aud` is not the issuer or the token endpoint, or has another value too; with the profile `fapi2` it is the issuer, not in a list',
  assertion_algorithm: 'the client has the profile `fapi2`, whose assertions are signed with PS256, ES256 or EdDSA',
  assertion_expired:
    'the assertion has expired, has a wrong time, or was issued before the store was restored or all tokens were revoked; check the clock',
  assertion_wrong: "none of the client's keys verifies the assertion, or its algorithm is not the registered one",
  assertion_key_unnamed: 'the header has no `kid` of the client, and more than two of its keys fit the algorithm',
  assertion_replayed: 'the assertion was used before',
  basic_malformed: 'the Authorization header is not Basic with an id and a secret',
  api_credentials_wrong: 'an API introspected a token with wrong credentials (`grantor api create-credentials`)',
} as const

/**
 * Descriptions for reasons that follow from the request alone: they are found before the client is looked for, so they say nothing about
 * a client or its keys.
 */
export const AUTHENTICATION_EXPLANATIONS: Partial<Record<keyof typeof AUTHENTICATION_REASONS, string>> = {
  client_missing: 'The request names no client.',
  assertion_malformed:
    'The client_assertion or its type is not acceptable: it needs iss, sub, aud, exp and jti, and a listed alg.',
  assertion_of_another_client: 'The client_id is not the sub of the client_assertion.',
  assertion_audience:
    'The aud of the client_assertion must be the issuer or the token endpoint, and nothing else. With the profile fapi2 it is the issuer, not in a list.',
  assertion_expired:
    'The client_assertion has expired, was issued more than ten minutes ago, has a time in the future, or without iat expires in more than ten minutes.',
  basic_malformed: 'The Authorization header is not Basic with an id and a secret.',
}

/** Why a bearer token is not accepted: that of a client, of a user for the userinfo endpoint, or of an administrator. */
export const TOKEN_REASONS = {
  access_token_missing:
    'a request to the userinfo endpoint has no `Authorization: Bearer …` or `DPoP …`, and no `access_token` in a form',
  access_token_wrong: 'the access token is not one of this server, has expired, or was revoked',
  access_token_bound:
    'the access token is bound to a key, and came without `Authorization: DPoP …` and a proof ([sender-constrained.md](sender-constrained.md))',
  access_token_not_bound: 'a bearer token came as `Authorization: DPoP …`. Send `Bearer`',
  access_token_for_another:
    'the access token is for another API. Request one with the issuer as its only `resource` ([openid.md](openid.md))',
  management_token_missing: 'a request to manage a client has no `Authorization: Bearer …`',
  management_token_wrong:
    'the registration access token is not that of the client in the address, or the client has none',
  initial_token_missing: 'the registration has no `Authorization: Bearer git_…` (`GRANTOR_REGISTRATION=token`)',
  initial_token_wrong: 'the initial access token is unknown, expired or revoked, or was used as often as it may be',
  admin_token_missing:
    'a request to the administration has no `Authorization: Bearer gad_…`, or `gde_…` for the tasks of delegated sign-in',
  admin_token_wrong: "the token is not an administrator's token",
  admin_token_inactive:
    "the administrator's credentials expired or were revoked, or their organization was deleted or disabled",
} as const
