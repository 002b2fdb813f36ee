import type { Reads } from '../../ports/store.ts'
import type { Approval } from '../../ports/operations/authorization.ts'
import type { AuthorizationId } from '../../protocol/ids.ts'
import { authorizationOf, requestText, whyNotPending } from '../nouns/token/authorizations.ts'
import { rememberConsent } from '../nouns/token/grants.ts'
import { addLogoutNotice, holdSession } from '../nouns/user/logout-notices.ts'
import { columns } from './connection/column-parameters.ts'
import type { Database } from './connection/database.ts'
import type { Query } from './connection/query.ts'
import { openBatchLoader } from './batch-loader.ts'
import { valuesOf, type Handlers } from './handlers.ts'
import { insertion, insertRows } from './connection/insertion.ts'
import { runSteps } from './steps.ts'

const INSERT = insertion({
  name: 'insert-authorizations',
  into: 'authorizations (authorization_id, client_id, browser_hash, created_at, expires_at, request, status)',
  types: ['text', 'text', 'text', 'bigint', 'bigint', 'json'],
  constants: [`'pending'`],
})
const APPROVE = {
  name: 'approve-authorizations',
  text: `update authorizations as a
    set status = 'approved', user_id = i.user_id, organization_id = i.organization_id, code_hash = i.code_hash,
      approved_at = i.now, expires_at = i.code_expires_at, request = coalesce(i.request, a.request)
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
      as i (id, user_id, organization_id, code_hash, now, code_expires_at, request)
    where a.authorization_id = i.id and a.status = 'pending' and a.expires_at > i.now
    returning a.authorization_id`,
}
const NAME = insertion({
  name: 'name-authorizations',
  into: 'user_rows (user_id, row_table, row_key)',
  types: ['text', 'text', 'text'],
  ending: 'on conflict (user_id, row_table, row_key) do nothing',
})
const FIND = {
  name: 'find-authorizations',
  text: 'select * from authorizations where authorization_id = any($1::text[])',
}
export function authorizationStatements(database: Database) {
  const handlers = {
    startAuthorization: {
      keys: ({ id }) => [id],
      async run(query, inputs) {
        const rows = columns(inputs, 'id', 'clientId', 'browserHash', 'createdAt', 'expiresAt')
        await insertRows(query, INSERT, [...rows, inputs.map(requestText)])
        return inputs.map(() => 'started' as const)
      },
    },
    approveAuthorization: {
      keys: ({ id }) => [id],
      // What ends the session or all sessions of the user comes before, or after.
      sharedKeys: ({ userId, session }) => (session === undefined ? [] : [userId, session.id]),
      async run(query, inputs) {
        const ended = await holdSessions(query, inputs)
        const held = ended.size === 0 ? inputs : inputs.filter(({ id }) => !ended.has(id))
        const rows = columns(held, 'id', 'userId', 'organizationId', 'codeHash', 'now', 'codeExpiresAt')
        const requests = held.map(({ decided }) => (decided === undefined ? null : requestText(decided)))
        const approved = valuesOf(await query(APPROVE, [...rows, requests]), 'authorization_id')
        if (query.isDistributed)
          await nameApproved(
            query,
            held.filter(({ id }) => approved.has(id)),
          )
        for (const { id, remember, notified, now } of held) {
          if (!approved.has(id)) continue
          if (remember !== undefined) await runSteps(query, rememberConsent(remember, now))
          if (notified !== undefined) await runSteps(query, addLogoutNotice(notified))
        }
        const others = new Map<AuthorizationId, 'decided' | 'unknown'>()
        for (const { id, now } of inputs)
          if (ended.has(id)) others.set(id, 'unknown')
          else if (!approved.has(id)) others.set(id, await runSteps(query, whyNotPending(id, now)))
        return inputs.map(({ id }) => others.get(id) ?? 'approved')
      },
    },
  } satisfies Partial<Handlers>
  const reads = {
    findAuthorization: openBatchLoader(async (ids: readonly AuthorizationId[]) =>
      (await database.query(FIND, [ids])).map((row) => authorizationOf(row)),
    ),
  } satisfies Partial<Reads>
  return { handlers, reads }
}

/** Where Citus distributes the tables, the codes and grants of a user are found by their names (user-rows.ts). */
async function nameApproved(query: Query, approvals: readonly Approval[]): Promise<void> {
  if (approvals.length === 0) return
  const rows = columns(approvals, 'userId', () => 'authorizations', 'id')
  await insertRows(query, NAME, rows)
}

/** Holds the sessions in which users approve. Returns the ids of the authorizations whose session has ended. */
async function holdSessions(query: Query, inputs: readonly Approval[]): Promise<ReadonlySet<unknown>> {
  const ended = new Set<unknown>()
  const users = Map.groupBy(
    inputs.filter(({ session }) => session !== undefined),
    ({ userId }) => userId,
  )
  // In the same order on all nodes, so that two nodes never wait for each other's users.
  for (const userId of [...users.keys()].toSorted()) {
    const approvals = users.get(userId) ?? []
    for (const { id, session } of approvals)
      if (session !== undefined && !(await runSteps(query, holdSession(userId, session)))) ended.add(id)
  }
  return ended
}
