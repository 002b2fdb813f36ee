import type { Sweep } from '../../ports/operations/server.ts'
import { consentKey, consentOf, idBefore, nextConsent } from '../rows.ts'
import { findEvicted } from '../shared/registration-counts.ts'
import { sweepShared } from '../shared/sweep.ts'
import { forgetNothing, lookFor, rows, shared } from '../shared/statement.ts'
import { releaseSharedKeys } from './distributed-keys.ts'
import { eachAlone, valuesOf, type Handlers } from './handlers.ts'
import type { Query } from './connection/query.ts'
import { runOperation } from './steps.ts'
import { forget } from './user-rows.ts'

const IS_UNUSED = `used_at is null and held_until < :heldUntil and coalesce(pending_until, 0) < :now
  and (disabled_at is null or document_url is null)`
const IS_SWEPT = `client_id < :before and ${IS_UNUSED}`
/** An array instead of a join: a join would be planned while there are few rows and then read all unused clients for each row. */
const CLIENTS = shared(
  `delete from clients where ${IS_UNUSED} and client_id = any(array(
     select client_id from clients where ${lookFor('clients', IS_SWEPT)} order by client_id limit :limit))
   returning client_id, shared_key`,
)
const INSTALLATIONS = {
  name: 'sweep-installations',
  text: 'delete from installations where client_id = any($1::text[]) returning client_id',
}
const CONSENT_SLICE = {
  name: 'slice-consents',
  text: `select user_id, client_id from consents where (user_id, client_id) > ($1, $2)
    order by user_id, client_id limit $3`,
}
const KNOWN_CLIENTS = {
  name: 'find-known-clients',
  text: 'select client_id from clients where client_id = any($1::text[])',
}
const CONSENTS = {
  name: 'sweep-consents',
  text: `delete from consents as c using unnest($1::text[], $2::text[]) as i (user_id, client_id)
    where c.user_id = i.user_id /*citus and c.user_id = any($1::text[])*/ and c.client_id = i.client_id
    returning c.user_id`,
}

export const sweepHandlers = {
  sweepExpired: {
    keys: () => ['sweep'],
    run: eachAlone(async (query, sweep: Sweep) => {
      const { now, limit, consentsAfter } = sweep
      const { registeredBefore, heldUntil } = await runOperation(query, findEvicted(sweep))
      const consented = await sweepConsents(query, consentsAfter, limit)
      return {
        ...(await runOperation(query, sweepShared(sweep, query.isDistributed ? forget : forgetNothing))),
        consentsAfter: consented.next,
        consents: consented.removed,
        clients: await sweepClients(query, { before: idBefore(registeredBefore, 'gci_'), heldUntil, now, limit }),
      }
    }),
  },
} satisfies Partial<Handlers>

async function sweepClients(query: Query, values: object): Promise<number> {
  const removed = await runOperation(query, rows(CLIENTS, values))
  await releaseSharedKeys(query, removed)
  const ids = removed.map((row) => row['client_id'] as string)
  if (ids.length > 0) await query(INSTALLATIONS, [ids])
  return ids.length
}

async function sweepConsents(
  query: Query,
  after: string,
  limit: number,
): Promise<{ readonly removed: number; readonly next: string }> {
  const slice = (await query(CONSENT_SLICE, [...consentKey(after), limit])).map(consentOf)
  const clients = [...new Set(slice.map(({ clientId }) => clientId))]
  const known = clients.length === 0 ? [] : await query(KNOWN_CLIENTS, [clients])
  const isKnown = valuesOf(known, 'client_id')
  const gone = slice.filter(({ clientId }) => !isKnown.has(clientId))
  const pairs = [gone.map(({ userId }) => userId), gone.map(({ clientId }) => clientId)]
  const removed = gone.length === 0 ? 0 : (await query(CONSENTS, pairs)).length
  return { removed, next: nextConsent(slice, limit) }
}
