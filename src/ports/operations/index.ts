import type { ClientOperations } from './client.ts'
import type { AuthorizationOperations } from './authorization.ts'
import type { TokenOperations } from './token.ts'
import type { OrganizationOperations } from './organization.ts'
import type { AccessRuleOperations } from './access-rule.ts'
import type { GroupOperations } from './group.ts'
import type { UserOperations } from './user.ts'
import type { UserSearchOperations } from './user-search.ts'
import type { PasskeyOperations } from './passkey.ts'
import type { SecondFactorOperations } from './second-factor.ts'
import type { SessionOperations } from './session.ts'
import type { MailOperations } from './mail.ts'
import type { ProviderOperations } from './provider.ts'
import type { ApiOperations } from './api.ts'
import type { KeyOperations } from './key.ts'
import type { ServerOperations } from './server.ts'

/**
 * The operations that change the store, each as `[input, outcome]`.
 *
 * An operation is one protocol event and atomic: it is applied completely or not at all, and its outcome says what happened. A
 * caller never reads first and writes afterwards, so two concurrent requests cannot both pass a check.
 *
 * Two operations are never atomic together, also when one request asks for both in the same turn of the event loop. The
 * operations of a turn are committed as a batch, which only saves time: SQLite commits the batch in one transaction, or each
 * operation alone if one of them fails. PostgreSQL commits it in waves (src/store/postgres/waves.ts), one transaction after the
 * other, and a crash between two waves leaves the first. Changes that belong together are therefore one operation.
 *
 * Common outcomes: `unknown`, the record does not exist; `conflict`, another caller changed it since this caller read it, so
 * that of concurrent changes one succeeds. In both cases nothing was changed. To verify, disable or revoke what already is
 * keeps the first time.
 */
export interface Operations
  extends
    ClientOperations,
    AuthorizationOperations,
    TokenOperations,
    OrganizationOperations,
    AccessRuleOperations,
    GroupOperations,
    UserOperations,
    UserSearchOperations,
    SecondFactorOperations,
    PasskeyOperations,
    SessionOperations,
    MailOperations,
    ProviderOperations,
    ApiOperations,
    KeyOperations,
    ServerOperations {}

export type OperationName = keyof Operations

export type Input<Name extends OperationName> = Operations[Name][0]

export type Outcome<Name extends OperationName> = Operations[Name][1]

export type Operation = {
  readonly [Name in OperationName]: {
    readonly name: Name
    readonly input: Input<Name>
    /** The administrator who requested the operation, as the audit names one. Absent: a client or a user did. */
    readonly by?: string
    /** The id of the request that caused the operation. Absent: none, or one of a program that acts for itself. */
    readonly requestId?: string | undefined
  }
}[OperationName]
