import type { Context, StoreNeeds } from '../../../ports/context.ts'
import type { Request } from '../../../ports/message.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import type {
  Authentication,
  AuthenticationLevel,
  AuthenticationMethod,
  ProviderId,
} from '../../../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { IdentityKey } from '../../../protocol/sign-in/provider-identity.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import type { SessionId, UserId } from '../../../protocol/ids.ts'
import { findSignedIn } from '../../authorization/session.ts'
import { isLiveSince } from '../../../tokens/invalid-principal.ts'
import { openSealed, seal, type Opened, type Seal } from '../../sealed.ts'
import { keyOf, type SignInTarget } from '../target.ts'

/** The field of a form of the second step that has the sign-in that waits. */
export const WAITING_FIELD = 'waiting'
/** A sign-in waits no longer for its second step. */
const WAITING_MS = 10 * 60 * 1000

/** A user who has done the first step: whom, and how. */
export interface FirstStep extends Authentication {
  readonly user: UserRecord
  /** With which the user authenticated at a provider. undefined: the user did not. */
  readonly identity: IdentityKey | undefined
  /** The proof of an identity that the user connects to the account by this sign-in. undefined: none. */
  readonly link: SecretHash | undefined
}

/** A session whose user is asked for a factor of a higher level. It takes the place of the first step. */
export interface StepUp {
  readonly sessionId: SessionId
  readonly level: AuthenticationLevel
}

/** The same, as the form comes back while the session is active. */
interface OpenStepUp extends StepUp {
  /** When the session ends. */
  readonly expiresAt: EpochMs
}

/** A sign-in whose first step was done in this browser, and whose second step is not. */
export interface Waiting extends FirstStep, Pick<Opened, 'madeAt' | 'use'> {
  /** undefined: a sign-in, and not a step-up. */
  readonly stepUp: OpenStepUp | undefined
}

/** The members of the value, in order: user, methods, time, provider, identity, proof, digest of the hash of the password, and the session and
 * the level of a step-up. */
type Members = readonly [
  UserId,
  readonly AuthenticationMethod[],
  EpochMs | null,
  ProviderId | null,
  IdentityKey | null,
  SecretHash | null,
  string,
  SessionId | null,
  AuthenticationLevel | null,
]

/**
 * Makes the value that a sign-in waits with in the form of its second step (decision 0034). It is neither a row nor a cookie, so no other
 * endpoint can take it for a session (threats.md UI-14).
 */
export function mintWaiting(
  context: Pick<Context, 'clockCheck' | 'random' | 'secrets'>,
  target: SignInTarget,
  { user, methods, at, providerId, identity, link }: FirstStep,
  stepUp: StepUp | undefined,
): string {
  const password = passwordDigest(context, user)
  const { sessionId = null, level = null } = stepUp ?? {}
  const how = [methods, at ?? null, providerId ?? null, identity ?? null, link ?? null] as const
  const members: Members = [user.id, ...how, password, sessionId, level]
  return seal(context, sealOf(target), members)
}

/**
 * Opens the value of a form of the second step. Returns undefined unless the sign-in waits in this browser for this target, and neither
 * the account nor its password has changed since. A step-up ends with its session.
 */
export async function openWaiting(
  context: Pick<Context, 'clockCheck' | 'notBefore' | 'random' | 'secrets' | 'sessionSeen' | 'settings'> &
    StoreNeeds<'consumeOnce' | 'findSession' | 'findUser'>,
  { cookies, params }: Pick<Request, 'cookies' | 'params'>,
  target: SignInTarget,
): Promise<Waiting | undefined> {
  const opened = openSealed(context, sealOf(target), params.get(WAITING_FIELD) ?? '', WAITING_MS)
  if (opened === undefined) return undefined
  const { madeAt, use } = opened
  const [userId, methods, at, providerId, identity, link, password, sessionId, level] =
    opened.members as unknown as Members
  const [user, serverNotBefore] = await Promise.all([context.store.findUser(userId), context.notBefore()])
  if (!isLiveSince(user, madeAt) || madeAt < serverNotBefore) return undefined
  if (passwordDigest(context, user) !== password) return undefined
  const session = sessionId === null ? undefined : (await findSignedIn(context, cookies))?.session
  if (sessionId !== null && session?.id !== sessionId) return undefined
  const stepUp =
    session === undefined || level === null ? undefined : { sessionId: session.id, level, expiresAt: session.expiresAt }
  const how = { methods, at: at ?? undefined, providerId: providerId ?? undefined, identity: identity ?? undefined }
  return { user, ...how, link: link ?? undefined, stepUp, madeAt, use }
}

function sealOf(target: SignInTarget): Seal {
  return { kind: 'second-step', browserHash: target.browserHash, bound: [keyOf(target)] }
}

function passwordDigest({ secrets }: Pick<Context, 'secrets'>, { passwordHash }: UserRecord): string {
  return secrets.digest('sealed', ['password', passwordHash ?? ''])
}
