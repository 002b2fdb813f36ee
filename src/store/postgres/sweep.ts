import type { Sweep } from '../../ports/operation-inputs.ts'
import { consentKey, consentOf, idBefore, nextConsent } from '../rows.ts'
import { findEvicted } from '../shared/registration-counts.ts'
import { sweepShared } from '../shared/sweep.ts'
import type { Parameter, Query, Statement } from './query.ts'
import { releaseSharedKeys } from './distributed-keys.ts'
import { eachAlone, valuesOf, type Handlers } from './handlers.ts'
import { runSteps } from './steps.ts'

const CLIENTS = {
  name: 'sweep-clients',
  // An array instead of a join: a join would be planned while there are few rows and then read all unused clients for each
  // row.
  text: `delete from clients where client_id = any(array(
      select client_id from clients where used_at is null and client_id < $1 and held_until < $2
        and coalesce(pending_until, 0) < $3 and (disabled_at is null or document_url is null) order by client_id limit $4))
      and used_at is null and held_until < $2 and coalesce(pending_until, 0) < $3
      and (disabled_at is null or document_url is null)
    returning client_id, shared_key`,
}
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

/** What a deletion finds: with a select, or itself. */
const INNER = /\(\s*select [\w, ]+ from (\w+) where ((?:[^()]|\([^()]*\))+ limit \$\d+)\)/
const DELETE = /^delete from (\w+)\s+where ([^]+)\s+returning [\w, ]+$/

export const sweepHandlers = {
  sweepExpired: {
    keys: () => ['sweep'],
    run: eachAlone(async (whole, sweep: Sweep) => {
      const query = whole.isDistributed ? lookingFirst(whole) : whole
      const { now, limit, consentsAfter } = sweep
      const { registeredBefore, heldUntil } = await runSteps(query, findEvicted(sweep))
      const consented = await sweepConsents(query, consentsAfter, limit)
      return {
        ...(await runSteps(query, sweepShared(sweep))),
        consentsAfter: consented.next,
        consents: consented.removed,
        clients: await sweepClients(query, [idBefore(registeredBefore, 'gci_'), heldUntil, now, limit]),
      }
    }),
  },
} satisfies Partial<Handlers>

async function sweepClients(query: Query, parameters: readonly Parameter[]): Promise<number> {
  const rows = await query(CLIENTS, parameters)
  await releaseSharedKeys(query, rows)
  const ids = rows.map((row) => row['client_id'] as string)
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

/**
 * For Citus: what a statement would change is read first, and nothing changes if there is no such row. Citus runs a deletion of what a
 * select finds on all shards, in a transaction of all machines, also if the select finds nothing.
 */
function lookingFirst(query: Query): Query {
  return Object.assign(
    async (statement: Statement, parameters?: readonly Parameter[]) => {
      const look = lookOf(statement)
      return look !== undefined && (await query(look, parameters)).length === 0 ? [] : query(statement, parameters)
    },
    { isDistributed: query.isDistributed },
  )
}

function lookOf({ name, text }: Statement): Statement | undefined {
  if (!/^(delete|update)\b/.test(text)) return undefined
  const [, inner, found] = INNER.exec(text) ?? []
  const [, emptied, condition] = DELETE.exec(text) ?? []
  const [table, rest] = inner === undefined ? [emptied, `${condition} limit 1`] : [inner, found]
  return table === undefined ? undefined : { name: `${name}-look`, text: `select 1 from ${table} where ${rest}` }
}
