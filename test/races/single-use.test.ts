import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  obtainCode,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  redeem,
  REDIRECT_URI,
  refresh,
  registerClient,
  silentCodes,
  VERIFIER,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'
import { openTestServer, STRICT, type TestServer } from '../support/server.ts'
import { selectAll } from '../support/store/dump.ts'
import { credentialsOf, openAgent, postForm, type WireAnswer } from '../support/hosts/http-agent.ts'

const PARALLEL = 200

test('CODE-02: of two hundred redemptions of one code over the wire exactly one gets tokens', async (t) => {
  const { server, client } = await open(t)
  const code = await obtainCode(server, client)
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER }
  const answers = await parallel(t, server, { ...form, ...credentialsOf(client) })
  const winners = answers.filter(({ status }) => status === 200)
  assert.equal(winners.length, 1)
  for (const { status, body } of answers.filter((answer) => !winners.includes(answer))) {
    assert.equal(status, 400, body)
    assert.equal(JSON.parse(body).error, 'invalid_grant')
  }
  // RFC 6749 §4.1.2: the other requests were replays, so the winner's grant is revoked, and there is no second grant.
  const grants = selectAll(server, 'select grant_id, revoked_at from grants')
  const { access_token: access, refresh_token: token = '' } = JSON.parse(winners[0]?.body ?? '') as Tokens
  assert.deepEqual(
    grants.map((row) => row['grant_id']),
    [decodeJwt(access)['grant_id']],
  )
  assert.ok(grants[0]?.['revoked_at'])
  assert.equal((await refresh(server, client, token)).json().error, 'invalid_grant')
})

test('CODE-02: of two hundred different codes redeemed at once every one gets tokens', async (t) => {
  const { server, client } = await open(t)
  const codes = await silentCodes(server, client, PARALLEL)
  const answers = await Promise.all(codes.map((code) => redeem(server, client, code)))
  assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]))
  assert.equal(new Set(answers.map((answer) => answer.json<Tokens>().refresh_token)).size, PARALLEL)
})

test('RT-03: two hundred refreshes with one token over the wire all get the same successor and the same jti', async (t) => {
  const { server, client } = await open(t)
  const { refresh_token: token = '' } = await obtainTokens(server, client)
  let live = token
  for (let round = 0; round < 3; round += 1) {
    const form = { grant_type: 'refresh_token', refresh_token: live, ...credentialsOf(client) }
    const answers = await parallel(t, server, form)
    for (const { status, body } of answers) assert.equal(status, 200, body)
    const tokens = answers.map(({ body }) => JSON.parse(body) as Tokens)
    assert.equal(new Set(tokens.map((one) => one.refresh_token)).size, 1)
    assert.equal(new Set(tokens.map((one) => decodeJwt(one.access_token).jti)).size, 1)
    const rows = selectAll(server, 'select generation, revoked_at from grants')
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ generation: round + 1, revoked_at: null }],
    )
    live = tokens[0]?.refresh_token ?? ''
  }
  assert.equal((await refresh(server, client, live)).statusCode, 200)
})

test('AG-03: three generations that are presented at once in one network get the newest token or its one successor', async (t) => {
  const { server, client } = await open(t)
  const { refresh_token: first = '' } = await obtainTokens(server, client)
  const { refresh_token: second = '' } = (await refresh(server, client, first)).json<Tokens>()
  const { refresh_token: third = '' } = (await refresh(server, client, second)).json<Tokens>()
  const agent = openAgent(PARALLEL)
  t.after(() => agent.destroy())
  const answers = await Promise.all(
    Array.from({ length: PARALLEL }, (_, index) => {
      const presented = [first, second, third][index % 3] ?? ''
      const form = { grant_type: 'refresh_token', refresh_token: presented, ...credentialsOf(client) }
      return postForm(`${server.origin}/v2/oauth/token`, form, agent)
    }),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const given = new Set(answers.map(({ body }) => (JSON.parse(body) as Tokens).refresh_token ?? ''))
  assert.ok(given.size <= 2 && [...given].filter((token) => token !== third).length === 1, String(given.size))
  const [row] = selectAll(server, 'select generation, held_for, revoked_at from grants')
  assert.deepEqual({ ...row }, { generation: 3, held_for: null, revoked_at: null })
})

test('RT-03: when two generations are presented at once the family is revoked, and all its tokens are inactive', async (t) => {
  const { server, client } = await open(t, STRICT)
  const { refresh_token: first = '' } = await obtainTokens(server, client)
  const { refresh_token: second = '' } = (await refresh(server, client, first)).json<Tokens>()
  const { refresh_token: third = '' } = (await refresh(server, client, second)).json<Tokens>()
  const agent = openAgent(PARALLEL)
  t.after(() => agent.destroy())
  const answers = await Promise.all(
    Array.from({ length: PARALLEL }, (_, index) => {
      const presented = [first, second, third][index % 3] ?? ''
      const form = { grant_type: 'refresh_token', refresh_token: presented, ...credentialsOf(client) }
      return postForm(`${server.origin}/v2/oauth/token`, form, agent)
    }),
  )
  const successors = new Set(
    answers.filter(({ status }) => status === 200).map(({ body }) => (JSON.parse(body) as Tokens).refresh_token ?? ''),
  )
  assert.ok(selectAll(server, 'select revoked_at from grants')[0]?.['revoked_at'])
  for (const inactive of [first, second, third, ...successors])
    assert.equal((await refresh(server, client, inactive)).json().error, 'invalid_grant')
})

test('CODE-01: a replay of a code concurrent with refreshes of its tokens leaves no token active', async (t) => {
  const { server, client } = await open(t)
  const agent = openAgent(64)
  t.after(() => agent.destroy())
  for (let round = 0; round < 5; round += 1) {
    const code = await obtainCode(server, client, { prompt: 'consent' })
    const { refresh_token: token = '' } = (await redeem(server, client, code)).json<Tokens>()
    const replay = { grant_type: 'authorization_code', code, code_verifier: VERIFIER, ...credentialsOf(client) }
    const use = { grant_type: 'refresh_token', refresh_token: token, ...credentialsOf(client) }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        postForm(`${server.origin}/v2/oauth/token`, index === 10 ? replay : use, agent),
      ),
    )
    assert.equal(answers[10]?.status, 400)
    const given = answers.filter(({ status }) => status === 200).map(({ body }) => JSON.parse(body) as Tokens)
    for (const inactive of [token, ...given.map((one) => one.refresh_token ?? '')])
      assert.equal((await refresh(server, client, inactive)).json().error, 'invalid_grant')
  }
})

test('UI-03: twenty concurrent answers to one consent over the wire make one decision, and approvals of it one code', async (t) => {
  const { server, client } = await open(t)
  const agent = openAgent(20)
  t.after(() => agent.destroy())
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const page = await browser.get(locationOf(await browser.submit(signIn, { email: EMAIL, password: PASSWORD })))
  const cookie = browser.cookieHeader
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const form = { ...hiddenFields(page), decision: index % 5 === 4 ? 'deny' : 'allow' }
      return postForm(`${server.origin}/v2/oauth/consent`, form, agent, { cookie })
    }),
  )
  const redirects = answers.filter(({ status }) => status === 303)
  assert.equal(new Set(redirects.map(({ headers }) => headers['location'])).size, 1)
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([303, 409]))
  const rows = selectAll(server, 'select status from authorizations')
  const hasCode = new URL(String(redirects[0]?.headers['location'])).searchParams.has('code')
  assert.deepEqual(
    rows.map((row) => row['status']),
    [hasCode ? 'approved' : 'denied'],
  )
})

test('CODE-02, RT-03: two servers on one database agree on which request was first', async (t) => {
  const hooks = lastFirst(t)
  const env = await openNodeSettings(hooks)
  const one = await openTestServer(hooks, { env })
  const two = await openTestServer(hooks, { env, clock: one.clock })
  await createAda(one)
  const client = await registerClient(one)
  const { refresh_token: token = '' } = await obtainTokens(one, client)
  for (let round = 0; round < 3; round += 1) {
    const code = await obtainCode(one, client, { prompt: 'consent' })
    const redemptions = await Promise.all(alternating(one, two, (server) => redeem(server, client, code)))
    const statuses = redemptions.map(({ statusCode }) => statusCode)
    assert.deepEqual(
      [...new Set(statuses)].toSorted((left, right) => left - right),
      [200, 400],
    )
    assert.equal(statuses.filter((status) => status === 200).length, 1)
  }
  const refreshes = await Promise.all(alternating(one, two, (server) => refresh(server, client, token)))
  const successors = refreshes.map((answer) => {
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json<Tokens>().refresh_token ?? ''
  })
  assert.equal(new Set(successors).size, 1)
  assert.equal((await refresh(two, client, successors[0] ?? '')).statusCode, 200)
})

function alternating<T>(one: TestServer, two: TestServer, act: (server: TestServer) => Promise<T>): Promise<T>[] {
  return Array.from({ length: 40 }, (_, index) => act(index % 2 === 0 ? one : two))
}

/** Runs hooks in reverse order, because later resources depend on earlier ones. */
function lastFirst(t: TestContext): Pick<TestContext, 'after'> {
  const ends: (() => unknown)[] = []
  t.after(async () => {
    for (const end of ends.toReversed()) await end()
  })
  return { after: (end) => void ends.push(end as () => unknown) }
}

async function open(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
): Promise<{ server: TestServer; client: RegisteredClient }> {
  const server = await openTestServer(t, { listen: true, env })
  await createAda(server)
  return { server, client: await registerClient(server) }
}

/** Sends the same form two hundred times at once, each over its own connection. */
async function parallel(
  t: TestContext,
  server: TestServer,
  form: Readonly<Record<string, string>>,
): Promise<readonly WireAnswer[]> {
  const agent = openAgent(PARALLEL)
  t.after(() => agent.destroy())
  const url = `${server.origin}/v2/oauth/token`
  return Promise.all(Array.from({ length: PARALLEL }, () => postForm(url, form, agent)))
}
