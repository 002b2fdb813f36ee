import type { Input, OperationName, Outcome } from '../../ports/operations.ts'
import type { UserId } from '../../protocol/ids.ts'
import { accountHandlers } from '../shared/accounts.ts'
import { grantHandlers, removeApp } from '../shared/grants.ts'
import { identityHandlers, identityReads } from '../shared/identities.ts'
import { linkHandlers } from '../shared/links.ts'
import { endOtherLogins, endSession, holdIdentity, sessionHandlers, startSession } from '../shared/sessions.ts'
import { rows, shared, type SharedHandler, type Steps } from '../shared/statement.ts'
import { byKey } from './by-key.ts'
import { eachAlone, type Handler, type Handlers } from './handlers.ts'
import { holdUser, nameNewest, settleGrants } from './settle.ts'
import { runSteps } from './steps.ts'

const FIND_OWNER = shared('select user_id from sessions where session_id = :id')

/**
 * The ids of one session in 16, by a random character with six bits. A count of the user's sessions reads all shards, so only the start
 * of such a session makes it.
 */
const COUNTING = /[AQgw].$/

/**
 * Operations that find the rows of a user on all machines, and those that write such rows, where Citus distributes the tables. Each
 * locks the row of the user first, so that it sees all that an operation before it has written (settle.ts).
 */
export const distributedUserHandlers = {
  startSession: distributed(sessionHandlers.startSession, function* (start) {
    yield* nameNewest(start.session.userId, ['sessions', start.session.id])
    return yield* startSession(start, COUNTING.test(start.session.id))
  }),
  endSession: distributed(sessionHandlers.endSession, function* (end) {
    const [session] = yield* rows(FIND_OWNER, end)
    if (session === undefined) return 'unknown'
    yield* holdUser(session['user_id'] as UserId)
    return yield* endSession(end, settleGrants)
  }),
  endOtherSessions: distributed(sessionHandlers.endOtherSessions, function* (end) {
    yield* holdUser(end.userId)
    return yield* endOtherLogins(end, settleGrants)
  }),
  changePassword: holding(accountHandlers.changePassword, ({ id }) => id),
  setPassword: holding(accountHandlers.setPassword, ({ id }) => id),
  disableUser: holding(accountHandlers.disableUser, ({ id }) => id),
  revokeUserTokens: holding(accountHandlers.revokeUserTokens, ({ id }) => id),
  useLink: holding(linkHandlers.useLink, ({ userId }) => userId),
  removeApp: distributed(grantHandlers.removeApp, function* (removal) {
    yield* holdUser(removal.userId)
    return yield* removeApp(removal, settleGrants)
  }),
  linkIdentity: distributed(identityHandlers.linkIdentity, function* (link) {
    yield* nameNewest(link.identity.userId, ['identities', link.identity.key])
    return yield* identityHandlers.linkIdentity.run(link)
  }),
  unlinkIdentity: distributed(identityHandlers.unlinkIdentity, function* (unlinking) {
    yield* holdUser(unlinking.userId)
    // Each waits for a transaction that removes it.
    for (const { key, userId } of yield* identityReads.listIdentities(unlinking.userId))
      yield* holdIdentity(key, userId)
    return yield* identityHandlers.unlinkIdentity.run(unlinking)
  }),
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
function distributed<Name extends OperationName>(
  handler: Omit<SharedHandler<Name>, 'run'>,
  run: (input: Input<Name>) => Steps<Outcome<Name>>,
): Handler<Name> {
  return { ...handler, run: eachAlone((query, input) => runSteps(byKey(query), run(input))) }
}
