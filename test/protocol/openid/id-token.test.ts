import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessTokenHash, idTokenClaims } from '../../../src/protocol/openid/id-token.ts'
import type { UserId } from '../../../src/protocol/ids.ts'
import type { EpochSeconds } from '../../../src/base/brand.ts'

test('OpenID Connect Core §3.1.3.6: at_hash is the left half of the hash of the signature algorithm', () => {
  // The access token and the at_hash of the example in OpenID Connect Core, appendix A.3.
  const token = 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y'
  assert.equal(accessTokenHash(token, 'RS256'), '77QmUPtjPfzWtF2AnpK9RQ')
  assert.equal(accessTokenHash(token, 'ES256'), '77QmUPtjPfzWtF2AnpK9RQ')
  assert.equal(accessTokenHash(token, 'EdDSA'), 'q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM')
})

test('RFC 8176 §2: amr says two factors, and not that a recovery code was one of them', () => {
  const claims = idTokenClaims({
    issuer: 'https://auth.example',
    audience: 'client',
    userId: 'user' as UserId,
    issuedAt: 1 as EpochSeconds,
    expiresAt: 2 as EpochSeconds,
    authenticatedAt: undefined,
    acr: undefined,
    methods: ['pwd', 'mfa', 'recovery'],
    nonce: undefined,
    accessTokenHash: '',
    sessionId: '',
    organizationId: undefined,
    userClaims: {},
  })
  assert.deepEqual((JSON.parse(claims) as { readonly amr: unknown }).amr, ['pwd', 'mfa'])
})
