import type { OperationResult, StoreDriver } from '../../ports/store.ts'
import type { Operation } from '../../ports/operations/index.ts'
import type { EpochMs } from '../../base/brand.ts'
import { belongingKey, readBelonging } from '../nouns/organization/group-members.ts'
import { installationKey } from '../nouns/organization/installations.ts'
import { organizationKey } from '../nouns/organization/access-rules.ts'
import { membershipKey } from '../nouns/organization/memberships.ts'
import { authorizationStatements } from './authorizations.ts'
import { clientStatements } from './clients.ts'
import { commitBatch } from './commit.ts'
import { consumedHandlers } from './consumed.ts'
import { openDatabase, type PostgresOptions } from './connection/database.ts'
import { distributedHandlers, distributedReads } from './distributed-keys.ts'
import { distributedUserHandlers } from './distributed-users.ts'
import type { Handlers } from './handlers.ts'
import { hitHandlers } from './hits.ts'
import { prepareAt } from './schema/migrate-at.ts'
import { opaqueTokenStatements } from './opaque-tokens.ts'
import { openRecordCache } from './record-cache.ts'
import { recordReads } from './records.ts'
import { revocationStatements } from './revocations.ts'
import { sharedHandlers, sharedReads } from './steps.ts'
import { tokenStatements } from './tokens.ts'
import { userSearchHandlers, userSearchReads } from './user-search.ts'
import { openWriteProbes } from './connection/write-probes.ts'

/** At least one key is required. The commit's audit link contains the event, so there is nothing else to do. */
const recordEvent: Handlers['recordEvent'] = {
  keys: () => ['events'],
  isShared: true,
  run: async (_, inputs) => inputs.map(() => 'recorded'),
}

/** Two batches: one is being written to disk while the next is prepared. */
const BATCHES_IN_FLIGHT = 2

const TIME = { name: 'time', text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now' }

/** Opens the store for several nodes: one PostgreSQL database, every commit synced. Migrates first. */
export async function openPostgresStore(options: PostgresOptions): Promise<StoreDriver> {
  const isFoundDistributed = await prepareAt(options.url, Date.now())
  const { isDistributed = isFoundDistributed } = options
  const database = openDatabase({ ...options, isDistributed })
  const cache = openRecordCache()
  const clients = clientStatements(database)
  const authorizations = authorizationStatements(database)
  const tokens = tokenStatements(database)
  const records = recordReads(database)
  const opaqueTokens = opaqueTokenStatements(database)
  const revocations = revocationStatements(database)
  const handlers: Handlers = {
    ...sharedHandlers,
    ...clients.handlers,
    ...authorizations.handlers,
    ...tokens.handlers,
    ...hitHandlers,
    ...opaqueTokens.handlers,
    ...revocations.handlers,
    ...consumedHandlers,
    ...userSearchHandlers,
    recordEvent,
    ...(isDistributed && { ...distributedHandlers, ...distributedUserHandlers }),
  }

  async function commit(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    for (const operation of operations) cache.forget(operation)
    try {
      return await commitBatch({ database, handlers, audit: options.audit }, operations)
    } finally {
      for (const operation of operations) cache.forget(operation)
    }
  }

  return {
    batchesInFlight: BATCHES_IN_FLIGHT,
    commit,
    close: () => database.close(),
    async ping() {
      const [row] = await database.query(TIME)
      return row?.['now'] as EpochMs
    },
    writeProbes: openWriteProbes(database),
    ...sharedReads(database.query),
    ...userSearchReads(database.query),
    ...(isDistributed && distributedReads(database)),
    ...authorizations.reads,
    ...tokens.reads,
    ...records,
    ...opaqueTokens.reads,
    ...revocations.reads,
    findClient: (id) => cache.read(id, (key) => clients.reads.findClient(key)),
    findUser: (id) => cache.read(id, (key) => records.findUser(key)),
    findOrganization: (id) => cache.read(organizationKey(id), () => records.findOrganization(id)),
    async findCurrent({ clientId, userId, organizationId }) {
      const [client, user, organization] = await Promise.all([
        clients.reads.findClient(clientId),
        records.findUser(userId),
        organizationId && records.findOrganization(organizationId),
      ])
      return { client, user, organization }
    },
    findMembership: (key) => cache.read(membershipKey(key), () => records.findMembership(key)),
    findBelonging: async (id) =>
      (await cache.read(belongingKey(id), () => records.findBelonging({ userId: id }))) ?? readBelonging(id, []),
    findInstallation: (key) => cache.read(installationKey(key), () => records.findInstallation(key)),
  }
}
