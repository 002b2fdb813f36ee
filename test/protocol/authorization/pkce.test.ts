import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseCodeChallenge, parseCodeVerifier, verifierMatches } from '../../../src/protocol/authorization/pkce.ts'
import { CHALLENGE, VERIFIER } from '../../../tools/flow.ts'

test('RFC 7636 appendix B: the example verifier matches its challenge', () => {
  const verifier = parseCodeVerifier('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')
  const challenge = parseCodeChallenge('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
  assert.ok(verifier !== undefined && challenge !== undefined)
  assert.equal(verifierMatches(verifier, challenge), true)
})

test('RFC 7636 §4.6: any other verifier does not match', () => {
  const challenge = parseCodeChallenge(CHALLENGE)
  assert.ok(challenge)
  const unreserved = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~')
  fc.assert(
    fc.property(fc.string({ unit: unreserved, minLength: 43, maxLength: 128 }), (text) => {
      const verifier = parseCodeVerifier(text)
      assert.ok(verifier)
      assert.equal(verifierMatches(verifier, challenge), text === VERIFIER)
    }),
  )
})

test('CODE-05: the challenge is not accepted as its own verifier, as it would be with plain', () => {
  const [verifier, challenge] = [parseCodeVerifier(CHALLENGE), parseCodeChallenge(CHALLENGE)]
  assert.ok(verifier !== undefined && challenge !== undefined)
  assert.equal(verifierMatches(verifier, challenge), false)
})

test('CODE-08: a verifier has 43 to 128 unreserved characters', () => {
  for (const length of [43, 44, 100, 128]) assert.ok(parseCodeVerifier('a~._-Z9'.repeat(20).slice(0, length)))
  const bodies = ['', 'a', 'a'.repeat(42), 'a'.repeat(129), 'a'.repeat(1_000_000)]
  for (const text of bodies) assert.equal(parseCodeVerifier(text), undefined)
  for (const illegal of [...'+/= %&\n\t\0é＋', '\u{1f600}'])
    for (const text of [illegal + 'a'.repeat(43), 'a'.repeat(43) + illegal])
      assert.equal(parseCodeVerifier(text), undefined, JSON.stringify(text))
})

test('AUTH-08: a challenge has exactly 43 characters of base64url', () => {
  assert.ok(parseCodeChallenge(CHALLENGE))
  const others = [
    '',
    CHALLENGE.slice(1),
    `${CHALLENGE}a`,
    `${CHALLENGE}=`,
    `${CHALLENGE.slice(1)}=`,
    `${CHALLENGE.slice(1)}+`,
    `${CHALLENGE.slice(1)}/`,
    `${CHALLENGE.slice(1)}~`,
    `${CHALLENGE.slice(1)}é`,
    `${CHALLENGE}\n`,
    `\n${CHALLENGE}`,
  ]
  for (const text of others) assert.equal(parseCodeChallenge(text), undefined, JSON.stringify(text))
})
