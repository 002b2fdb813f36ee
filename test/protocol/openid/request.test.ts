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
    "id_token":{"email":null,"roles":null,"auth_time":{"essential":true},"sub":{"value":"gus_x"},"acr":{"values":["a"]}},"other":1}`
  const reading = read({ claims: text, nonce: 'n'.repeat(1024), max_age: '0', id_token_hint: 'h' })
  assert.deepEqual(reading, {
    nonce: 'n'.repeat(1024),
    maxAge: 0,
    idTokenHint: 'h',
    authentication: { acrValues: [], isEssential: false },
    claims: {
      scope: 'profile email',
      groups: ['roles'],
      idToken: ['email'],
      isAuthTimeEssential: true,
      acr: { acrValues: [], isEssential: false },
      subject: 'gus_x',
    },
  })
})

test('a request without any of the parameters', () => {
  const none = { scope: '', groups: [], idToken: [], isAuthTimeEssential: false, acr: undefined, subject: undefined }
  const absent = { nonce: undefined, maxAge: undefined, idTokenHint: undefined, authentication: undefined }
  assert.deepEqual(read({}), { ...absent, claims: none })
  assert.deepEqual((read(claims({ userinfo: null })) as { claims: unknown }).claims, none)
})

const ONE = 'urn:grantor:acr:1fa'
const TWO = 'urn:grantor:acr:2fa'
const wanted = (acr: object | null) => claims({ id_token: { acr } })

const ASKED: readonly (readonly [Readonly<Record<string, string>>, readonly string[], boolean])[] = [
  [{ max_age: '0' }, [], false],
  [{ max_age: '1000000000' }, [], false],
  [{ acr_values: 'gold 1 2' }, [], false],
  [{ acr_values: `phr ${TWO}` }, ['phr', TWO], false],
  [{ acr_values: `${TWO}  gold ${TWO} phr `.repeat(200) }, [TWO, 'phr'], false],
  [{ acr_values: 'PHR constructor __proto__' }, [], false],
  [wanted(null), [], false],
  [wanted({ essential: true }), [], false],
  [wanted({ value: TWO }), [TWO], false],
  [wanted({ essential: true, value: TWO }), [TWO], true],
  [wanted({ essential: true, values: ['gold', 'phr', 7, null, TWO] }), ['phr', TWO], true],
  [{ acr_values: ONE, ...wanted({ essential: true, value: 'phr' }) }, ['phr'], true],
  [{ acr_values: ONE, ...wanted({ values: ['phr', ONE] }) }, [ONE, 'phr'], false],
]

for (const [parameters, acrValues, isEssential] of ASKED) {
  const shown = JSON.stringify(parameters).slice(0, 70)
  test(`ACR-01, OpenID Connect Core §5.5.1.1: ${shown} asks for ${JSON.stringify(acrValues)}${isEssential ? ', and nothing less' : ''}`, () => {
    assert.deepEqual((read(parameters) as { authentication: unknown }).authentication, { acrValues, isEssential })
  })
}
