import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createUser } from '../../src/admin/user/user.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { Context } from '../../src/ports/context.ts'
import type { GroupId } from '../../src/protocol/access/group.ts'
import type { RuleId } from '../../src/protocol/access/rule.ts'
import { mintOrganizationId, type ClientId } from '../../src/protocol/ids.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { registerClient } from '../../tools/flow.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { formBody, receive } from '../../tools/send.ts'
import { isLinearizable, type Model, type Operation } from '../cluster/linearizable.ts'
import type { Campaign } from './campaign.ts'

/** What a node reads of a user and of rules may be so old (docs/faults.md). */
const STALE_MS = 1000
/** Between two changes of the membership. */
const CHANGE_MS = 400
const CHANGES = 4
/** Between two introspections at one node. */
const PAUSE_MS = 60

/** A member is added to the group of a rule, or removed, or a token is introspected, which is active for members alone. */
type Input = 'add' | 'remove' | 'introspect'
type MembershipOperation = Operation<Input, boolean>

/** Whether the user is in the group. An introspection says it. */
export const MEMBERSHIP: Model<boolean, Input, boolean> = {
  initial: true,
  step: (isMember, { input, output }) => {
    if (input === 'introspect') return output === undefined || output === isMember ? isMember : undefined
    return input === 'add'
  },
  describe: String,
  isIdleForGood: ({ input }) => input === 'introspect',
}

/**
 * A user is added to a group and removed from it beside the nodes, while each node introspects a token that an access rule takes from all others. A
 * node may answer as it was a second ago, and never as it was before that.
 */
export async function membershipRounds({ cluster, findings }: Campaign, rounds: number): Promise<void> {
  const { context, close } = await openStoreOf(cluster.settings)
  const { store, clock } = context
  const groupId = 'proved' as GroupId
  await store.createGroup({
    id: groupId,
    organizationId: undefined,
    name: 'Proved',
    isProtected: false,
    createdAt: clock(),
  })
  const lane = await openLane(cluster, context)
  const any = { only: [], except: [] }
  const rule = {
    id: 'proved' as RuleId,
    clients: { only: [`client:${lane.clientId}` as const], except: [] },
    access: any,
    people: { only: [], except: [`group:${groupId}` as const] },
    require: undefined,
    state: 'on',
    sentence: undefined,
    createdAt: clock(),
    updatedAt: clock(),
  } as const
  const member = { userId: lane.userId, groupId, source: 'operator' } as const
  const change = async (input: 'add' | 'remove'): Promise<void> =>
    void (input === 'add'
      ? await store.addGroupMember({ ...member, createdAt: clock(), expiresAt: undefined })
      : await store.removeGroupMember(member))
  await change('add')
  await store.setAccessRule({ rule, previous: undefined })
  await delay(STALE_MS)
  for (let round = 0; round < rounds; round += 1) {
    const token = await lane.obtainToken()
    if (token === undefined) {
      findings.report('membership: a member got no token')
      continue
    }
    const operations: MembershipOperation[] = []
    const note = async (input: Input, work: () => Promise<boolean>): Promise<void> => {
      const invokedAt = performance.now()
      const output = await work()
      findings.operations += 1
      // An introspection may take effect up to a second before its call.
      const since = input === 'introspect' ? invokedAt - STALE_MS : invokedAt
      operations.push({ input, output, invokedAt: since, returnedAt: performance.now() })
    }
    const over = new AbortController()
    const readers = cluster.nodes.map(async (_, node) => {
      while (!over.signal.aborted) {
        await note('introspect', () => lane.isActive(token, node))
        await delay(PAUSE_MS)
      }
    })
    for (let index = 0; index < CHANGES; index += 1) {
      await delay(CHANGE_MS)
      const input = index % 2 === 0 ? 'remove' : 'add'
      await note(input, async () => (await change(input), true))
    }
    await delay(STALE_MS)
    over.abort()
    await Promise.all(readers)
    for (const node of cluster.nodes.keys()) await note('introspect', () => lane.isActive(token, node))
    if (!isLinearizable(operations, MEMBERSHIP))
      findings.report(`membership: no order explains this history: ${JSON.stringify(operations)}`)
  }
  await store.deleteAccessRule({ id: rule.id })
  await close()
}

/** A client that acts for a user in an organization, so that a token needs no page. */
async function openLane(cluster: Campaign['cluster'], context: Context) {
  const { store, clock, random } = context
  const metadata = { grant_types: ['client_credentials'], response_types: [], client_name: 'Member' }
  const { client_id, client_secret = '' } = await registerClient(openRemoteServer(cluster), metadata)
  const now: EpochMs = clock()
  const organizationId = mintOrganizationId(now, random)
  const since = { createdAt: now, disabledAt: undefined, notBefore: now }
  const clientId = client_id as ClientId
  const email = `${randomBytes(8).toString('hex')}@acme.test`
  const { id: userId } = await createUser(context, { email, password: undefined, name: undefined })
  await store.createOrganization({ ...since, id: organizationId, name: 'Acme' })
  await store.addMember({ ...since, userId, organizationId, mails: [] })
  await store.install({ ...since, clientId, organizationId, scope: NO_SCOPE, actsForMembers: true })
  const post = (node: number, path: string, fields: Readonly<Record<string, string>>) => {
    const { nodes, agent, limitMs, port: issuerPort } = cluster
    const headers = { host: `127.0.0.1:${issuerPort}` }
    const body = formBody({ client_id, client_secret, ...fields }, headers)
    return receive({ port: nodes[node]?.port ?? issuerPort, path, agent, limitMs, ...body })
  }
  return {
    clientId: client_id,
    userId,
    async obtainToken(): Promise<string | undefined> {
      const form = { grant_type: 'client_credentials', org_id: organizationId, user_id: userId }
      const { status, body } = await post(0, '/v2/oauth/token', form)
      return status === 200 ? (JSON.parse(body) as { readonly access_token: string }).access_token : undefined
    },
    async isActive(token: string, node: number): Promise<boolean> {
      const { status, body } = await post(node, '/v2/oauth/introspect', { token })
      if (status !== 200) throw new Error(`Introspection was answered ${status} ${body}`)
      return (JSON.parse(body) as { readonly active: boolean }).active
    },
  }
}
