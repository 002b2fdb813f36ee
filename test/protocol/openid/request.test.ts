import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseForm } from '../../../src/base/message.ts'
import { readOpenidRequest } from '../../../src/protocol/openid/request.ts'

function read(parameters: Readonly<Record<string, string>>): ReturnType<typeof readOpenidRequest> {
  const form = parseForm(new URLSearchParams(parameters).toString())
  assert.ok(form)
  return readOpenidRequest(form)
}

const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, null]))
const claims = (value: unknown) => ({ claims: JSON.stringify(value) })

const FAULTS: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
  [{ nonce: 'n'.repeat(1025) }, 'nonce_malformed'],
  [{ nonce: 'é' }, 'nonce_malformed'],
  [{ max_age: '-1' }, 'max_age_malformed'],
  [{ max_age: '1e3' }, 'max_age_malformed'],
  [{ max_age: '1000000001' }, 'max_age_malformed'],
  [{ id_token_hint: 'h'.repeat(8193) }, 'hint_too_long'],
  [{ claims: '{' }, 'claims_malformed'],
  [claims([]), 'claims_malformed'],
  [claims(null), 'claims_malformed'],
  [claims({ userinfo: [] }), 'claims_malformed'],
  [claims({ id_token: 'email' }), 'claims_malformed'],
  [claims({ userinfo: names(21), id_token: names(20) }), 'claims_malformed'],
  [{ claims: `{"userinfo":{"${'x'.repeat(4096)}":null}}` }, 'claims_malformed'],
  [claims({ id_token: { sub: { value: 1 } } }), 'claims_malformed'],
  [claims({ userinfo: { sub: { value: null } } }), 'claims_malformed'],
  [claims({ id_token: { sub: { value: 'gus_x' } }, userinfo: { sub: { value: 'gus_y' } } }), 'claims_malformed'],
  [claims({ id_token: { acr: { essential: true, value: 'gold' } } }), 'acr_unavailable'],
  [claims({ id_token: { acr: { essential: true, values: ['gold'] } } }), 'acr_unavailable'],
]

for (const [parameters, fault] of FAULTS) {
  test(`OP-10: ${fault} is the fault of ${JSON.stringify(parameters).slice(0, 60)}`, () => {
    assert.equal(read(parameters), fault)
  })
}

test('OpenID Connect Core §5.5: a claim counts as its scope, and unknown claims are ignored, whatever their names', () => {
  const text = `{"userinfo":{"given_name":{"essential":true},"__proto__":null,"constructor":{"a":[[[1]]]}},
    "id_token":{"email":null,"auth_time":{"essential":true},"sub":{"value":"gus_x"},"acr":{"values":["a"]}},"other":1}`
  const reading = read({ claims: text, nonce: 'n'.repeat(1024), max_age: '0', id_token_hint: 'h' })
  assert.deepEqual(reading, {
    nonce: 'n'.repeat(1024),
    maxAge: 0,
    idTokenHint: 'h',
    claims: { scope: 'profile email', idToken: ['email'], isAuthTimeEssential: true, subject: 'gus_x' },
  })
})

test('a request without any of the parameters', () => {
  const none = { scope: '', idToken: [], isAuthTimeEssential: false, subject: undefined }
  assert.deepEqual(read({}), { nonce: undefined, maxAge: undefined, idTokenHint: undefined, claims: none })
  assert.deepEqual((read(claims({ userinfo: null })) as { claims: unknown }).claims, none)
})
