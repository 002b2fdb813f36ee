import { setTimeout as delay } from 'node:timers/promises'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { findTask } from '../../src/admin/tasks.ts'
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
import { openStoreOf } from '../../tools/runtime.ts'
import type { Findings } from '../findings.ts'
import { check, setRight, type ClockNode } from './campaign.ts'

/** A clock that is ahead for some time and then right again, and what an operator does afterwards. */
export interface Sequence {
  readonly seconds: number
  readonly operation: string
  /** The tasks of the operation. */
  readonly tasks: (target: Target) => readonly (readonly [task: string, input: object])[]
  readonly endsSession: boolean
}

interface Target {
  readonly userId: string
  readonly clientId: string
}

const AHEAD_MS = 20 * 60_000
/** A server with a SQLite file accepts a clock that ran steadily for ten seconds. */
const ACCEPTED_AFTER_MS = 11_500

const OPERATIONS: readonly Omit<Sequence, 'seconds'>[] = [
  {
    operation: 'user revoke-tokens',
    tasks: ({ userId }) => [['user.revoke-tokens', { user_id: userId }]],
    endsSession: true,
  },
  {
    operation: 'user disable, user enable',
    tasks: ({ userId }) => [
      ['user.disable', { user_id: userId }],
      ['user.enable', { user_id: userId }],
    ],
    endsSession: true,
  },
  {
    operation: 'user set-password',
    tasks: ({ userId }) => [['user.set-password', { user_id: userId, password: PASSWORD }]],
    endsSession: true,
  },
  {
    operation: 'client revoke-tokens',
    tasks: ({ clientId }) => [['client.revoke-tokens', { client_id: clientId }]],
    endsSession: false,
  },
  {
    operation: 'client delete',
    tasks: ({ clientId }) => [['client.delete', { client_id: clientId }]],
    endsSession: false,
  },
  { operation: 'token revoke-all', tasks: () => [['token.revoke-all', { confirm: 'everything' }]], endsSession: true },
]

/** The first operation after 5, 20 and 70 seconds, and the others after 20. */
export const SEQUENCES: readonly Sequence[] = OPERATIONS.flatMap((operation, index) =>
  (index === 0 ? [5, 20, 70] : [20]).map((seconds) => ({ ...operation, seconds })),
)

/**
 * What was issued while the clock was ahead must stay invalid after a revocation, also when the right time has reached its time. Returns
 * how many sequences issued something.
 */
export async function proveSequences(
  node: ClockNode,
  settings: Readonly<Record<string, string>>,
  sequences: readonly Sequence[],
  findings: Findings,
): Promise<number> {
  let issuing = 0
  for (const sequence of sequences) {
    const place = `+20 min for ${sequence.seconds} s, back, clock confirm, ${sequence.operation}`
    const began = performance.now()
    node.setClock(AHEAD_MS)
    const holdMs = sequence.seconds * 1000
    await delay(Math.min(holdMs, ACCEPTED_AFTER_MS))
    const issued = holdMs < ACCEPTED_AFTER_MS ? undefined : await issue(node)
    await delay(Math.max(holdMs - (performance.now() - began), 0))
    node.setClock(0)
    await performAll(settings, [['clock.confirm', {}]])
    await setRight(node)
    if (issued === undefined) continue
    issuing += 1
    await performAll(settings, sequence.tasks({ userId: await userOf(settings), clientId: issued.client.client_id }))
    node.setClock(AHEAD_MS + 2 * 60_000)
    await delay(ACCEPTED_AFTER_MS)
    await checkEnded(findings, place, node, sequence, issued)
    node.setClock(0)
    await performAll(settings, [['clock.confirm', {}]])
    await setRight(node)
  }
  const { faults } = (await performAll(settings, [['audit.verify', {}]])) as { readonly faults: readonly unknown[] }
  check(findings, faults.length === 0, `audit verify reports ${JSON.stringify(faults)}`)
  return issuing
}

interface Issued {
  readonly client: RegisteredClient
  readonly tokens: Tokens
  readonly cookies: ReadonlyMap<string, string>
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
  { endsSession }: Sequence,
  { client, tokens, cookies }: Issued,
): Promise<void> {
  const refreshed = await refresh(server, client, tokens.refresh_token ?? '')
  check(
    findings,
    [400, 401].includes(refreshed.statusCode),
    `${place}: the refresh was answered ${refreshed.statusCode}`,
  )
  if (!endsSession) return
  const browser = new PlainBrowser(server)
  for (const [name, value] of cookies) browser.cookies.set(name, value)
  const answer = await browser.get(authorizeUrl(client, { prompt: 'none' }))
  check(findings, !String(answer.headers['location']).includes('code='), `${place}: the session gave a code`)
}

async function userOf(settings: Readonly<Record<string, string>>): Promise<string> {
  const { context, close } = await openStoreOf(settings)
  const user = await context.store.findUserByEmail(EMAIL)
  await close()
  return user?.id ?? ''
}

/** Performs tasks as commands do, beside the server. Returns the answer of the last one. */
async function performAll(
  settings: Readonly<Record<string, string>>,
  tasks: readonly (readonly [task: string, input: object])[],
): Promise<unknown> {
  const { context, close } = await openStoreOf(settings)
  let answer: unknown
  for (const [name, input] of tasks) {
    const task = findTask(name)
    if (task === undefined) throw new Error(`There is no task ${name}.`)
    answer = await runTask(asAdministrator(context, COMMAND_LINE), task, { ...input }, String)
  }
  await close()
  return answer
}
