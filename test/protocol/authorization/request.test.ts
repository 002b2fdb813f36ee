import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CHARACTER } from '../../support/arbitrary-texts.ts'
import {
  AUTHORIZATION_FAULTS,
  readAuthorizationRequest,
  readState,
  type AuthorizationRequest,
} from '../../../src/protocol/authorization/request.ts'
import { answerUri } from '../../../src/protocol/authorization/response.ts'
import { parseForm, type Parameters } from '../../../src/base/message.ts'
import { CHALLENGE } from '../../../tools/flow.ts'

const TERMS = { pkce: 'always', redirectUri: 'https://app.example/callback' } as const
const GOOD = { response_type: 'code', code_challenge: CHALLENGE, code_challenge_method: 'S256' }

test('a minimal request is accepted, without scope, resource, prompt or organization', () => {
  const { scope, resources, prompts, loginHint, organizationId } = accepted({})
  assert.deepEqual(
    { scope, resources, loginHint, organizationId },
    {
      scope: undefined,
      resources: [],
      loginHint: undefined,
      organizationId: undefined,
    },
  )
  assert.deepEqual([...prompts], [])
})

test('RFC 7636 §4.4.1, AUTH-06: a request without a challenge is refused as "code challenge required"', () => {
  for (const method of ['S256', 'plain', '']) {
    const reading = readAuthorizationRequest(parameters({ code_challenge: '', code_challenge_method: method }), TERMS)
    assert.deepEqual(reading, { kind: 'refused', error: 'invalid_request', reason: 'code_challenge_missing' })
  }
  assert.match(AUTHORIZATION_FAULTS.code_challenge_missing, /^code challenge required/)
})

test('RFC 6749 §4.1.2.1: every description has only characters that the RFC allows', () => {
  for (const text of Object.values(AUTHORIZATION_FAULTS)) assert.match(text, /^[\x20\x21\x23-\x5b\x5d-\x7e]+\.$/)
})

test('AUTH-07: only the method S256 is accepted, and a missing method is refused', () => {
  for (const method of ['', 'plain', 's256', 'S512', 'S256 plain']) {
    const reading = readAuthorizationRequest(parameters({ code_challenge_method: method }), TERMS)
    assert.deepEqual(reading, { kind: 'refused', error: 'invalid_request', reason: 'code_challenge_method_not_s256' })
  }
})

test('response_mode=query is accepted, because it is the default', () => {
  assert.ok(accepted({ response_mode: 'query' }))
})

test('RFC 8707 §2: resource may be repeated, and equal values count once', () => {
  const { resources } = accepted(
    {},
    '&resource=https://a.example&resource=https://b.example&resource=https://a.example',
  )
  assert.deepEqual(resources, ['https://a.example', 'https://b.example'])
})

test('AUTH-13: a request with one malformed resource or more than eight resources is refused', () => {
  assert.equal(refused({}, '&resource=https://a.example&resource=b'), 'invalid_target')
  assert.equal(refused({}, '&resource=https://a.example'.repeat(9)), 'invalid_target')
})

const PROMPTS: readonly (readonly [text: string, expected: readonly string[]])[] = [
  ['', []],
  ['none', ['none']],
  ['login', ['login']],
  ['consent', ['consent']],
  ['login consent', ['login', 'consent']],
  ['consent  login', ['login', 'consent']],
  ['select_account', ['login']],
  ['create', []],
  ['NONE', []],
]
test('OpenID Connect Core §3.1.2.1: prompt is a list whose unknown values are ignored', () => {
  for (const [prompt, expected] of PROMPTS) assert.deepEqual([...accepted({ prompt }).prompts], expected, prompt)
})

test('AUTH-16: prompt=none together with another value is refused', () => {
  for (const prompt of ['none login', 'login none', 'none none', 'none create', 'none  consent'])
    assert.equal(refused({ prompt }), 'invalid_request', prompt)
})

test('a long login_hint is cut off and not refused', () => {
  assert.equal(accepted({ login_hint: 'x'.repeat(1000) }).loginHint?.length, 254)
})

test('AUTH-12: a state of up to 4096 characters is kept, whatever it contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2000 }), (state) => {
      assert.equal(readState(parameters({ state })), state)
    }),
  )
  assert.equal(readState(parameters({ state: 'x'.repeat(4096) })), 'x'.repeat(4096))
  assert.equal(readState(parameters({ state: 'x'.repeat(4097) })), undefined)
  assert.equal(refused({ state: 'x'.repeat(4097) }), 'invalid_request')
})

test('AUTH-12: any state comes back in the response unchanged, and cannot inject another parameter', () => {
  fc.assert(
    fc.property(fc.string({ unit: CHARACTER, minLength: 1, maxLength: 200 }), (state) => {
      const wellFormed = state.toWellFormed()
      const uri = answerUri('https://app.example/cb', { kind: 'code', code: 'c' }, wellFormed, 'https://as.example')
      const { searchParams, hash } = new URL(uri)
      assert.deepEqual([...searchParams.keys()], ['code', 'state', 'iss'])
      assert.equal(searchParams.get('state'), wellFormed)
      assert.equal(hash, '')
      assert.match(uri, /^[\x21-\x7e]+$/)
    }),
  )
})

test('AUTH-12: no encoding of a state makes the response fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'%0123456789abcdefABCDEF+&=;ü'), maxLength: 60 }), (raw) => {
      const form = parseForm(`state=${raw}`)
      const state = form === undefined ? undefined : readState(form)
      assert.ok(
        answerUri(
          'https://app.example/cb',
          { kind: 'error', error: 'access_denied', description: 'Denied.' },
          state,
          'https://as.example',
        ),
      )
    }),
    { numRuns: 2000 },
  )
})

test('AUTH-23: the response is appended to the registered URI, which stays unchanged', () => {
  const cases = [
    ['https://h.example/cb', 'https://h.example/cb?code=c&iss=i'],
    ['https://h.example/cb?x=1', 'https://h.example/cb?x=1&code=c&iss=i'],
    ['https://h.example/cb?', 'https://h.example/cb?code=c&iss=i'],
    ['https://h.example/cb?x=1&', 'https://h.example/cb?x=1&code=c&iss=i'],
    ['https://h.example', 'https://h.example?code=c&iss=i'],
    ['https://h.example?x=%20', 'https://h.example?x=%20&code=c&iss=i'],
    ['http://[::1]:5/cb', 'http://[::1]:5/cb?code=c&iss=i'],
    ['com.example.app:/cb', 'com.example.app:/cb?code=c&iss=i'],
    ['cursor://x/cb?a', 'cursor://x/cb?a&code=c&iss=i'],
  ] as const
  for (const [registered, expected] of cases)
    assert.equal(answerUri(registered, { kind: 'code', code: 'c' }, undefined, 'i'), expected)
})

function parameters(differing: Readonly<Record<string, string>>, tail = ''): Parameters {
  const form = parseForm(new URLSearchParams({ ...GOOD, ...differing }).toString() + tail)
  assert.ok(form)
  return form
}

function accepted(differing: Readonly<Record<string, string>>, tail = ''): AuthorizationRequest {
  const reading = readAuthorizationRequest(parameters(differing, tail), TERMS)
  assert.equal(reading.kind, 'accepted')
  return reading.request
}

function refused(differing: Readonly<Record<string, string>>, tail = ''): string {
  const reading = readAuthorizationRequest(parameters(differing, tail), TERMS)
  assert.equal(reading.kind, 'refused')
  return reading.error
}
