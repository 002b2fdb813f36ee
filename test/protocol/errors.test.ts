import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invalidRequest, invalidTarget, invalidToken, type OAuthError } from '../../src/protocol/errors.ts'
import { missing } from '../../src/base/validation.ts'

/** Some clients show nothing but the description, or the challenge. */
const NAMED: readonly (readonly [refusal: OAuthError, description: RegExp])[] = [
  ...['code', 'refresh_token', 'token'].map(
    (name) =>
      [
        invalidRequest('parameter_missing', { problems: [missing('body', name)] }),
        new RegExp(`^The parameter ${name} is missing\\.$`),
      ] as const,
  ),
  [invalidRequest('verifier_malformed'), /^The code_verifier has not 43 to 128/],
  [invalidRequest('parameter_repeated'), /^The request lacks a parameter, repeats one/],
  [invalidTarget('resource_not_granted', []), /^The grant does not have this resource\.$/],
  [invalidTarget('tokens_differ', []), /need different tokens/],
  [invalidTarget('resource_malformed', []), /^This server issues no tokens for the resource\.$/],
  [invalidTarget('resource_unknown', [], { explanation: 'No API is declared for x.' }), /^No API is declared for x\.$/],
  [invalidToken('access_token_for_another'), /^The access token is for an API\./],
  [invalidToken('access_token_wrong'), /^The token for this request is missing, invalid, expired or revoked\.$/],
]

test('a description names the parameter, resource or token at fault where it is the caller’s own', () => {
  for (const [refusal, description] of NAMED) {
    assert.match(refusal.description, description, refusal.message)
    // RFC 6749 §5.2: the characters of a description.
    assert.match(refusal.description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
  }
})

test('RFC 6750 §3.1: the challenge describes only a valid token for another API', () => {
  const challengeOf = (refusal: OAuthError): string => refusal.headers['WWW-Authenticate'] ?? ''
  assert.match(
    challengeOf(invalidToken('access_token_for_another')),
    /, error_description="The access token is for an API\./,
  )
  assert.equal(challengeOf(invalidToken('access_token_wrong')), 'Bearer realm="grantor", error="invalid_token"')
  assert.equal(challengeOf(invalidToken('management_token_missing')), 'Bearer realm="grantor"')
})
