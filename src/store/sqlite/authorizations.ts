import type { DatabaseSync } from 'node:sqlite'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { AuthorizationId } from '../../protocol/ids.ts'
import { authorizationOf, recordOf, requestText, type Row } from '../rows.ts'
import { rememberConsent } from '../shared/grants.ts'
import { addLogoutNotice, holdSession } from '../shared/logout-notices.ts'
import type { Handlers } from './handlers.ts'
import type { RunSteps } from './steps.ts'

export function authorizationStatements(database: DatabaseSync, run: RunSteps) {
  const insert = database.prepare(
    `insert into authorizations (authorization_id, client_id, browser_hash, request, created_at, expires_at, status)
     values (?, ?, ?, ?, ?, ?, 'pending')`,
  )
  const find = database.prepare('select * from authorizations where authorization_id = ?')
  const approve = database.prepare(
    `update authorizations set status = 'approved', user_id = ?, organization_id = ?, code_hash = ?, approved_at = ?,
       expires_at = ?, request = coalesce(?, request)
     where authorization_id = ? and status = 'pending' and expires_at > ?`,
  )
  const deny = database.prepare(
    `update authorizations set status = 'denied' where authorization_id = ? and status = 'pending' and expires_at > ?`,
  )
  function whyNot(id: AuthorizationId, now: EpochMs): 'decided' | 'unknown' {
    const row = find.get(id) as Row | undefined
    return row === undefined || (row['status'] === 'pending' && (row['expires_at'] as number) <= now)
      ? 'unknown'
      : 'decided'
  }

  return {
    startAuthorization(authorization) {
      const { id, clientId, browserHash, createdAt, expiresAt } = authorization
      insert.run(id, clientId, browserHash, requestText(authorization), createdAt, expiresAt)
      return 'started'
    },
    approveAuthorization(approval) {
      const {
        id,
        userId,
        organizationId = null,
        codeHash,
        now,
        codeExpiresAt,
        decided,
        remember,
        session,
        notified,
      } = approval
      if (session !== undefined && !run(holdSession(userId, session))) return 'unknown'
      const request = decided === undefined ? null : requestText(decided)
      const { changes } = approve.run(userId, organizationId, codeHash, now, codeExpiresAt, request, id, now)
      if (changes === 0) return whyNot(id, now)
      if (remember !== undefined) run(rememberConsent(remember, now))
      if (notified !== undefined) run(addLogoutNotice(notified))
      return 'approved'
    },
    denyAuthorization: ({ id, now }) => (deny.run(id, now).changes === 1 ? 'denied' : whyNot(id, now)),
    findAuthorization: (id: AuthorizationId): AuthorizationRecord | undefined =>
      recordOf(find.get(id), authorizationOf),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
