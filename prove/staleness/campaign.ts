import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createUser } from '../../src/admin/user/user.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { Context } from '../../src/ports/context.ts'
import { mintOrganizationId, type ClientId, type OrganizationId, type UserId } from '../../src/protocol/ids.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { formBody, receive } from '../../tools/send.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'

/** How revocations of one kind were observed on another node. */
export interface Staleness {
  readonly kind: EndKind
  readonly sightings: readonly Sighting[]
}

export interface Sighting {
  /** The times from the acknowledgement to the introspection that returned the token as inactive. */
  readonly delayMs: number
  /** The number of introspections that still returned the token as active. */
  readonly stale: number
}

/** How a token becomes inactive: it is revoked, or a principal of the token is disabled. */
export const END_KINDS = ['revocation', 'client', 'user', 'organization', 'membership', 'installation'] as const
export type EndKind = (typeof END_KINDS)[number]

/** A client that acts for a member of an organization, so that every kind of revocation applies to its tokens. */
interface Lane {
  readonly client: RegisteredClient
  readonly clientId: ClientId
  readonly userId: UserId
  readonly organizationId: OrganizationId
}

type Store = Context['store']

/** The pause between two introspections, and between two attempts to get an active token. */
const PAUSE_MS = 2
const RECOVERY_PAUSE_MS = 50

/**
 * Runs `rounds` rounds of each kind. Revocations are requested from the first node. Everything else is written to the store
 * directly, as by the command line. After the acknowledgement the token is introspected at the last node until it returns the token as inactive.
 */
export async function measureStaleness(
  cluster: Cluster,
  context: Context,
  { rounds, lanes: count }: { readonly rounds: number; readonly lanes: number },
): Promise<readonly Staleness[]> {
  const lanes = await Promise.all(Array.from({ length: count }, () => openLane(cluster, context)))
  const results: Staleness[] = []
  for (const kind of END_KINDS) {
    let left = rounds
    const sightings: Sighting[] = []
    async function work(lane: Lane): Promise<void> {
      while (left > 0) {
        left -= 1
        const token = await obtainActiveToken(cluster, lane)
        await endToken(cluster, context.store, lane, kind, token)
        sightings.push(await untilInactive(cluster, lane, token))
        await undo(context.store, lane, kind)
      }
    }
    await Promise.all(lanes.map(work))
    results.push({ kind, sightings })
  }
  return results
}

async function openLane(cluster: Cluster, context: Context): Promise<Lane> {
  const { store, clock, random } = context
  const metadata = {
    grant_types: ['client_credentials'],
    response_types: [],
    client_name: randomBytes(6).toString('hex'),
  }
  const client = await registerClient(openRemoteServer(cluster), metadata)
  const now = clock()
  const clientId = client.client_id as ClientId
  const organizationId = mintOrganizationId(now, random)
  const since = { createdAt: now, disabledAt: undefined, notBefore: now }
  const email = `${randomBytes(8).toString('hex')}@acme.test`
  const { id: userId } = await createUser(context, { email, password: undefined, name: undefined })
  await store.createOrganization({ ...since, id: organizationId, name: 'Acme' })
  await store.addMember({ ...since, userId, organizationId, mails: [] })
  await store.install({ ...since, clientId, organizationId, scope: NO_SCOPE, actsForMembers: true })
  return { client, clientId, userId, organizationId }
}

interface Disabling {
  readonly disable: (store: Store, lane: Lane, now: EpochMs) => Promise<unknown>
  readonly enable: (store: Store, lane: Lane, now: EpochMs) => Promise<unknown>
}

/** Each kind of principal. */
const DISABLINGS: Readonly<Record<Exclude<EndKind, 'revocation'>, Disabling>> = {
  client: {
    disable: (store, { clientId: id }, now) => store.disableClient({ id, now }),
    enable: (store, { clientId }) => store.enableClient(clientId),
  },
  user: {
    disable: (store, { userId: id }, now) => store.disableUser({ id, now }),
    enable: (store, { userId: id }, now) => store.enableUser({ id, now }),
  },
  organization: {
    disable: (store, { organizationId: id }, now) => store.disableOrganization({ id, now }),
    enable: (store, { organizationId: id }, now) => store.enableOrganization({ id, now }),
  },
  membership: {
    disable: (store, { userId, organizationId }, now) => store.disableMember({ userId, organizationId, now }),
    enable: (store, { userId, organizationId }, now) => store.enableMember({ userId, organizationId, now }),
  },
  installation: {
    disable: (store, { clientId, organizationId }, now) => store.disableInstallation({ clientId, organizationId, now }),
    enable: (store, { clientId, organizationId }, now) => store.enableInstallation({ clientId, organizationId, now }),
  },
}

async function endToken(cluster: Cluster, store: Store, lane: Lane, kind: EndKind, token: string): Promise<void> {
  if (kind !== 'revocation') return void (await DISABLINGS[kind].disable(store, lane, Date.now() as EpochMs))
  const { status } = await post(cluster, 0, '/v2/oauth/revoke', lane, { token })
  if (status !== 200) throw new Error(`A revocation was answered ${status}.`)
}

async function undo(store: Store, lane: Lane, kind: EndKind): Promise<void> {
  if (kind !== 'revocation') await DISABLINGS[kind].enable(store, lane, Date.now() as EpochMs)
}

/** Introspects at the last node until the token is inactive. */
async function untilInactive(cluster: Cluster, lane: Lane, token: string): Promise<Sighting> {
  const endedAt = performance.now()
  for (let stale = 0; ; stale += 1) {
    const sentAt = performance.now()
    if (!(await isActive(cluster, lane, token))) return { delayMs: sentAt - endedAt, stale }
    await delay(PAUSE_MS)
  }
}

/** Gets a token that the last node knows as active. The node may still have the disabled principal of the previous round in its cache. */
async function obtainActiveToken(cluster: Cluster, lane: Lane): Promise<string> {
  const form = { grant_type: 'client_credentials', org_id: lane.organizationId, user_id: lane.userId }
  for (;;) {
    const { status, body } = await post(cluster, 0, '/v2/oauth/token', lane, form)
    if (status === 200) {
      const { access_token: token } = JSON.parse(body) as { readonly access_token: string }
      if (await isActive(cluster, lane, token)) return token
    }
    await delay(RECOVERY_PAUSE_MS)
  }
}

/** A disabled client is not even allowed to introspect. */
async function isActive(cluster: Cluster, lane: Lane, token: string): Promise<boolean> {
  const { status, body } = await post(cluster, cluster.nodes.length - 1, '/v2/oauth/introspect', lane, { token })
  if (status === 401) return false
  if (status !== 200) throw new Error(`Introspection was answered ${status} ${body}`)
  return (JSON.parse(body) as { readonly active: boolean }).active
}

/** Sends a form of the client to one of the nodes. */
function post(
  { nodes, agent, limitMs, port: issuerPort }: Cluster,
  node: number,
  path: string,
  { client: { client_id, client_secret = '' } }: Lane,
  fields: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: string }> {
  const port = nodes.at(node)?.port ?? issuerPort
  const headers = { host: `127.0.0.1:${issuerPort}` }
  return receive({ port, path, agent, limitMs, ...formBody({ client_id, client_secret, ...fields }, headers) })
}
