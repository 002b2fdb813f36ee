import { setTimeout as delay } from 'node:timers/promises'
import {
  authorizeUrl,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  postForm,
  signInAndAllow,
  type RequestTarget,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import type { Findings } from '../findings.ts'

/** A node whose clock can be set. */
export interface ClockNode {
  readonly name: string
  readonly server: RequestTarget
  /** Sets the wall clock ahead by the given time. 0: the clock is right. */
  readonly setClock: (aheadMs: number) => void
  /** Whether the node issues and deletes again. */
  readonly isReady: () => Promise<boolean>
  /** Stops the node properly and starts it again without waiting until it is ready. undefined: the node is not restarted. */
  readonly restart: (() => Promise<void>) | undefined
}

export interface ClockCampaign {
  readonly store: string
  readonly nodes: readonly ClockNode[]
  readonly steps: readonly ClockStep[]
  /** How long the clock of a running node is wrong, and how long that of a restarted node. */
  readonly holdMs: { readonly running: number; readonly restarted: number }
  /** The shortest time without issuing, if the node may accept a clock that runs steadily. */
  readonly followedAfterMs: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
export type ClockStep = readonly [name: string, stepMs: number]
export const STEPS: readonly ClockStep[] = [
  ['+20 min', 20 * MINUTE],
  ['−20 min', -20 * MINUTE],
  ['+25 h', 25 * HOUR],
  ['−25 h', -25 * HOUR],
  ['+120 d', 120 * DAY],
  ['−120 d', -120 * DAY],
  ['+10 y', 3652 * DAY],
  ['−10 y', -3652 * DAY],
]
/** If a clock is ahead by less than this at a start, the server may just have been stopped for that time. */
const PAUSE_LIMIT_MS = 100 * DAY
const PAUSE_MS = 250
const READY_LIMIT_MS = 30_000

/** The tokens, sessions and consents of clients and users, and a revoked token. */
interface Fixture {
  readonly client: RegisteredClient
  readonly live: string
  readonly revoked: string
  refreshToken: string
  readonly cookies: ReadonlyMap<string, string>
}

/**
 * Applies each step to the clock of each node, checks all nodes meanwhile, and sets the clock right again. Then repeats this
 * across a restart for nodes that can be restarted.
 */
export async function proveClocks(campaign: ClockCampaign, findings: Findings): Promise<void> {
  for (const [name, stepMs] of campaign.steps) {
    for (const node of campaign.nodes) {
      const others = campaign.nodes.filter((one) => one !== node)
      const place = `${campaign.store}, ${node.name}, ${name}`
      const fixture = await openFixture(node.server)
      node.setClock(stepMs)
      const { followedAfterMs, holdMs } = campaign
      await watch(findings, place, fixture, { node, others, holdMs: holdMs.running, silentMs: followedAfterMs })
      await setRight(node)
      await checkWhole(findings, `${place}, right again`, fixture, campaign.nodes)
      if (node.restart === undefined) continue
      node.setClock(stepMs)
      await node.restart()
      const mayHavePaused = stepMs > 0 && stepMs < PAUSE_LIMIT_MS
      const silentMs = mayHavePaused ? 0 : followedAfterMs
      await watch(findings, `${place}, started`, fixture, { node, others, holdMs: holdMs.restarted, silentMs })
      node.setClock(0)
      await node.restart()
      await setRight(node)
      await checkWhole(findings, `${place}, started right again`, fixture, campaign.nodes)
    }
  }
}

/** Sets the clock right, and waits until the node issues again. */
export async function setRight(node: ClockNode): Promise<void> {
  node.setClock(0)
  await untilReady(node)
}

/** @throws Error if the node is not ready within half a minute */
export async function untilReady(node: ClockNode): Promise<void> {
  const deadline = performance.now() + READY_LIMIT_MS
  while (!(await node.isReady())) {
    if (performance.now() > deadline) throw new Error(`${node.name} is not ready with its clock.`)
    await delay(PAUSE_MS)
  }
}

async function openFixture(server: RequestTarget): Promise<Fixture> {
  const client = await registerClient(server)
  const [live, revoked] = [await issue(server, client), await issue(server, client)]
  await revoke(server, client, revoked)
  const browser = new PlainBrowser(server)
  const code = (await signInAndAllow(browser, authorizeUrl(client))).searchParams.get('code') ?? ''
  const { refresh_token: refreshToken = '' } = (await redeem(server, client, code)).json<Tokens>()
  return { client, live, revoked, refreshToken, cookies: browser.cookies }
}

interface Watching {
  readonly node: ClockNode
  readonly others: readonly ClockNode[]
  readonly holdMs: number
  /** Until this time the node must not issue anything. */
  readonly silentMs: number
}

async function watch(findings: Findings, place: string, fixture: Fixture, watching: Watching): Promise<void> {
  const { node, others, holdMs, silentMs } = watching
  const began = performance.now()
  while (performance.now() - began < holdMs) {
    await checkRevoked(findings, place, fixture, [node, ...others])
    if (performance.now() - began + PAUSE_MS < silentMs) await checkSilent(findings, place, fixture, node)
    for (const other of others) await checkServing(findings, place, fixture, other, node)
    await delay(PAUSE_MS)
  }
}

async function checkRevoked(
  findings: Findings,
  place: string,
  fixture: Fixture,
  nodes: readonly ClockNode[],
): Promise<void> {
  for (const { name, server } of nodes) {
    const isLive = await isActive(server, fixture.client, fixture.revoked)
    check(findings, !isLive, `${place}: the revoked token is active at ${name}`)
  }
}

/** A node with a wrong clock must not issue anything. */
async function checkSilent(findings: Findings, place: string, fixture: Fixture, { server }: ClockNode): Promise<void> {
  const { client, cookies, refreshToken } = fixture
  const answers = {
    'a token': await requestToken(server, client, { grant_type: 'client_credentials' }),
    'a refresh': await refresh(server, client, refreshToken),
    'a code': await authorizeSilently(server, client, cookies),
  }
  for (const [what, { statusCode }] of Object.entries(answers))
    check(findings, statusCode === 503, `${place}: it answered ${statusCode} to the request for ${what}`)
}

/** A node with a right clock must continue to serve, and a token that it issued can be revoked at the node with the wrong clock. */
async function checkServing(
  findings: Findings,
  place: string,
  fixture: Fixture,
  { name, server }: ClockNode,
  wrong: ClockNode,
): Promise<void> {
  const { client, live } = fixture
  check(findings, await isActive(server, client, live), `${place}: a live token is inactive at ${name}`)
  const answer = await requestToken(server, client, { grant_type: 'client_credentials' })
  check(findings, answer.statusCode === 200, `${place}: ${name} answered ${answer.statusCode} to a request for a token`)
  if (answer.statusCode !== 200) return
  const { access_token: token } = answer.json<Tokens>()
  await revoke(wrong.server, client, token)
  check(
    findings,
    !(await isActive(server, client, token)),
    `${place}: a token that was revoked at the node with the wrong clock is active at ${name}`,
  )
}

/** Every node must still have the client, keys, session, consent and grant, and the revoked token must stay revoked. */
async function checkWhole(
  findings: Findings,
  place: string,
  fixture: Fixture,
  nodes: readonly ClockNode[],
): Promise<void> {
  const { client, live, cookies } = fixture
  await checkRevoked(findings, place, fixture, nodes)
  for (const { name, server } of nodes) {
    check(findings, await isActive(server, client, live), `${place}: the live token is inactive at ${name}`)
    const { headers, statusCode } = await authorizeSilently(server, client, cookies)
    const hasCode = statusCode === 303 && String(headers['location']).includes('code=')
    check(findings, hasCode, `${place}: the session or the consent is gone at ${name}`)
    const answer = await refresh(server, client, fixture.refreshToken)
    check(
      findings,
      answer.statusCode === 200,
      `${place}: the refresh token was answered ${answer.statusCode} at ${name}`,
    )
    if (answer.statusCode === 200) fixture.refreshToken = answer.json<Tokens>().refresh_token ?? ''
  }
}

async function issue(server: RequestTarget, client: RegisteredClient): Promise<string> {
  const answer = await requestToken(server, client, { grant_type: 'client_credentials' })
  if (answer.statusCode !== 200) throw new Error(`No token: ${answer.statusCode} ${answer.body}`)
  return answer.json<Tokens>().access_token
}

export async function isActive(server: RequestTarget, client: RegisteredClient, token: string): Promise<boolean> {
  const answer = await postForm(server, '/v2/oauth/introspect', { token, ...credentialsOf(client) })
  if (answer.statusCode !== 200) throw new Error(`Introspection was answered ${answer.statusCode} ${answer.body}`)
  return answer.json<{ readonly active: boolean }>().active
}

async function revoke(server: RequestTarget, client: RegisteredClient, token: string): Promise<void> {
  const { statusCode } = await postForm(server, '/v2/oauth/revoke', { token, ...credentialsOf(client) })
  if (statusCode !== 200) throw new Error(`A revocation was answered ${statusCode}.`)
}

function authorizeSilently(server: RequestTarget, client: RegisteredClient, cookies: ReadonlyMap<string, string>) {
  const browser = new PlainBrowser(server)
  for (const [name, value] of cookies) browser.cookies.set(name, value)
  return browser.get(authorizeUrl(client, { prompt: 'none' }))
}

function credentialsOf({ client_id, client_secret = '' }: RegisteredClient): Record<string, string> {
  return { client_id, client_secret }
}

/** Counts a check, and reports it if it failed. */
export function check(findings: Findings, isKept: boolean, violation: string): void {
  findings.operations += 1
  if (!isKept) findings.report(violation)
}
