import type { Sweep } from '../../ports/operation-inputs.ts'
import type { AuthorizationId, GrantId } from '../../protocol/ids.ts'
import { consentKey, consentOf, idBefore, nextConsent } from '../rows.ts'
import type { Parameter, Query, Statement } from './database.ts'
import { eachAlone, valuesOf, type Handlers } from './handlers.ts'

const CLIENTS = {
  name: 'sweep-clients',
  // An array instead of a join: a join would be planned while there are few rows and then read all unused clients for each
  // row.
  text: `delete from clients where client_id = any(array(
      select client_id from clients where used_at is null and client_id < $1 and held_until < $2 order by client_id limit $3))
      and used_at is null and held_until < $2
    returning client_id`,
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
    where c.user_id = i.user_id and c.client_id = i.client_id returning c.user_id`,
}
const AUTHORIZATION_SLICE = {
  name: 'slice-authorizations',
  text: `select authorization_id from authorizations where authorization_id > $1 and authorization_id < $2
    order by authorization_id limit $3`,
}
const UNREDEEMED = {
  name: 'sweep-unredeemed-authorizations',
  text: `delete from authorizations
    where authorization_id > $1 and authorization_id <= $2 and expires_at < $3 and status <> 'redeemed'
    returning authorization_id`,
}
const EVIDENCE = {
  name: 'sweep-authorizations',
  text: `delete from authorizations where authorization_id in (
      select authorization_id from authorizations where authorization_id < $1 order by authorization_id limit $2)
    returning authorization_id`,
}
const SESSIONS = {
  name: 'sweep-sessions',
  text: `delete from sessions where session_id in (select session_id from sessions where expires_at < $1 limit $2)
    returning session_id`,
}
const HITS = {
  name: 'sweep-hits',
  text: `delete from hits where (bucket, window_start) in (
      select bucket, window_start from hits where window_end < $1 limit $2)
    returning bucket`,
}
const REVOKED_TOKENS = {
  name: 'sweep-revoked-tokens',
  text: `delete from revoked_tokens where token_id in (
      select token_id from revoked_tokens where expires_at < $1 order by expires_at limit $2)
    returning token_id`,
}
const OPAQUE_TOKENS = {
  name: 'sweep-opaque-tokens',
  text: `delete from opaque_tokens where token_id = any(array(
      select token_id from opaque_tokens where token_id < $1 order by token_id limit $2))
    returning token_id`,
}
const AUDIT_LINKS = {
  name: 'sweep-audit-links',
  text: `delete from audit_links where link_id = any(array(
      select link_id from audit_links where link_id < $1 order by link_id limit $2))
    returning link_id`,
}
const GRANT_SLICE = {
  name: 'slice-grants',
  text: 'select grant_id from grants where grant_id > $1 order by grant_id limit $2',
}
const GRANTS = {
  name: 'sweep-grants',
  text: `delete from grants where grant_id > $1 and grant_id <= $2 and (expires_at < $3 or idle_expires_at < $3)
    returning grant_id`,
}

export const sweepHandlers = {
  sweepExpired: {
    keys: () => ['sweep'],
    run: eachAlone(async (query, sweep: Sweep) => {
      const {
        now,
        limit,
        revocationsBefore,
        unusedSince,
        authorizationsBefore,
        evidenceBefore,
        auditBefore,
        ...after
      } = sweep
      const waited = await sweepUnredeemed(query, after.authorizationsAfter, {
        before: idBefore(authorizationsBefore, ''),
        now,
        limit,
      })
      const slice = await sweepGrants(query, after.grantsAfter, limit, now)
      const consented = await sweepConsents(query, after.consentsAfter, limit)
      return {
        authorizationsAfter: waited.next,
        authorizationsExamined: waited.examined,
        grantsAfter: slice.next,
        grants: slice.removed,
        consentsAfter: consented.next,
        consents: consented.removed,
        clients: await sweepClients(query, [idBefore(unusedSince, 'gci_'), now, limit]),
        authorizations: waited.removed + (await remove(query, EVIDENCE, [idBefore(evidenceBefore, ''), limit])),
        sessions: await remove(query, SESSIONS, [now, limit]),
        hits: await remove(query, HITS, [now, limit]),
        revokedTokens: await remove(query, REVOKED_TOKENS, [revocationsBefore, limit]),
        opaqueTokens: await remove(query, OPAQUE_TOKENS, [idBefore(now, ''), limit]),
        auditLinks: await remove(query, AUDIT_LINKS, [idBefore(auditBefore, ''), limit]),
      }
    }),
  },
} satisfies Partial<Handlers>

async function sweepUnredeemed(
  query: Query,
  after: AuthorizationId | '',
  { before, now, limit }: { readonly before: string; readonly now: number; readonly limit: number },
): Promise<{ readonly removed: number; readonly examined: number; readonly next: AuthorizationId | '' }> {
  const slice = await query(AUTHORIZATION_SLICE, [after, before, limit])
  const last = (slice.at(-1)?.['authorization_id'] ?? after) as AuthorizationId | ''
  const removed = slice.length === 0 ? 0 : await remove(query, UNREDEEMED, [after, last, now])
  return { removed, examined: slice.length, next: last }
}

async function sweepGrants(
  query: Query,
  after: string,
  limit: number,
  now: number,
): Promise<{ readonly removed: number; readonly next: GrantId | '' }> {
  const slice = await query(GRANT_SLICE, [after, limit])
  const last = slice.at(-1)?.['grant_id'] as GrantId | undefined
  if (last === undefined) return { removed: 0, next: '' }
  return { removed: await remove(query, GRANTS, [after, last, now]), next: slice.length < limit ? '' : last }
}

async function sweepClients(query: Query, parameters: readonly Parameter[]): Promise<number> {
  const ids = (await query(CLIENTS, parameters)).map((row) => row['client_id'] as string)
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
  const removed = gone.length === 0 ? 0 : await remove(query, CONSENTS, pairs)
  return { removed, next: nextConsent(slice, limit) }
}

async function remove(query: Query, statement: Statement, parameters: readonly Parameter[]): Promise<number> {
  return (await query(statement, parameters)).length
}
