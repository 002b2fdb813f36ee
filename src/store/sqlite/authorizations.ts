import type { DatabaseSync } from 'node:sqlite'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { AuthorizationId } from '../../protocol/ids.ts'
import { AUTHORIZATION_COLUMNS, authorizationOf, requestText, whyNotPending } from '../nouns/token/authorizations.ts'
import { recordOf } from '../rows.ts'
import { rememberConsent } from '../nouns/token/grants.ts'
import { addLogoutNotice, holdSession } from '../nouns/user/logout-notices.ts'
import type { Handlers } from './handlers.ts'
import { prepareRow } from './row.ts'
import type { RunSteps } from './steps.ts'

export function authorizationStatements(database: DatabaseSync, run: RunSteps) {
  const insert = database.prepare(
    `insert into authorizations (authorization_id, client_id, browser_hash, request, created_at, expires_at, status)
     values (?, ?, ?, ?, ?, ?, 'pending')`,
  )
  const find = prepareRow(database, AUTHORIZATION_COLUMNS, 'from authorizations where authorization_id = ?')
  const approve = database.prepare(
    `update authorizations set status = 'approved', user_id = ?, organization_id = ?, code_hash = ?, approved_at = ?,
       expires_at = ?, request = coalesce(?, request)
     where authorization_id = ? and status = 'pending' and expires_at > ?`,
  )

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
      if (changes === 0) return run(whyNotPending(id, now))
      if (remember !== undefined) run(rememberConsent(remember, now))
      if (notified !== undefined) run(addLogoutNotice(notified))
      return 'approved'
    },
    findAuthorization: (id: AuthorizationId): AuthorizationRecord | undefined => recordOf(find(id), authorizationOf),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
