import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose'
import { keepKeys, listKeys, retireKey, rotateKeys } from '../../src/admin/key/key.ts'
import type { AccessTokenClaims } from '../../src/protocol/token/access-token.ts'
import { ID_TOKEN_ALGORITHMS, type IdTokenAlgorithm, type IdTokenClaims } from '../../src/protocol/openid/id-token.ts'
import { openStillClocks } from '../support/clocks.ts'
import { openTestServer, type TestServer } from '../support/server.ts'

const DAY = 24 * 60 * 60 * 1000
const CLAIMS = { iss: 'x', aud: 'gci_a', sub: 'gus_b', iat: 1, exp: 2, sid: 's' }

async function sign({ context }: TestServer, algorithm: IdTokenAlgorithm): Promise<string> {
  await context.keys.ensureIdTokenKey(algorithm)
  return context.tokens.signIdToken(JSON.stringify(CLAIMS) as IdTokenClaims, algorithm)
}

async function keySet(server: TestServer): Promise<ReturnType<typeof createLocalJWKSet>> {
  const answer = await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })
  return createLocalJWKSet(answer.json<JSONWebKeySet>())
}

test('OP-02, OP-14: the first ID token of each algorithm is signed at once, by a published key of its own', async (t) => {
  const server = await openTestServer(t)
  await assert.rejects(
    server.context.tokens.signIdToken('{}' as IdTokenClaims, 'RS256'),
    /No RS256 key signs ID tokens/,
  )
  for (const algorithm of ID_TOKEN_ALGORITHMS) {
    const tokens = await Promise.all([sign(server, algorithm), sign(server, algorithm)])
    for (const token of tokens) {
      const { protectedHeader } = await jwtVerify(token, await keySet(server), { currentDate: new Date(0) })
      assert.deepEqual({ ...protectedHeader, kid: '' }, { alg: algorithm, typ: 'JWT', kid: '' })
    }
  }
  const lines = (await listKeys(server.context)).map(
    ({ purpose, algorithm, state }) => `${purpose} ${algorithm} ${state}`,
  )
  assert.deepEqual(lines.toSorted(), [
    'access ES256 signing',
    'id ES256 signing',
    'id EdDSA signing',
    'id RS256 signing',
  ])
})

test('OP-03: an ID token is not read as an access token, and an access token of either type not as an ID token', async (t) => {
  const server = await openTestServer(t)
  const { tokens, tokenReader } = server.context
  const idToken = await sign(server, 'ES256')
  assert.equal(await tokenReader.readIdToken(idToken), JSON.stringify(CLAIMS))
  assert.equal(await tokenReader.read(idToken), undefined)
  for (const type of ['at+jwt', 'JWT'] as const) {
    const token = await tokens.sign(JSON.stringify(CLAIMS) as AccessTokenClaims, undefined, type)
    assert.equal(await tokenReader.readIdToken(token), undefined)
  }
  const { kid } = decodeProtectedHeader(idToken)
  for (const header of [
    { alg: 'none', typ: 'JWT', kid },
    { alg: 'ES256', typ: 'at+jwt', kid },
    { alg: 'ES256', kid },
  ]) {
    const [, claims = '', signature = ''] = idToken.split('.')
    const forged = Buffer.from(JSON.stringify(header)).toString('base64url')
    assert.equal(await tokenReader.readIdToken(`${forged}.${claims}.${signature}`), undefined)
  }
})

test('the keys for ID tokens rotate automatically, and a replaced one is withdrawn when its tokens have expired', async (t) => {
  const [clock] = openStillClocks([0])
  const server = await openTestServer(t, { clock })
  clock.advance(1)
  const first = decodeProtectedHeader(await sign(server, 'EdDSA')).kid
  clock.advance(29 * DAY)
  for (let call = 0; call < 2; call += 1) await keepKeys(server.context)
  clock.advance(2000)
  assert.equal(decodeProtectedHeader(await sign(server, 'EdDSA')).kid, first)
  clock.advance(DAY)
  const second = decodeProtectedHeader(await sign(server, 'EdDSA')).kid
  assert.notEqual(second, first)
  clock.advance(DAY + DAY / 24)
  assert.ok((await keepKeys(server.context)).withdrawn.some((id) => id === first))
  const kids = (await listKeys(server.context)).map(({ id }) => id)
  assert.deepEqual([kids.some((id) => id === first), kids.some((id) => id === second)], [false, true])
})

test('an operator rotates and withdraws a key for ID tokens, which no key for access tokens can replace', async (t) => {
  const [clock] = openStillClocks([0])
  const server = await openTestServer(t, { clock })
  clock.advance(1)
  const token = await sign(server, 'ES256')
  const { kid = '' } = decodeProtectedHeader(token)
  await assert.rejects(retireKey(server.context, kid), /grantor key rotate --now --purpose id --algorithm ES256/)
  clock.advance(DAY)
  const next = await rotateKeys(server.context, { when: 'now', purpose: 'id', algorithm: 'ES256' })
  clock.advance(31_000)
  assert.equal(decodeProtectedHeader(await sign(server, 'ES256')).kid, next.id)
  assert.equal(await retireKey(server.context, kid), kid)
  clock.advance(2000)
  assert.equal(await server.context.tokenReader.readIdToken(token), undefined)
  const input = { when: 'published', purpose: 'id', algorithm: undefined } as const
  await assert.rejects(rotateKeys(server.context, input), /No key signs ID tokens with RS256 yet/)
  await keySet(server)
  clock.advance(1)
  const usual = await rotateKeys(server.context, input)
  assert.deepEqual([usual.purpose, usual.algorithm], ['id', 'RS256'])
})
