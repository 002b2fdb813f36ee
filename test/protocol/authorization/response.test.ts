import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answerUri } from '../../../src/protocol/authorization/response.ts'

const ISSUER = 'https://auth.test'

test('RFC 6749 §4.1.2: the response is appended to the query of the registered URI', () => {
  const code = { kind: 'code', code: 'c' } as const
  const iss = 'iss=https%3A%2F%2Fauth.test'
  const cases: readonly (readonly [redirectUri: string, expected: string])[] = [
    ['https://app.test/cb', `https://app.test/cb?code=c&state=s&${iss}`],
    ['https://app.test', `https://app.test?code=c&state=s&${iss}`],
    ['https://app.test/cb?x=1', `https://app.test/cb?x=1&code=c&state=s&${iss}`],
    ['https://app.test/cb?', `https://app.test/cb?code=c&state=s&${iss}`],
    ['https://app.test/cb?x=1&', `https://app.test/cb?x=1&code=c&state=s&${iss}`],
    ['https://app.test/cb?next=/a?', `https://app.test/cb?next=/a?&code=c&state=s&${iss}`],
    ['https://app.test/cb??', `https://app.test/cb??&code=c&state=s&${iss}`],
    ['com.example.app:/cb?x=?', `com.example.app:/cb?x=?&code=c&state=s&${iss}`],
    [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      `cursor://anysphere.cursor-mcp/oauth/callback?code=c&state=s&${iss}`,
    ],
    ['com.example.app:/cb', `com.example.app:/cb?code=c&state=s&${iss}`],
  ]
  for (const [redirectUri, expected] of cases) assert.equal(answerUri(redirectUri, code, 's', ISSUER), expected)
})

test('RFC 9207 §2: every response has iss exactly once, and state only if the request had it', () => {
  const error = new URL(
    answerUri(
      'https://app.test/cb',
      { kind: 'error', error: 'access_denied', description: 'The person denied it.' },
      undefined,
      ISSUER,
    ),
  )
  assert.deepEqual(
    [...error.searchParams],
    [
      ['error', 'access_denied'],
      ['error_description', 'The person denied it.'],
      ['iss', ISSUER],
    ],
  )
})

test('any state comes back unchanged and adds no parameter', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (state) => {
      const url = new URL(answerUri('https://app.test/cb?x=1', { kind: 'code', code: 'c' }, state, ISSUER))
      assert.equal(url.searchParams.get('state'), state)
      assert.equal(url.searchParams.size, 4)
      assert.equal(url.hash, '')
    }),
  )
})

test('RFC 6749 §4.1.2: the parameters of any registered query stay, and those of the response follow them', () => {
  const queries = fc.string({ unit: fc.constantFrom(...'ab=&?/%41+.'), maxLength: 12 })
  const property = fc.property(queries, (query) => {
    const registered = `https://app.test/cb?${query}`
    const before = [...new URL(registered).searchParams]
    const answer = new URL(answerUri(registered, { kind: 'code', code: 'c' }, 's', ISSUER))
    const added = [
      ['code', 'c'],
      ['state', 's'],
      ['iss', ISSUER],
    ]
    assert.deepEqual([...answer.searchParams], [...before, ...added], registered)
  })
  fc.assert(property, { numRuns: 2000 })
})
