import { setTimeout as delay } from 'node:timers/promises'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { findTask } from '../../src/admin/tasks.ts'
import { readConfig } from '../../src/config/config.ts'
import { openRuntime } from '../../src/server/context.ts'
import { replaceLeakedSecret } from '../../src/maintenance/rotate-secret.ts'
import { openPlatform } from '../../src/server/platform.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import {
  authorizeUrl,
  EMAIL,
  PASSWORD,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  signInAndAllow,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { signOut } from '../../tools/sign-out.ts'
import type { Findings } from '../findings.ts'
import { check, isActive, setRight, untilReady, type ClockNode } from './campaign.ts'

/** A clock that is wrong for some time and then right again, and what ends something. */
export interface Sequence {
  /** Ahead: the operation follows when the clock is right again. Behind: the operation is done meanwhile. */
  readonly direction: 'ahead' | 'behind'
  readonly seconds: number
  readonly operation: string
  readonly perform: (signedIn: SignedInUser) => Promise<unknown>
  readonly ends: readonly ('grant' | 'session' | 'key')[]
}

/** A store, with the node whose clock is wrong, and the node that issues while a clock is wrong on PostgreSQL. */
export interface SequencePlace {
  readonly store: string
  readonly wrong: ClockNode
  readonly right: ClockNode
  readonly settings: Settings
  /** Starts the nodes again with another root secret. */
  readonly reopen: (settings: Settings) => Promise<ClockNode>
}

type Settings = Readonly<Record<string, string>>

/** What an operation acts on. `run` performs a task as a command does, on a machine whose clock is ahead by that of the node. */
interface SignedInUser {
  readonly userId: string
  readonly issued: Issued
  readonly browser: PlainBrowser
  readonly run: (task: string, input: object) => Promise<unknown>
}

interface Issued {
  readonly client: RegisteredClient
  readonly tokens: Tokens
  readonly cookies: ReadonlyMap<string, string>
}

const AHEAD_MS = 20 * 60_000
/** A server with a SQLite file accepts a clock that ran steadily for ten seconds, and looks each second when it began and whether they are over. */
const ACCEPTED_AFTER_MS = 13_000
/** After `key rotate --now`, until no node signs with the former key. */
const SIGNING_AFTER_MS = 21_000
/** A node may keep the former state of a user or client for a second. */
const KNOWN_AFTER_MS = 2000
const ALL = ['grant', 'session'] as const

const OPERATIONS: readonly Pick<Sequence, 'operation' | 'perform' | 'ends'>[] = [
  {
    operation: 'user revoke-tokens',
    perform: ({ run, userId }) => run('user.revoke-tokens', { user_id: userId }),
    ends: ALL,
  },
  {
    operation: 'user disable, user enable',
    async perform({ run, userId }) {
      await run('user.disable', { user_id: userId })
      await run('user.enable', { user_id: userId })
    },
    ends: ALL,
  },
  {
    operation: 'user set-password',
    perform: ({ run, userId }) => run('user.set-password', { user_id: userId, password: PASSWORD }),
    ends: ALL,
  },
  {
    operation: 'client revoke-tokens',
    perform: ({ run, issued }) => run('client.revoke-tokens', { client_id: issued.client.client_id }),
    ends: ['grant'],
  },
  {
    operation: 'client delete',
    perform: ({ run, issued }) => run('client.delete', { client_id: issued.client.client_id }),
    ends: ['grant'],
  },
  {
    operation: 'token revoke-all',
    perform: ({ run }) => run('token.revoke-all', { confirm: 'everything' }),
    ends: ALL,
  },
  { operation: 'sign-out', perform: ({ browser }) => signOut(browser), ends: ['session'] },
  {
    operation: 'key rotate --now, key retire',
    async perform({ run, issued }) {
      await run('key.rotate', { now: true })
      await delay(SIGNING_AFTER_MS)
      await run('key.retire', { kid: keyOf(issued) })
    },
    ends: ['key'],
  },
]

/** The first operation after 5, 20 and 70 seconds of a clock that is ahead, the others after 20; and those that make no key with a clock that is behind. */
export const SEQUENCES: readonly Sequence[] = [
  ...OPERATIONS.flatMap((operation, index) =>
    (index === 0 ? [5, 20, 70] : [20]).map((seconds) => ({ ...operation, direction: 'ahead' as const, seconds })),
  ),
  // A clock that is behind makes no key: the last one has a later time.
  ...OPERATIONS.filter(({ ends }) => !ends.includes('key')).map((operation) => ({
    ...operation,
    direction: 'behind' as const,
    seconds: 5,
  })),
]

/**
 * What was issued before the operation must stay invalid, also when the right time has reached that of a clock that was ahead. Returns how
 * many sequences issued something. At the end the root secret is replaced as leaked.
 */
export async function proveSequences(
  place: SequencePlace,
  sequences: readonly Sequence[],
  findings: Findings,
): Promise<number> {
  let issuing = 0
  for (const sequence of sequences) {
    const { direction, operation } = sequence
    try {
      const isIssued = await (direction === 'ahead' ? proveAhead : proveBehind)(place, sequence, findings)
      if (isIssued) issuing += 1
    } catch (cause) {
      findings.report(`${place.store}, ${direction}, ${operation}: ${(cause as Error).message}`)
      await confirm(place.wrong, place.settings)
    }
  }
  if (sequences.length > 0) await proveLeak(place, findings)
  return issuing
}

async function proveAhead(place: SequencePlace, sequence: Sequence, findings: Findings): Promise<boolean> {
  const { store, wrong, right, settings } = place
  const title = `${store}, +20 min for ${sequence.seconds} s, back, clock confirm, ${sequence.operation}`
  const began = performance.now()
  wrong.setClock(AHEAD_MS)
  const holdMs = sequence.seconds * 1000
  await delay(Math.min(holdMs, ACCEPTED_AFTER_MS))
  const isOneClock = wrong === right
  const issued = isOneClock && holdMs < ACCEPTED_AFTER_MS ? undefined : await issue(right)
  await delay(Math.max(holdMs - (performance.now() - began), 0))
  await confirm(wrong, settings)
  if (issued === undefined) return false
  await end(place, sequence, issued, 0)
  await checkEnded(findings, title, right, sequence, issued)
  if (!isOneClock) return true
  wrong.setClock(AHEAD_MS + 2 * 60_000)
  await delay(ACCEPTED_AFTER_MS)
  await checkEnded(findings, `${title}, at +22 min`, right, sequence, issued)
  await confirm(wrong, settings)
  return true
}

async function proveBehind(place: SequencePlace, sequence: Sequence, findings: Findings): Promise<boolean> {
  const { store, wrong, right, settings } = place
  const title = `${store}, −20 min for ${sequence.seconds} s, clock confirm, ${sequence.operation}, right again`
  const issued = await issue(right)
  wrong.setClock(-AHEAD_MS)
  await delay(sequence.seconds * 1000)
  if (wrong === right) {
    // The operator is mistaken.
    await runAt(settings, -AHEAD_MS, 'clock.confirm', {})
    await untilReady(wrong)
  }
  await end(place, sequence, issued, -AHEAD_MS)
  await confirm(wrong, settings)
  await checkEnded(findings, title, right, sequence, issued)
  return true
}

/** The operation at the node whose clock was or is wrong, or by a command beside it. */
async function end({ wrong, settings }: SequencePlace, { perform }: Sequence, issued: Issued, aheadMs: number) {
  const { context, close } = await openAt(settings, 0)
  const user = await context.store.findUserByEmail(EMAIL)
  await close()
  const browser = new PlainBrowser(wrong.server)
  for (const [name, value] of issued.cookies) browser.cookies.set(name, value)
  await perform({
    userId: user?.id ?? '',
    issued,
    browser,
    run: (task, input) => runAt(settings, aheadMs, task, input),
  })
  await delay(KNOWN_AFTER_MS)
}

/** All that was issued ends, the audit stays whole, and the nodes issue again under the new secret. */
async function proveLeak(place: SequencePlace, findings: Findings): Promise<void> {
  const { store, wrong, right, settings } = place
  wrong.setClock(AHEAD_MS)
  await delay(ACCEPTED_AFTER_MS)
  const issued = await issue(right)
  await confirm(wrong, settings)
  const faultsBefore = await faultsOf(settings)
  check(findings, faultsBefore === '[]', `${store}: audit verify reports ${faultsBefore}`)
  const { GRANTOR_SECRET: former = '' } = settings
  const changing = { ...settings, GRANTOR_SECRET: `${former} that follows`, GRANTOR_SECRET_PREVIOUS: former }
  const { context, close } = await openAt(changing, -AHEAD_MS)
  await replaceLeakedSecret(context, readConfig(changing))
  await close()
  const changed = { ...settings, GRANTOR_SECRET: changing.GRANTOR_SECRET }
  const node = await place.reopen(changed)
  const title = `${store}, +20 min, back, secret rotate --leaked by a clock that is behind`
  const sequence = { ends: ['grant', 'session', 'key'] } as const
  await checkEnded(findings, title, node, sequence, issued)
  const fresh = await issue(node)
  check(findings, fresh.tokens.access_token !== undefined, `${title}: nothing is issued`)
  const faults = await faultsOf(changed)
  check(findings, faults === '[]', `${title}: audit verify reports ${faults}`)
}

async function faultsOf(settings: Settings): Promise<string> {
  const { faults } = (await runAt(settings, 0, 'audit.verify', {})) as { readonly faults: readonly unknown[] }
  return JSON.stringify(faults)
}

async function issue({ server }: ClockNode): Promise<Issued> {
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const code = (await signInAndAllow(browser, authorizeUrl(client))).searchParams.get('code') ?? ''
  return { client, tokens: (await redeem(server, client, code)).json<Tokens>(), cookies: browser.cookies }
}

async function checkEnded(
  findings: Findings,
  place: string,
  { server }: ClockNode,
  { ends }: Pick<Sequence, 'ends'>,
  issued: Issued,
): Promise<void> {
  const { client, tokens, cookies } = issued
  if (ends.includes('grant')) {
    const { statusCode } = await refresh(server, client, tokens.refresh_token ?? '')
    check(findings, [400, 401].includes(statusCode), `${place}: the refresh was answered ${statusCode}`)
  }
  if (ends.includes('session')) {
    const browser = new PlainBrowser(server)
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    const answer = await browser.get(authorizeUrl(client, { prompt: 'none' }))
    check(findings, !String(answer.headers['location']).includes('code='), `${place}: the session gave a code`)
  }
  if (ends.includes('key')) {
    const { body } = await server.inject({ method: 'GET', url: '/v2/oauth/jwks' })
    check(findings, !body.includes(keyOf(issued)), `${place}: the key is published`)
    if (ends.includes('grant')) return
    const isLive = await isActive(server, client, tokens.access_token)
    check(findings, !isLive, `${place}: a token of the key is active`)
  }
}

/** The key that signed the access token. */
function keyOf({ tokens }: Issued): string {
  const [header = ''] = tokens.access_token.split('.')
  return (JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid: string }).kid
}

/** Sets the clock right, which the operator confirms, and waits until the node issues again. */
async function confirm(node: ClockNode, settings: Settings): Promise<void> {
  node.setClock(0)
  await runAt(settings, 0, 'clock.confirm', {})
  await setRight(node)
}

/** Performs a task as a command does, beside the server, on a machine whose clock is ahead. */
async function runAt(settings: Settings, aheadMs: number, name: string, input: object): Promise<unknown> {
  const { context, close } = await openAt(settings, aheadMs)
  try {
    return await runTask(asAdministrator(context, COMMAND_LINE), findTask(name) ?? fail(name), { ...input }, String)
  } finally {
    await close()
  }
}

function openAt(settings: Settings, aheadMs: number) {
  const config = readConfig({ ...settings, LOG_LEVEL: 'silent' })
  return openRuntime(config, { ...openPlatform(config), clock: () => (Date.now() + aheadMs) as EpochMs })
}

function fail(name: string): never {
  throw new Error(`There is no task ${name}.`)
}
