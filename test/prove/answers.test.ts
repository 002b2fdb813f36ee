import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAnswers, type Answer } from '../../prove/answers/compare.ts'

const TOKEN: Answer = {
  method: 'POST',
  url: '/v2/oauth/token',
  payload: 'grant_type=client_credentials',
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ access_token: jwt('one', { scope: 'read', at_hash: 'a' }), expires_in: 900 }),
}
const PAGE: Answer = {
  method: 'GET',
  url: '/v2/oauth/consent?authorization=1',
  payload: '',
  status: 200,
  headers: { 'content-type': 'text/html', 'content-length': '9', 'content-security-policy': "style-src 'sha256-a='" },
  body: '<style>a{}</style> <p>Allow</p>',
}

test('"prove answers" finds another status, header, member, claim, page and request, and nothing in keys and looks', () => {
  const claims = (kid: string, payload: object): Answer => ({
    ...TOKEN,
    body: JSON.stringify({ access_token: jwt(kid, payload), expires_in: 900 }),
  })
  for (const [one, other, kind, line] of [
    [TOKEN, claims('two', { scope: 'read', at_hash: 'b' }), 'equal', /: $/],
    [TOKEN, claims('one', { scope: 'write', at_hash: 'a' }), 'different', /member access_token .*read.* \| .*write/],
    [TOKEN, { ...TOKEN, body: '{"expires_in":900}' }, 'different', /member access_token .* \| none/],
    [TOKEN, { ...TOKEN, status: 400 }, 'different', /0 POST \/v2\/oauth\/token: status 200 \| 400$/],
    [TOKEN, { ...TOKEN, headers: { ...TOKEN.headers, vary: 'a' } }, 'different', /header vary none \| a$/],
    [TOKEN, { ...TOKEN, payload: '' }, 'different', /: request /],
    [
      PAGE,
      {
        ...PAGE,
        headers: { ...PAGE.headers, 'content-length': '7', 'content-security-policy': "style-src 'sha256-b='" },
        body: '<style>b{}</style><p> Allow</p>',
      },
      'appearance',
      /: $/,
    ],
    [PAGE, { ...PAGE, body: '<p>Deny</p>' }, 'text', /0 GET \/v2\/oauth\/consent: page .*Allow.* \| .*Deny/],
    [PAGE, { ...PAGE, body: '<p>Deny</p>', status: 400 }, 'different', /status 200 \| 400, page/],
  ] as const) {
    const [compared] = compareAnswers([one], [other])
    assert.equal(compared?.kind, kind)
    assert.match(compared.line, line)
  }
  assert.equal(compareAnswers([TOKEN], [])[0]?.kind, 'different')
})

function jwt(kid: string, payload: object): string {
  const parts = [{ alg: 'ES256', kid }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  return [...parts, `signature-${kid}`].join('.')
}
