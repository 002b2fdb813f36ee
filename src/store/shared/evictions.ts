import type { ChangingSession } from '../../ports/operations/second-factor.ts'
import type { SignInBasis } from '../../ports/operations/session.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import { endLogoutNoticesOfUser } from '../nouns/user/logout-notices.ts'
import { endLaterOfUser } from '../nouns/token/not-before.ts'
import { endOtherSessions, endSessionsOfProvider, NO_SESSION } from '../nouns/user/sessions.ts'
import { endProof } from '../nouns/user/identity-proofs.ts'
import { rows, shared, type Steps } from './statement.ts'

/**
 * Another person who used an account may have started sessions, allowed apps, made browsers known, begun to add a way in, and asked for
 * links. An operation that takes a way in away calls one of these functions, which end all of that
 * (test/store/contract/user/eviction-matrix.ts has each operation). Not-before times, and grants that stay otherwise, are the operation's own.
 */

const CONSENTS = shared('delete from consents where user_id = :userId')
/** A sign-in notes the browser with its time, so that of the session that is kept has the time at which the session started. */
const BROWSERS = shared(
  `delete from browsers where user_id = :userId
     and seen_at is distinct from cast(:seenAt as bigint) and browser_hash is distinct from cast(:hash as text)`,
)
const LINKS = shared('delete from links where user_id = :userId')

/** The session of a user who evicts others, or the sign-in that waits for it. undefined: the user has none yet. */
type Own = Pick<ChangingSession, 'id' | 'createdAt'> | Pick<SignInBasis, 'proof'> | undefined

/**
 * Evicts everyone, for an operation that sets the not-before time of the user to now: sessions, codes, grants, consents, links and what the
 * user has begun end, also those with a later time. `browserHash`: the browser of the user, which stays known; undefined: none does.
 */
export function* evictAll(userId: UserId, now: EpochMs, browserHash: SecretHash | undefined): Steps<void> {
  yield* endLaterOfUser(userId, now)
  yield* endLogoutNoticesOfUser(userId)
  yield* forget(userId, { hash: browserHash })
  yield* rows(LINKS, { userId })
}

/**
 * Evicts all but the user, who changes a way in: the other sessions end, each app asks again, and the other browsers are unknown. Grants stay, and
 * the links: the user may be a thief whom the operator or the owner is about to evict with one, and its use ends what was changed
 * (threats.md LNK-04).
 */
export function* evictOthers(userId: UserId, own: Own): Steps<void> {
  const session = own !== undefined && 'id' in own ? own : undefined
  yield* endOtherSessions(userId, session?.id ?? NO_SESSION)
  yield* forget(userId, {
    seenAt: session?.createdAt,
    proof: own !== undefined && 'proof' in own ? own.proof : undefined,
  })
}

/** The same for the operator, whose change also ends the links from before. */
export function* evictByOperator(userId: UserId): Steps<void> {
  yield* evictOthers(userId, undefined)
  yield* rows(LINKS, { userId })
}

/** The same for a way in at a provider: only the other sessions that started there end. */
export function* evictFromProvider(userId: UserId, providerId: ProviderId, session: ChangingSession): Steps<void> {
  yield* endSessionsOfProvider(userId, providerId, session.id)
  yield* forget(userId, { seenAt: session.createdAt })
}

/** Forgets what was allowed, the browsers, and what was begun. Another person may have given the consents, whatever their time (threats.md LNK-03). */
function* forget(
  userId: UserId,
  kept: {
    readonly seenAt?: EpochMs | undefined
    readonly hash?: SecretHash | undefined
    readonly proof?: SecretHash | undefined
  },
) {
  yield* rows(CONSENTS, { userId })
  yield* rows(BROWSERS, { userId, seenAt: kept.seenAt, hash: kept.hash })
  yield* endProof(userId, kept.proof)
}

/** Makes each browser of the user unknown (threats.md OTP-09). */
export function* forgetBrowsers(userId: UserId): Steps<void> {
  yield* rows(BROWSERS, { userId, seenAt: undefined, hash: undefined })
}

/** A change of the address ends what else could add a sign-in method: what the user began, and the links to the previous one. */
export function* endProofAndLinks(userId: UserId): Steps<void> {
  yield* endProof(userId, undefined)
  yield* rows(LINKS, { userId })
}
