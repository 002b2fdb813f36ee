import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test, type TestContext } from 'node:test'
import type { InjectOptions } from 'light-my-request'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  REDIRECT_URI,
  registerClient,
  requestToken,
  silentCodes,
  VERIFIER,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { credentialsOf, openAgent, post, postForm, type WireAnswer } from '../support/hosts/http-agent.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../support/server.ts'
import { selectAll } from '../support/store/dump.ts'
import { isActive } from '../support/token-questions.ts'
import { startChildServer } from './child-server.ts'

const ROUNDS = 3
const FAMILIES = 12
const REGISTRARS = 12
/** Responses in each round before the kill, at least and at most. */
const ANSWERS = [200, 500] as const

/** Long enough for a restart on a slow machine. */
const ENV = { GRANTOR_REFRESH_RETRY: '300', GRANTOR_REFRESH_COPIES: 'strict', GRANTOR_CODE_LIFETIME: '600' }
const AFTER_THE_WINDOW_MS = 301_000

/** What the test's clients know about the server: only its responses. */
interface Ledger {
  readonly registered: RegisteredClient[]
  readonly families: Family[]
  readonly codes: Code[]
}

interface Family {
  /** The successor in the last response. */
  live: string
  /** Presented, but without a response. */
  unanswered: boolean
  readonly spent: string[]
}

interface Code {
  readonly code: string
  state: 'fresh' | 'unanswered' | 'spent'
}

test('RT-19, CODE-12: whatever a server acknowledged before kill -9 is still true afterwards, and a retry recovers the rest', async (t) => {
  const folder = temporaryFolder(t)
  const { client, ledger } = await prepare(t, folder)
  const seed = Date.now() % 2 ** 31
  const random = seeded(seed)
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = await startChildServer(t, folder, ENV)
    const quota = ANSWERS[0] + Math.floor(random() * (ANSWERS[1] - ANSWERS[0]))
    await workUntilKilled(child, client, ledger, quota)
  }
  const { registered, families, codes } = ledger
  assert.ok(registered.length + families.reduce((sum, { spent }) => sum + spent.length, 0) >= ROUNDS * ANSWERS[0])
  t.diagnostic(
    `seed ${seed}: ${registered.length} clients; without an answer ${families.filter((one) => one.unanswered).length} refreshes, ${codes.filter(({ state }) => state === 'unanswered').length} codes`,
  )
  const server = await openTestServer(t, { folder, env: ENV })
  await checkClients(server, registered)
  await checkFamilies(server, client, families)
  await checkCodes(server, client, codes)
})

test('AG-15: a hold that was answered before kill -9 is there afterwards, and where there was no answer the family is whole', async (t) => {
  const folder = temporaryFolder(t)
  const server = await openTestServer(t, { folder })
  await createAda(server)
  const client = await registerClient(server)
  const codes = await silentCodes(server, client, FAMILIES)
  const families = await Promise.all(
    codes.map(async (code) => {
      const { refresh_token: first = '' } = (await redeem(server, client, code)).json<Tokens>()
      const { refresh_token: second = '' } = (await refresh(server, client, first)).json<Tokens>()
      const { refresh_token: newest = '' } = (await refresh(server, client, second)).json<Tokens>()
      return { first, newest }
    }),
  )
  await server.close()
  const child = await startChildServer(t, folder)
  // Elsewhere: every address of this machine is a network of its own.
  const agent = new Agent({ localAddress: '127.0.0.3' })
  const url = `${child.origin.replace('localhost', '127.0.0.1')}/v2/oauth/token`
  let killing: Promise<void> | undefined
  const answers = await Promise.all(
    families.map(async ({ first }) => {
      const form = { grant_type: 'refresh_token', refresh_token: first, ...credentialsOf(client) }
      const answer = await orUndefined(postForm(url, form, agent))
      if (answer !== undefined) killing ??= child.kill()
      return answer
    }),
  )
  await killing
  agent.destroy()
  const after = await openTestServer(t, { folder })
  assert.ok(answers.some((answer) => answer?.status === 400))
  const elsewhere = { inject: (one: InjectOptions) => after.inject({ ...one, remoteAddress: '127.0.0.3' }) }
  for (const [index, { newest }] of families.entries()) {
    if (answers[index] !== undefined) assert.equal(await isActive(after, client, newest), false)
    assert.equal((await refresh(elsewhere, client, newest)).statusCode, 200)
  }
})

/** A user’s consent, families to refresh and codes to redeem, created before the first kill. */
async function prepare(t: TestContext, folder: string): Promise<{ client: RegisteredClient; ledger: Ledger }> {
  const server = await openTestServer(t, { folder, env: ENV })
  await createAda(server)
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const page = await browser.get(locationOf(await browser.submit(signIn, { email: EMAIL, password: PASSWORD })))
  await browser.submit(page, { decision: 'allow' })
  const obtain = async (): Promise<string> => {
    const answer = await browser.get(authorizeUrl(client, { prompt: 'none' }))
    return new URL(locationOf(answer)).searchParams.get('code') ?? ''
  }
  const families = await Promise.all(
    Array.from({ length: FAMILIES }, async () => {
      const { refresh_token: live = '' } = (await redeem(server, client, await obtain())).json<Tokens>()
      return { live, unanswered: false, spent: [] }
    }),
  )
  const codes = await Promise.all(
    Array.from({ length: 90 }, async () => ({ code: await obtain(), state: 'fresh' as const })),
  )
  await server.close()
  return { client, ledger: { registered: [], families, codes } }
}

/** Clients work over connections that stay open until the server is killed while they work. */
async function workUntilKilled(
  child: Awaited<ReturnType<typeof startChildServer>>,
  client: RegisteredClient,
  ledger: Ledger,
  quota: number,
): Promise<void> {
  const agent = openAgent(100)
  const tokenUrl = `${child.origin}/v2/oauth/token`
  let answers = 0
  let killing: Promise<void> | undefined
  const count = (): void => {
    answers += 1
    if (answers >= quota) killing ??= child.kill()
  }
  const workers = [
    ...ledger.families.map((family) => refreshUntilKilled(family, client, tokenUrl, agent, count)),
    ...Array.from({ length: REGISTRARS }, () => registerUntilKilled(ledger, child.origin, agent, count)),
    redeemUntilKilled(ledger, client, tokenUrl, agent, count),
  ]
  await Promise.all(workers)
  await killing
  agent.destroy()
}

async function refreshUntilKilled(
  family: Family,
  client: RegisteredClient,
  url: string,
  agent: Agent,
  count: () => void,
): Promise<void> {
  for (;;) {
    const presented = family.live
    const form = { grant_type: 'refresh_token', refresh_token: presented, ...credentialsOf(client) }
    family.unanswered = true
    const answer = await orUndefined(postForm(url, form, agent))
    if (answer === undefined) return
    // RT-19: also the first request after a restart, which is a retry if the last response was lost.
    assert.equal(answer.status, 200, answer.body)
    family.unanswered = false
    family.spent.push(presented)
    family.live = (JSON.parse(answer.body) as Tokens).refresh_token ?? ''
    count()
  }
}

async function registerUntilKilled(ledger: Ledger, origin: string, agent: Agent, count: () => void): Promise<void> {
  const metadata = JSON.stringify({
    redirect_uris: [REDIRECT_URI],
    grant_types: ['client_credentials'],
    response_types: ['code'],
  })
  for (;;) {
    const headers = { 'content-type': 'application/json' }
    const answer = await orUndefined(post(`${origin}/v2/oauth/register`, metadata, { agent, headers }))
    if (answer === undefined) return
    assert.equal(answer.status, 201, answer.body)
    ledger.registered.push(JSON.parse(answer.body) as RegisteredClient)
    count()
  }
}

async function redeemUntilKilled(
  { codes }: Ledger,
  client: RegisteredClient,
  url: string,
  agent: Agent,
  count: () => void,
): Promise<void> {
  for (const one of codes.filter(({ state }) => state === 'fresh')) {
    one.state = 'unanswered'
    const form = { grant_type: 'authorization_code', code: one.code, code_verifier: VERIFIER, ...credentialsOf(client) }
    const answer = await orUndefined(postForm(url, form, agent))
    if (answer === undefined) return
    assert.equal(answer.status, 200, answer.body)
    one.state = 'spent'
    count()
  }
}

async function checkClients(server: TestServer, registered: readonly RegisteredClient[]): Promise<void> {
  assert.equal(new Set(registered.map(({ client_id }) => client_id)).size, registered.length)
  for (const client of registered) {
    const answer = await requestToken(server, client, { grant_type: 'client_credentials' })
    assert.equal(answer.statusCode, 200, `an acknowledged client is gone: ${answer.body}`)
  }
}

async function checkFamilies(server: TestServer, client: RegisteredClient, families: readonly Family[]): Promise<void> {
  const alive = (): unknown => selectAll(server, 'select count(*) as n from grants where revoked_at is null')[0]?.['n']
  for (const family of families) {
    const answer = await refresh(server, client, family.live)
    assert.equal(answer.statusCode, 200, `an acknowledged successor is inactive: ${answer.body}`)
    family.spent.push(family.live)
    family.live = answer.json<Tokens>().refresh_token ?? ''
  }
  const before = Number(alive())
  server.clock.advance(AFTER_THE_WINDOW_MS)
  for (const [index, { live, spent }] of families.entries()) {
    // Every second request presents the token before the last, the others any older one.
    const old = index % 2 === 0 ? spent.at(-1) : spent[Math.floor((spent.length - 1) / 2)]
    const answer = await refresh(server, client, old ?? '')
    assert.equal(answer.json().error, 'invalid_grant', 'a rotated token is valid again')
    assert.equal((await refresh(server, client, live)).json().error, 'invalid_grant')
  }
  assert.equal(Number(alive()), before - families.length)
}

async function checkCodes(server: TestServer, client: RegisteredClient, codes: readonly Code[]): Promise<void> {
  for (const { code, state } of codes) {
    const answer = await redeem(server, client, code)
    if (state === 'spent') assert.equal(answer.json().error, 'invalid_grant', 'a redeemed code is valid again')
    // A code without a response is either redeemed or still valid.
    else if (answer.statusCode !== 200) assert.equal(answer.json().error, 'invalid_grant')
    if (state === 'fresh') assert.equal(answer.statusCode, 200, answer.body)
  }
}

async function orUndefined(answer: Promise<WireAnswer>): Promise<WireAnswer | undefined> {
  try {
    return await answer
  } catch {
    return undefined
  }
}

/** Mulberry32: the times of the kills differ from run to run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
