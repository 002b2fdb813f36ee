import type { DatabaseSync } from 'node:sqlite'
import type { AuthorizationId, GrantId } from '../../protocol/ids.ts'
import { consentKey, consentOf, idBefore, nextConsent, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'

export function sweepStatements(database: DatabaseSync) {
  const clients = database.prepare(
    `delete from clients where client_id in (
       select client_id from clients where used_at is null and client_id < ? and held_until < ? order by client_id limit ?)
     returning client_id`,
  )
  const installations = database.prepare('delete from installations where client_id = ?')
  const authorizationSlice = database.prepare(
    `select authorization_id from authorizations where authorization_id > ? and authorization_id < ?
     order by authorization_id limit ?`,
  )
  const unredeemed = database.prepare(
    `delete from authorizations
     where authorization_id > ? and authorization_id <= ? and expires_at < ? and status <> 'redeemed'`,
  )
  const evidence = database.prepare(
    `delete from authorizations where authorization_id in (
       select authorization_id from authorizations where authorization_id < ? order by authorization_id limit ?)`,
  )
  const sessions = database.prepare(
    'delete from sessions where session_id in (select session_id from sessions where expires_at < ? order by expires_at limit ?)',
  )
  const hits = database.prepare(
    `delete from hits where (bucket, window_start) in (
       select bucket, window_start from hits where window_end < ? limit ?)`,
  )
  const revokedTokens = database.prepare(
    `delete from revoked_tokens where token_id in (
       select token_id from revoked_tokens where expires_at < ? order by expires_at limit ?)`,
  )
  const opaqueTokens = database.prepare(
    `delete from opaque_tokens where token_id in (
       select token_id from opaque_tokens where token_id < ? order by token_id limit ?)`,
  )
  const auditLinks = database.prepare(
    `delete from audit_links where link_id in (
       select link_id from audit_links where link_id < ? order by link_id limit ?)`,
  )
  const grantSlice = database.prepare('select grant_id from grants where grant_id > ? order by grant_id limit ?')
  const grants = database.prepare(
    `delete from grants where grant_id > ? and grant_id <= ? and (expires_at < ? or idle_expires_at < ?)`,
  )

  const consentSlice = database.prepare(
    `select user_id, client_id from consents where (user_id, client_id) > (?, ?) order by user_id, client_id limit ?`,
  )
  const hasClient = database.prepare('select 1 from clients where client_id = ?')
  const consents = database.prepare('delete from consents where user_id = ? and client_id = ?')

  function sweepClients(before: string, now: number, limit: number): number {
    const removed = clients.all(before, now, limit)
    for (const row of removed) installations.run((row as Row)['client_id'] ?? null)
    return removed.length
  }

  function sweepUnredeemed(after: AuthorizationId | '', before: string, now: number, limit: number) {
    const slice = authorizationSlice.all(after, before, limit) as unknown as readonly Row[]
    const last = (slice.at(-1)?.['authorization_id'] ?? after) as AuthorizationId | ''
    const removed = slice.length === 0 ? 0 : Number(unredeemed.run(after, last, now).changes)
    return { removed, examined: slice.length, next: last }
  }

  function sweepConsents(after: string, limit: number): { removed: number; next: string } {
    const slice = consentSlice.all(...consentKey(after), limit).map((row) => consentOf(row as Row))
    const gone = slice.filter(({ clientId }) => hasClient.get(clientId) === undefined)
    const removed = gone.map(({ userId, clientId }) => Number(consents.run(userId, clientId).changes))
    return { removed: removed.reduce((sum, one) => sum + one, 0), next: nextConsent(slice, limit) }
  }

  function sweepGrants(after: string, limit: number, now: number): { removed: number; next: GrantId | '' } {
    const slice = grantSlice.all(after, limit) as unknown as readonly Row[]
    const last = slice.at(-1)?.['grant_id'] as GrantId | undefined
    if (last === undefined) return { removed: 0, next: '' }
    const removed = Number(grants.run(after, last, now, now).changes)
    return { removed, next: slice.length < limit ? '' : last }
  }

  return {
    sweepExpired({
      now,
      limit,
      revocationsBefore,
      unusedSince,
      authorizationsBefore,
      evidenceBefore,
      auditBefore,
      ...after
    }) {
      const waited = sweepUnredeemed(after.authorizationsAfter, idBefore(authorizationsBefore, ''), now, limit)
      const slice = sweepGrants(after.grantsAfter, limit, now)
      const consented = sweepConsents(after.consentsAfter, limit)
      return {
        authorizationsAfter: waited.next,
        authorizationsExamined: waited.examined,
        grantsAfter: slice.next,
        grants: slice.removed,
        consentsAfter: consented.next,
        consents: consented.removed,
        clients: sweepClients(idBefore(unusedSince, 'gci_'), now, limit),
        authorizations: waited.removed + Number(evidence.run(idBefore(evidenceBefore, ''), limit).changes),
        sessions: Number(sessions.run(now, limit).changes),
        hits: Number(hits.run(now, limit).changes),
        revokedTokens: Number(revokedTokens.run(revocationsBefore, limit).changes),
        opaqueTokens: Number(opaqueTokens.run(idBefore(now, ''), limit).changes),
        auditLinks: Number(auditLinks.run(idBefore(auditBefore, ''), limit).changes),
      }
    },
  } satisfies Partial<Handlers>
}
