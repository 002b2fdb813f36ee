import assert from 'node:assert/strict'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { requireTask } from '../../src/admin/tasks.ts'
import { MAXIMA } from '../../src/base/maxima.ts'
import { createUser } from '../../src/admin/user/user.ts'
import { issueIdToken, type LoginGrant } from '../../src/endpoints/openid/id-token.ts'
import type { ClientRecord } from '../../src/ports/records/client.ts'
import type { ClientId, SessionId } from '../../src/protocol/ids.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { findRuling, NEVER_MET } from '../../src/tokens/access-rules.ts'
import { number, readOptions, whole } from '../../tools/options.ts'
import { newSecret } from '../../tools/process/server.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { median, medianInterval } from '../../tools/statistics.ts'
import { fixed } from '../../tools/table.ts'

/**
 * What groups and access rules add. The groups of a user to the sign-in to an application: the processor time of an ID token of a client that reads
 * groups, less that of a client that does not, in turn. Access rules to each use of a grant: the processor time of `findRuling`. It ends with an
 * error if a median is above its gate, in microseconds.
 */

const LIMIT_MS = 10 * 60_000
/** So many requests a busy server answers in one turn (http/scheduler.ts). */
const TURN = 32
/** The cheapest signature, so that the claim is a large part of what is measured. */
const ALGORITHM = 'ES256'
/** Of a pair. The clock of the processor time has steps of a few milliseconds. */
const RULINGS = 64_000

const options = readOptions({
  groups: whole('groups of the user', 20, [0, 100]),
  tokens: whole('ID tokens of each client in a pair', 640, [TURN, 1e5]),
  pairs: whole('pairs', 100, [10, 1e4]),
  gate: number('the most microseconds that the groups may add', 6, [0, 1e6]),
  rules: whole('access rules of other clients', MAXIMA.accessRules.most - 1, [1, MAXIMA.accessRules.most - 1]),
  'gate-others': number('the most microseconds that rules of other clients may add', 1, [0, 1e6]),
  'gate-rule': number('the most microseconds that a rule of the client about the groups may add', 3, [0, 1e6]),
})
const { groups, tokens, pairs, gate, rules } = options
beginSession(LIMIT_MS)
const settings = { DATABASE_URL: `sqlite:${openFolder()}/grantor.db`, GRANTOR_SECRET: newSecret() }
const { context, close } = await openStoreOf(settings)
const { id: userId } = await createUser(context, { email: 'ada@bench.test', password: newSecret(), name: 'Ada' })
for (let index = 0; index < groups; index += 1) {
  const group_id = `department-${index}`
  await perform('group.create', { group_id })
  await perform('group.add-member', { group_id, user_id: userId })
}
const [without, reading] = [await makeClient('off'), await makeClient('groups')] as const
const grant: LoginGrant = {
  userId,
  organizationId: undefined,
  scope: 'openid groups' as Scope,
  stated: undefined,
  openid: {
    session: { rootId: newSecret() as SessionId, methods: ['pwd'], at: context.clock() },
    idTokenClaims: [],
  },
}
assert.equal(claimsIn(await issue(reading)).groups?.length, groups)
assert.equal(claimsIn(await issue(without)).groups, undefined)

await report(`${groups} groups add to an ID token`, gate, tokens, [() => issue(without), () => issue(reading)])

const access = { client: reading, userId, organizationId: undefined, scope: grant.scope, resources: [] }
const rule = () => findRuling(context, access, NEVER_MET)
const noRule = async (): Promise<undefined> => undefined
for (let index = 0; index < rules; index += 1)
  await perform('access-rule.create', {
    rule_id: `other-${index}`,
    clients: [without.id],
    groups: ['department-1'],
  })
await report(`${rules} access rules of other clients add`, options['gate-others'], RULINGS, [noRule, rule])
await perform('access-rule.create', { rule_id: 'own', clients: [reading.id], except_groups: ['department-0'] })
await report('A rule of the client, which a group excepts, adds', options['gate-rule'], RULINGS, [noRule, rule])
await close()

/** Says how many microseconds the second of two costs more than the first, each measured in turn. */
async function report(what: string, most: number, count: number, [less, more]: readonly [Work, Work]): Promise<void> {
  const added: number[] = []
  for (let pair = -10; pair < pairs; pair += 1) {
    const order = pair % 2 === 0 ? [less, more] : [more, less]
    const micros = new Map<Work, number>()
    for (const work of order) micros.set(work, await measure(work, count))
    // The first pairs warm up.
    if (pair >= 0) added.push((micros.get(more) ?? Number.NaN) - (micros.get(less) ?? Number.NaN))
  }
  const [low, high] = medianInterval(added)
  console.log(
    `${what} ${fixed(median(added), 2)} µs of processor time (95 % interval ${fixed(low, 2)} to ${fixed(high, 2)}; at most ${most}).`,
  )
  if (median(added) > most) process.exitCode = 1
}

type Work = () => Promise<unknown>

/** The processor time of this thread for one, in microseconds. */
async function measure(work: Work, times: number): Promise<number> {
  const before = process.threadCpuUsage()
  for (let done = 0; done < times; done += TURN) await Promise.all(Array.from({ length: TURN }, work))
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / (TURN * Math.ceil(times / TURN))
}

function issue(client: ClientRecord): Promise<string> {
  return issueIdToken(context, client, grant, { accessToken: 'gat_bench', at: context.clock(), nonce: undefined })
}

function claimsIn(token: string): { readonly groups?: readonly string[] } {
  const [, claims = ''] = token.split('.')
  return JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly groups?: readonly string[] }
}

async function makeClient(claim: 'off' | 'groups'): Promise<ClientRecord> {
  const { client_id: id } = await perform('client.create', {
    client_name: 'Bench',
    redirect_uris: ['https://app.example/callback'],
    id_token_signed_response_alg: ALGORITHM,
    rules: { groups: claim },
  })
  return (await context.store.findClient(id as ClientId)) ?? assert.fail()
}

async function perform(name: string, input: object): Promise<Readonly<Record<string, unknown>>> {
  return runTask(asAdministrator(context, COMMAND_LINE), requireTask(name), { ...input }, () => undefined)
}
