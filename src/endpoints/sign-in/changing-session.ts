import type { Context } from '../../ports/context.ts'
import type { ChangingSession } from '../../ports/operations/second-factor.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { coveredBy, type AuthenticationMethod, type CoveredFactors } from '../../protocol/sign-in/authentication.ts'
import { findFactors } from '../../users/factors.ts'
import { mayHavePasskeys } from '../../users/provider-routing.ts'
import type { SignedIn } from '../authorization/session.ts'

/** The session as the operations of the store take it that change how its user signs in. */
export async function changingSession(context: Context, { session, user }: SignedIn): Promise<ChangingSession> {
  const { id, createdAt, authentication } = session
  return { id, createdAt, covers: await findCovered(context, user, authentication.methods) }
}

/**
 * The second factors of a user for which an authentication is enough. A passkey with which the user cannot sign in is not asked for,
 * and the operator's application asks for the factors of its persons itself.
 */
export async function findCovered(
  context: Context,
  user: Pick<UserRecord, 'email'>,
  methods: readonly AuthenticationMethod[],
): Promise<CoveredFactors> {
  const covered = coveredBy(methods)
  const providers = await context.providers()
  return {
    passkey: covered.passkey || !mayHavePasskeys(context, { user, providers }),
    others: covered.others || context.settings.delegate !== undefined,
  }
}

/** The second factor of the user for which the session is not enough; undefined: there is none. */
export async function findUncovered(
  context: Context,
  { session, user }: SignedIn,
): Promise<'passkey' | 'app' | 'identity' | undefined> {
  const covers = await findCovered(context, user, session.authentication.methods)
  if (covers.passkey && covers.others) return undefined
  const { held, counting } = await findFactors(context, user)
  if (!covers.passkey && held.passkeys.length > 0) return 'passkey'
  if (covers.others) return undefined
  if (held.app !== undefined) return 'app'
  return counting.identities.length > 0 ? 'identity' : undefined
}

/** Whether the user signed in with the password that the account has: its change adds no way in. */
export function knowsPassword({ session, user }: SignedIn): boolean {
  return user.passwordHash !== undefined && session.authentication.methods.includes('pwd')
}

/** The session for a change that asks for no second factor. */
export function coversAll({ id, createdAt }: Pick<ChangingSession, 'id' | 'createdAt'>): ChangingSession {
  return { id, createdAt, covers: { passkey: true, others: true } }
}
