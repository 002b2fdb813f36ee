import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessTokenHash } from '../../../src/protocol/openid/id-token.ts'

test('OpenID Connect Core §3.1.3.6: at_hash is the left half of the hash of the signature algorithm', () => {
  // The access token and the at_hash of the example in OpenID Connect Core, appendix A.3.
  const token = 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y'
  assert.equal(accessTokenHash(token, 'RS256'), '77QmUPtjPfzWtF2AnpK9RQ')
  assert.equal(accessTokenHash(token, 'ES256'), '77QmUPtjPfzWtF2AnpK9RQ')
  assert.equal(accessTokenHash(token, 'EdDSA'), 'q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM')
})
