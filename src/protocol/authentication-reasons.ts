/**
 * Why a client or an API is not authenticated, as docs/reasons.md explains it. The response says which only if that reveals nothing about a
 * client.
 */
export const AUTHENTICATION_REASONS = {
  client_missing: '',
  client_unknown: 'never registered, deleted, or without a token for a day after its registration',
  client_disabled: '`grantor client disable`',
  client_not_allowed: 'a domain of the client is blocked, or no new clients with metadata documents are accepted',
  client_secret_missing: '',
  client_secret_wrong: 'not a current secret of the client ([registration](clients.md#registration))',
  client_secret_unexpected: 'the client registered `none`',
  assertion_missing: 'the client registered `private_key_jwt`, and sent no assertion or a secret',
  assertion_unexpected: 'the client did not register `private_key_jwt`',
  assertion_malformed:
    'a member of `client_assertion`, or its type, is missing or wrong ([keys](clients.md#keys-instead-of-a-secret))',
  assertion_of_another_client: '`client_id` is not its client',
  assertion_audience:
    '`aud` is not the issuer or the token endpoint alone; with the profile `fapi2` the issuer, not in a list',
  assertion_algorithm: 'the profile `fapi2` takes PS256, ES256 and EdDSA',
  assertion_expired:
    'expired, a wrong time, or from before the store was restored or all tokens were revoked; check the clock',
  assertion_wrong: 'no key of the client verifies it, or its algorithm is not the registered one',
  assertion_key_unnamed: 'no `kid` of the client, and more than two of its keys fit',
  assertion_replayed: '',
  basic_malformed: 'not Basic with an id and a secret',
  api_credentials_wrong: 'an API introspected with wrong ones (`grantor api create-credentials`)',
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
  access_token_missing: 'userinfo without `Authorization: Bearer …` or `DPoP …`, and without `access_token` in a form',
  access_token_wrong: 'not of this server, expired, or revoked',
  access_token_bound:
    'the token is bound, and came without `Authorization: DPoP …` and a proof ([bound tokens](tokens.md#bound-tokens))',
  access_token_not_bound: '`Authorization: DPoP …` with a bearer token. Send `Bearer`',
  access_token_for_another:
    'the token is for an API. Request one with the issuer as its only `resource` ([openid.md](openid.md))',
  management_token_missing: 'managing a client needs `Authorization: Bearer …`',
  management_token_wrong: 'not the registration access token of the client in the address',
  initial_token_missing: 'registering needs `Authorization: Bearer git_…` (`GRANTOR_REGISTRATION=token`)',
  initial_token_wrong: 'unknown, expired, revoked, or used as often as it may be',
  admin_token_missing: 'no `Authorization: Bearer gad_…`, or `gde_…` for delegated sign-in',
  admin_token_wrong: 'not a token of an administrator',
  admin_token_inactive: 'expired or revoked credentials, or a deleted or disabled organization',
} as const
