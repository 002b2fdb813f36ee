import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  EMAIL,
  obtainTokens,
  redeem,
  REDIRECT_URI,
  refresh,
  registerClient,
  type RequestTarget,
} from '../../../../tools/flow.ts'
import { obtainCodeFor } from '../../../support/apis.ts'
import { createAda } from '../../../support/accounts.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { lastLogged } from '../../../support/error-answer.ts'
import { scrape } from '../../../support/scraped.ts'
import { openTestServer, STRICT, type TestServer } from '../../../support/server.ts'
import { selectAll } from '../../../support/store/dump.ts'
import { perform, performOnUser } from '../../../support/tasks.ts'
import { aGrant, assertInvalidGrant, assertNothingHappens, tokensOf } from '../../../support/token-answers.ts'
import { introspect, isActive } from '../../../support/token-questions.ts'

/** Copies of a refresh token in several processes, and in other hands (decision 0054). */

const MINUTE = 60
const DAY = 24 * 60 * MINUTE
/** Addresses of one machine, each of which is a network of its own. */
const [HOME, OFFICE, THIEF] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const
const server = await openTestServer(WHOLE_FILE)
await createAda(server)

/** The server as it is reached from an address. */
function from(address: string, of: RequestTarget = server, headers: Readonly<Record<string, string>> = {}): TestServer {
  const inject: RequestTarget['inject'] = (request) =>
    of.inject({ ...request, remoteAddress: address, headers: { ...request.headers, ...headers } })
  return { ...server, inject }
}

/** After a wait of seconds the token of a generation is presented from a network. It gives the token of a generation, or a reason. */
type Step = readonly [wait: number, network: string, presented: number, outcome: number | string]

const TRACES: Readonly<Record<string, readonly Step[]>> = {
  'five processes refresh at once, and a sixth after 7:45 minutes (codex#46028)': [
    ...Array.from({ length: 5 }, (): Step => [0, HOME, 0, 1]),
    [465, HOME, 0, 1],
    [0, HOME, 1, 2],
  ],
  'a token of two generations ago, within the retry window and after it': [
    [0, HOME, 0, 1],
    [0, HOME, 1, 2],
    [0, HOME, 0, 2],
    [32, HOME, 0, 2],
    [0, HOME, 2, 3],
  ],
  'a session sleeps for two days while others go on (codex#6498)': [
    [0, HOME, 0, 1],
    ...[1, 2, 3, 4, 5, 6].map((generation): Step => [DAY / 3, HOME, generation, generation + 1]),
    [0, HOME, 0, 7],
  ],
  'a laptop goes to the office, where a sleeping copy is first, and then the newest': [
    [0, HOME, 0, 1],
    [DAY, OFFICE, 0, 'refresh_parted'],
    [1, OFFICE, 1, 2],
    [1, OFFICE, 0, 2],
  ],
  'a thief elsewhere is first: the victim ends what the thief has, and the next use of it ends the family': [
    [0, THIEF, 0, 1],
    [MINUTE, HOME, 0, 'refresh_parted'],
    [0, THIEF, 1, 'refresh_reused'],
    [0, HOME, 0, 'refresh_revoked'],
  ],
  'a thief elsewhere is second, and gets nothing': [
    [0, HOME, 0, 1],
    [0, HOME, 1, 2],
    [MINUTE, THIEF, 0, 'refresh_parted'],
    [0, THIEF, 1, 'refresh_parted'],
    [0, HOME, 2, 'refresh_reused'],
  ],
  'a thief who parts the family needs the newest token, and by its use parts it again': [
    [0, HOME, 0, 1],
    [MINUTE, THIEF, 0, 'refresh_parted'],
    [0, THIEF, 1, 2],
    [MINUTE, HOME, 1, 'refresh_parted'],
    [0, THIEF, 2, 'refresh_reused'],
  ],
  'a thief behind the same address gets the newest, and is found when the victim moves': [
    [0, HOME, 0, 1],
    [0, HOME, 1, 2],
    [MINUTE, HOME, 0, 2],
    [DAY, OFFICE, 2, 3],
    [MINUTE, HOME, 2, 'refresh_parted'],
    [0, OFFICE, 3, 'refresh_reused'],
  ],
  'a token of eight days ago gets nothing in the network of the newest, which ends the hold there': [
    [0, HOME, 0, 1],
    [8 * DAY, HOME, 0, 'refresh_parted'],
    [0, HOME, 1, 2],
    [0, HOME, 1, 2],
  ],
  'the previous token is repeated from anywhere, and within the window only': [
    [0, HOME, 0, 1],
    [29, OFFICE, 0, 1],
    [1, OFFICE, 0, 'refresh_parted'],
  ],
}

for (const [name, steps] of Object.entries(TRACES))
  test(`AG-02, AG-05, AG-06, AG-07, AG-08: ${name}`, async () => {
    const client = await registerClient(server, { token_endpoint_auth_method: 'none' })
    const { refresh_token: first = '' } = await obtainTokens(from(steps[0]?.[1] ?? HOME), client, { prompt: 'consent' })
    const tokens = [first]
    for (const [index, [wait, network, presented, outcome]] of steps.entries()) {
      server.clock.advance(wait * 1000)
      const answer = await refresh(from(network), client, tokens[presented] ?? '')
      if (typeof outcome === 'string') {
        assertInvalidGrant(answer)
        assert.equal(lastLogged(server)['reason'], outcome, `step ${index}`)
        continue
      }
      const { refresh_token: token = '' } = tokensOf(answer)
      assert.equal(token, (tokens[outcome] ??= token), `step ${index}`)
    }
    assert.equal(new Set(tokens).size, tokens.length)
  })

test('AG-05: while a family is held, nothing issued on it is active, and after the hold all of it is', async () => {
  const { client, token } = await aGrant(from(HOME), { scope: 'openid' })
  const { access_token: access, refresh_token: newest = '' } = tokensOf(await refresh(from(HOME), client, token))
  const userinfo = () =>
    server.inject({ method: 'GET', url: '/v2/oauth/userinfo', headers: { authorization: `Bearer ${access}` } })
  const active = async () => [await isActive(server, client, access), await isActive(server, client, newest)]
  assert.deepEqual([...(await active()), (await userinfo()).statusCode], [true, true, 200])
  server.clock.advance(MINUTE * 1000)
  assertInvalidGrant(await refresh(from(OFFICE), client, token))
  const { request_id } = lastLogged(server)
  const line =
    server
      .log()
      .trim()
      .split('\n')
      .findLast((one) => one.includes('"refresh-token.parted"')) ?? '{}'
  const parted = JSON.parse(line) as Readonly<Record<string, unknown>>
  assert.partialDeepStrictEqual(parted, { client: client.client_id, generation: 0, why: 'elsewhere', request_id })
  assert.equal(typeof parted['grant'], 'string')
  assert.deepEqual([...(await active()), (await userinfo()).statusCode], [false, false, 401])
  await introspect(server, client, access)
  assert.equal(lastLogged(server)['reason'], 'held')
  tokensOf(await refresh(from(OFFICE), client, newest))
  assert.deepEqual([await isActive(server, client, access), (await userinfo()).statusCode], [true, 200])
})

test('AG-02: an earlier token gets its own access token, narrowed as asked, without a commit, and the log says how far it was behind', async () => {
  const [api, other] = ['https://api.example', 'https://other.example']
  const client = await registerClient(server)
  const code = await obtainCodeFor(server, client, [api, other])
  const { refresh_token: first = '' } = tokensOf(await redeem(from(HOME), client, code))
  const second = tokensOf(await refresh(from(HOME), client, first))
  const third = tokensOf(await refresh(from(HOME), client, second.refresh_token ?? ''))
  const before = selectAll(server, 'select * from grants')
  const operations = async (): Promise<readonly unknown[]> =>
    (await scrape(server)).samples.filter(({ name }) => name === 'grantor_store_operations_total')
  const performed = await operations()
  const answer = tokensOf(await refresh(from(HOME), client, first, { resource: api, scope: 'read' }))
  assert.equal(answer.refresh_token, third.refresh_token)
  assert.equal(answer.scope, 'read')
  assert.notEqual(answer.access_token, third.access_token)
  assert.deepEqual(selectAll(server, 'select * from grants'), before)
  assert.partialDeepStrictEqual(lastLogged(server), { event: 'token.issued', earlier: 2 })
  assert.deepEqual(await operations(), performed)
  // A process that revokes its access token ends no other's.
  server.clock.advance(1)
  const again = tokensOf(await refresh(from(HOME), client, first, { resource: api, scope: 'read' }))
  assert.notEqual(decodeJwt(again.access_token).jti, decodeJwt(answer.access_token).jti)
})

test('AG-10: where the network of the caller is unknown, an earlier token ends the family', async (t) => {
  const trusting = await openTestServer(t, { env: { GRANTOR_TRUST_PROXY: '127.0.0.9' } })
  await createAda(trusting)
  const proxy = '127.0.0.9'
  const forOthers = await openTestServer(t, {
    env: { GRANTOR_ISSUER: 'https://as.example.com', GRANTOR_HOST: '127.0.0.1' },
  })
  await createAda(forOthers)
  const behind = (caller: string): TestServer => from(proxy, trusting, { 'x-forwarded-for': caller })
  const cases: readonly (readonly [name: string, target: TestServer, outcome: 200 | 400])[] = [
    ['a caller of its own address', from(HOME, trusting), 200],
    ['a caller who claims another address', from(HOME, trusting, { 'x-forwarded-for': '203.0.113.9' }), 400],
    ['a caller behind a trusted proxy', behind('203.0.113.9'), 200],
    ['one who claims an address before it', behind('198.51.100.7, 203.0.113.9'), 200],
    ['an address that cannot be read', behind('unknown'), 400],
    ['a trusted proxy that names no caller', from(proxy, trusting), 400],
    ['a trusted proxy that names nothing', behind(' , '), 400],
    ['a trusted proxy that names itself alone', behind(proxy), 400],
    ['a page of another site', from(HOME, trusting, { origin: 'https://elsewhere.example' }), 400],
    [
      'a page of an extension',
      from(HOME, trusting, { origin: 'chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb' }),
      400,
    ],
    ['a page of an app in a WebView', from(HOME, trusting, { origin: 'capacitor://localhost' }), 400],
    ['a page without an origin', from(HOME, trusting, { origin: 'null' }), 400],
    ['a page of the client', from(HOME, trusting, { origin: new URL(REDIRECT_URI).origin }), 200],
    ['a proxy on this machine that is not named and names no caller', from('127.0.0.1', forOthers), 400],
  ]
  const unknown: string[] = []
  for (const [name, target, outcome] of cases) {
    // Pages ask for tokens only.
    const grantee = name.includes('page') ? from(HOME, trusting) : target
    // The origin of an app's own scheme is `null`, too (URL Standard, origin of a URL).
    const redirects = { redirect_uris: [REDIRECT_URI, 'cursor://anysphere.cursor-mcp/oauth/callback'] }
    const { client, token } = await aGrant(grantee, { prompt: 'consent' }, redirects)
    const next = tokensOf(await refresh(target, client, token)).refresh_token ?? ''
    await refresh(target, client, next)
    assert.equal((await refresh(target, client, token)).statusCode, outcome, name)
    if (outcome === 400) unknown.push(name)
  }
  const said = [trusting, forOthers].flatMap(
    (one) => one.log().match(/"refresh-token.reused".*"why":"network-unknown"/g) ?? [],
  )
  assert.equal(said.length, unknown.length)
})

test('AG-11: a token whose generation or time is altered was not issued by this server', async () => {
  const { client, token } = await aGrant(from(HOME))
  await refresh(from(HOME), client, token)
  const place = 'grt_'.length + 34
  for (const at of [place + 5, place + 16]) {
    const altered = token.slice(0, at) + (token[at] === '0' ? '1' : '0') + token.slice(at + 1)
    await assertNothingHappens(server, () => refresh(from(HOME), client, altered))
    assert.equal(lastLogged(server)['reason'], 'refresh_unknown')
  }
})

test('AG-12: an earlier token of another client, for a wrong resource or of a disabled user changes nothing', async () => {
  const { client, token } = await aGrant(from(HOME))
  const next = tokensOf(await refresh(from(HOME), client, token)).refresh_token ?? ''
  await refresh(from(HOME), client, next)
  server.clock.advance(MINUTE * 1000)
  const thief = await registerClient(server)
  await assertNothingHappens(server, () => refresh(from(THIEF), thief, token))
  const before = selectAll(server, 'select held_for, revoked_at from grants')
  assert.equal((await refresh(from(THIEF), client, token, { resource: 'https://nowhere.example' })).statusCode, 400)
  await performOnUser(server.context, 'user.disable', EMAIL)
  assertInvalidGrant(await refresh(from(THIEF), client, token))
  assert.equal(lastLogged(server)['reason'], 'user_not_live')
  await performOnUser(server.context, 'user.enable', EMAIL)
  assert.deepEqual(selectAll(server, 'select held_for, revoked_at from grants'), before)
})

test('AG-17: the rule of a client comes before the setting, and a client of the operator that authenticates is strict', async (t) => {
  const strict = await openTestServer(t, { env: STRICT })
  await createAda(strict)
  const made = {
    client_name: 'Wiki',
    redirect_uris: ['https://app.example/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
  }
  const isPublic = { token_endpoint_auth_method: 'none' }
  const cases: readonly (readonly [of: TestServer, metadata: object | undefined, rule: object, outcome: 200 | 400])[] =
    [
      [server, undefined, {}, 200],
      [server, made, {}, 400],
      [server, made, { copies: 'network' }, 200],
      [server, { ...made, ...isPublic }, {}, 200],
      [server, { ...made, ...isPublic }, { copies: 'strict' }, 400],
      [strict, undefined, {}, 400],
      [strict, { ...made, ...isPublic }, { copies: 'network' }, 200],
    ]
  for (const [index, [of, metadata, rules, outcome]] of cases.entries()) {
    const target = from(HOME, of)
    const client =
      metadata === undefined
        ? await registerClient(of)
        : ((await perform(of.context, 'client.create', { ...metadata, rules })) as unknown as { client_id: string })
    const { refresh_token: first = '' } = await obtainTokens(target, client, { prompt: 'consent' })
    const { refresh_token: second = '' } = tokensOf(await refresh(target, client, first))
    await refresh(target, client, second)
    assert.equal((await refresh(target, client, first)).statusCode, outcome, `case ${index}`)
  }
})

test('AG-17: with GRANTOR_REFRESH_EARLIER=0 an earlier token parts its family, and GRANTOR_REFRESH_RETRY stays', async (t) => {
  const own = await openTestServer(t, { env: { GRANTOR_REFRESH_EARLIER: '0' } })
  await createAda(own)
  const { client, token } = await aGrant(from(HOME, own))
  const next = tokensOf(await refresh(from(HOME, own), client, token)).refresh_token ?? ''
  assert.equal(tokensOf(await refresh(from(HOME, own), client, token)).refresh_token, next)
  own.clock.advance(30_000)
  assertInvalidGrant(await refresh(from(HOME, own), client, token))
  assert.equal(lastLogged(own)['reason'], 'refresh_parted')
})

test('AG-18: a parting and its end are counted, and the network is nowhere to be read', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  const { client, token } = await aGrant(from(HOME, own))
  const newest = tokensOf(await refresh(from(HOME, own), client, token)).refresh_token ?? ''
  own.clock.advance(MINUTE * 1000)
  for (const presented of [token, token]) assertInvalidGrant(await refresh(from(OFFICE, own), client, presented))
  assertInvalidGrant(await refresh(from(HOME, own), client, newest))
  const { value } = await scrape(own)
  for (const [outcome, count] of Object.entries({ parted: 1, held: 1, reused: 1 }))
    assert.equal(value('grantor_store_operations_total', { operation: 'rotateRefreshToken', outcome }), count)
  for (const { network } of selectAll(own, 'select network from grants')) assert.match(String(network), /^[\w-]{8}$/)
})
