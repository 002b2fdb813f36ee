import type { Input, OperationName, Outcome } from '../../ports/operations/index.ts'
import type { UserId } from '../../protocol/ids.ts'
import { deleteProvider, providers } from '../nouns/user/providers.ts'
import { startSession, sessions } from '../nouns/user/sessions.ts'
import { examinedRows, sweepGrants } from '../nouns/server/examined-rows.ts'
import { sweepExpired, expiredRows } from '../nouns/server/expired-rows.ts'
import { mailed } from '../nouns/user/mails.ts'
import { withinReach } from '../nouns/user/roles.ts'
import type { SharedHandler } from '../noun.ts'
import { rows, shared, type Steps } from '../shared/statement.ts'
import type { Handler, Handlers } from './handlers.ts'
import { holdUser } from './settle.ts'
import { runnerOf } from './steps.ts'
import { forget, forgetRows, nameRow } from './user-rows.ts'
import { grants } from '../nouns/token/grants.ts'
import { users } from '../nouns/user/users.ts'
import { links } from '../nouns/user/links.ts'
import { secondFactors } from '../nouns/user/second-factors.ts'
import { passkeys } from '../nouns/user/passkeys.ts'
import { identities } from '../nouns/user/identities.ts'

const FIND_OWNER = shared('select user_id from sessions where session_id = :id')
const LIST_EARLIER = shared(
  `select row_key as session_id from user_rows where user_id = :userId and row_table = 'sessions' and row_key < :id
   order by row_key desc limit :limit`,
)

/**
 * Operations that find the rows of a user on other machines, and those that write such rows, where Citus distributes the tables. Each
 * locks the row of the user first, so that it sees the names of all rows that an operation before it has written (user-rows.ts).
 */
export const distributedUserHandlers = {
  startSession: distributed(sessions.operations.startSession, function* (start) {
    const { replaces, session, link } = start
    const { id: key, userId } = session
    yield* holdUser(userId)
    const outcome = yield* startSession(start, LIST_EARLIER)
    if (outcome.kind !== 'started') return outcome
    yield* nameRow({ userId, table: 'sessions', key })
    if (outcome.isLinked && link !== undefined) yield* nameRow({ userId, table: 'identities', key: link.identity.key })
    if (replaces !== undefined) yield* forgetRows([{ userId, table: 'sessions', key: replaces }])
    return outcome
  }),
  endSession: distributed(sessions.operations.endSession, function* (end) {
    const [session] = yield* rows(FIND_OWNER, end)
    if (session === undefined) return 'unknown'
    const userId = session['user_id'] as UserId
    yield* holdUser(userId)
    const outcome = yield* sessions.operations.endSession.run(end)
    yield* forgetRows([{ userId, table: 'sessions', key: end.id }])
    return outcome
  }),
  endOtherSessions: holding(sessions.operations.endOtherSessions, ({ userId }) => userId),
  changePassword: holding(users.operations.changePassword, ({ id }) => id),
  setPassword: holding(users.operations.setPassword, ({ id }) => id),
  disableUser: holding(users.operations.disableUser, ({ id }) => id),
  revokeUserTokens: holding(users.operations.revokeUserTokens, ({ id }) => id),
  enableTotp: holding(secondFactors.operations.enableTotp, ({ factor }) => factor.userId),
  resetSecondFactor: holding(secondFactors.operations.resetSecondFactor, ({ userId }) => userId),
  addPasskey: holding(passkeys.operations.addPasskey, ({ passkey }) => passkey.userId),
  removePasskey: holding(passkeys.operations.removePasskey, ({ userId }) => userId),
  removePassword: holding(passkeys.operations.removePassword, ({ userId }) => userId),
  useLink: holding(links.operations.useLink, ({ userId }) => userId),
  removeApp: holding(grants.operations.removeApp, ({ userId }) => userId),
  openGrant: distributed(grants.operations.openGrant, function* (opening) {
    const { id: key, userId } = opening.grant
    yield* holdUser(userId)
    const outcome = yield* grants.operations.openGrant.run(opening)
    if (outcome === 'opened') yield* nameRow({ userId, table: 'grants', key })
    return outcome
  }),
  linkIdentity: distributed(identities.operations.linkIdentity, function* (link) {
    const { userId, key } = link.identity
    yield* holdUser(userId)
    const outcome = yield* identities.operations.linkIdentity.run(link)
    if (outcome === 'linked') yield* nameRow({ userId, table: 'identities', key })
    return outcome
  }),
  unlinkIdentity: distributed(identities.operations.unlinkIdentity, function* (unlinking) {
    const { userId, key } = unlinking
    yield* holdUser(userId)
    const outcome = yield* identities.operations.unlinkIdentity.run(unlinking)
    if (outcome === 'unlinked') yield* forgetRows([{ userId, table: 'identities', key }])
    return outcome
  }),
  sweepExpired: distributed(expiredRows.operations.sweepExpired, (sweep) => sweepExpired(sweep, forget)),
  sweepGrants: distributed(examinedRows.operations.sweepGrants, (slice) => sweepGrants(slice, forget)),
  deleteProvider: distributed(providers.operations.deleteProvider, (deletion) => deleteProvider(deletion, forget)),
} satisfies Partial<Handlers>

/** The handler, after its user is held. */
function holding<Name extends OperationName>(
  handler: SharedHandler<Name>,
  userOf: (input: Input<Name>) => UserId,
): Handler<Name> {
  return distributed(handler, function* (input) {
    yield* holdUser(userOf(input))
    return yield* handler.run(input)
  })
}

/** The handler with other steps. */
export function distributed<Name extends OperationName>(
  handler: Omit<SharedHandler<Name>, 'run'>,
  run: (input: Input<Name>) => Steps<Outcome<Name>>,
): Handler<Name> {
  return { ...handler, run: runnerOf(handler.takesTurns === true, withinReach(handler, mailed(handler, run))) }
}
