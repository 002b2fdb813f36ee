import type { Context, StoreNeeds } from '../../../ports/context.ts'
import type { Request } from '../../../ports/message.ts'
import type { EnrolmentReason } from '../../../ports/operations/second-factor.ts'
import type { SignInGroups } from '../../../ports/operations/session.ts'
import type { SessionRecord, UserRecord } from '../../../ports/records/user.ts'
import { findRequiredProvider, isUsable } from '../../../users/provider-routing.ts'
import {
  APPLICATION,
  type Authentication,
  type AuthenticationLevel,
  type AuthenticationMethod,
  type ProviderId,
} from '../../../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { IdentityKey } from '../../../protocol/sign-in/provider-identity.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import type { SessionId, UserId } from '../../../protocol/ids.ts'
import { findSignedIn } from '../../authorization/session.ts'
import { isLiveSince } from '../../../tokens/invalid-principal.ts'
import { openSealed, seal, type Opened, type Seal } from '../../sealed.ts'
import { openGroups, type SealedGroups, sealGroups } from '../provider/groups.ts'
import { changingSession } from '../changing-session.ts'
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
  /** In which groups the provider says that the user is. They count from the session on. undefined: it was not asked, or did not answer. */
  readonly groups: SignInGroups | undefined
}

/** What the user of a session is asked for. The session takes the place of the first step. */
export interface StepUp {
  readonly level: AuthenticationLevel
  /** The user sets a factor up, because the account has none. If not, the user confirms with one that the account has. */
  readonly addsFactor: boolean
}

/** The same, as the form comes back while the session is active. */
interface OpenStepUp extends StepUp {
  readonly session: SessionRecord
}

/** A sign-in whose first step was done in this browser, and whose second step is not. */
export interface Waiting extends FirstStep, Pick<Opened, 'madeAt' | 'use'> {
  /** undefined: a sign-in, and not a step-up. */
  readonly stepUp: OpenStepUp | undefined
}

/**
 * The members of the value, in order: user, methods, time, provider, identity, proof, digest of the hash of the password, of a step-up
 * the session, the level and whether it adds a factor, and the groups: the places of the provider's list, with a digest of what was read.
 */
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
  1 | null,
  SealedGroups | null,
]

/**
 * Makes the value that a sign-in waits with in the form of its second step. It is neither a row nor a cookie, so no other
 * endpoint can take it for a session (threats.md UI-14).
 */
export function mintWaiting(
  context: Context,
  target: SignInTarget,
  { user, methods, at, providerId, identity, link, groups }: FirstStep,
  stepUp: (StepUp & { readonly sessionId: SessionId }) | undefined,
): string {
  const password = passwordDigest(context, user)
  const { sessionId = null, level = null, addsFactor = false } = stepUp ?? {}
  const how = [methods, at ?? null, providerId ?? null, identity ?? null, link ?? null] as const
  const said = sealGroups(context, groups)
  const members: Members = [user.id, ...how, password, sessionId, level, addsFactor ? 1 : null, said]
  return seal(context, sealOf(target), members)
}

/**
 * Opens the value of a form of the second step. Returns undefined unless the sign-in waits in this browser for this target, and neither
 * the account nor its password has changed since. A step-up ends with its session.
 */
export async function openWaiting(
  context: Context,
  { cookies, params }: Pick<Request, 'cookies' | 'params'>,
  target: SignInTarget,
): Promise<Waiting | undefined> {
  const opened = openSealed(context, sealOf(target), params.get(WAITING_FIELD) ?? '', WAITING_MS)
  // Since sign-in is delegated, the application alone signs in (threats.md DEL-14).
  if (opened === undefined || context.settings.delegate !== undefined) return undefined
  const { madeAt, use } = opened
  const [userId, methods, at, providerId, identity, link, password, sessionId, level, addsFactor, said] =
    opened.members as unknown as Members
  const [user, serverNotBefore] = await Promise.all([context.store.findUser(userId), context.notBefore()])
  if (!isLiveSince(user, madeAt) || madeAt < serverNotBefore) return undefined
  if (passwordDigest(context, user) !== password) return undefined
  const session = sessionId === null ? undefined : (await findSignedIn(context, cookies))?.session
  if (sessionId !== null && session?.id !== sessionId) return undefined
  const stepUp = session === undefined || level === null ? undefined : { session, level, addsFactor: addsFactor === 1 }
  const how = { methods, at: at ?? undefined, providerId: providerId ?? undefined, identity: identity ?? undefined }
  const groups = await openGroups(context, providerId, said)
  if (groups === 'otherwise') return undefined
  const first = { user, ...how, link: link ?? undefined, groups }
  return (await mayGoOn(context, first)) ? { ...first, stepUp, madeAt, use } : undefined
}

/**
 * Whether a first step still allows what follows from it: the second step, and the session. The user has the identity, its provider is
 * usable (threats.md UP-07), and the address requires no other one, unless the sign-in connects an account there. The operations of the
 * store hold the same (`SignInBasis`), because copies and reads of an endpoint may be older than what they decide about.
 */
export async function mayGoOn(
  { providers, settings, store }: Context,
  { user, providerId, identity, link }: FirstStep,
): Promise<boolean> {
  if (settings.delegate !== undefined) return providerId === APPLICATION
  if (identity !== undefined && !(await isIdentityUsable({ settings, store }, user, identity))) return false
  const required = findRequiredProvider(await providers(), user.email)
  if (required === undefined || required.id === providerId) return true
  const proof = link === undefined ? undefined : await store.findIdentityProof(user.id)
  return proof?.hash === link && proof?.identity.providerId === required.id
}

type GoingOn = 'findIdentity' | 'findIdentityProof' | 'findProvider'

async function isIdentityUsable(
  { settings, store }: Pick<Context, 'settings'> & StoreNeeds<GoingOn>,
  { id }: UserRecord,
  key: IdentityKey,
): Promise<boolean> {
  const identity = await store.findIdentity(key)
  const provider = identity?.userId === id ? await store.findProvider(identity.providerId) : undefined
  return provider !== undefined && isUsable(settings, provider)
}

/**
 * What allows the user of a waiting sign-in to set a second factor up, for the operation that stores it: the first step, or the session in
 * its place. undefined: nothing, because the user is to confirm with a factor that the account has.
 */
export async function findEnrolmentReason(
  context: Context,
  { user, madeAt, providerId, identity, link, stepUp }: Waiting,
): Promise<EnrolmentReason | undefined> {
  if (stepUp === undefined)
    return { kind: 'sign-in', since: madeAt, passwordHash: user.passwordHash, providerId, identity, proof: link }
  if (!stepUp.addsFactor) return undefined
  return { kind: 'session', session: await changingSession(context, { session: stepUp.session, user }) }
}

function sealOf(target: SignInTarget): Seal {
  return { kind: 'second-step', browserHash: target.browserHash, bound: [keyOf(target)] }
}

function passwordDigest({ secrets }: Context, { passwordHash }: UserRecord): string {
  return secrets.digest('sealed', ['password', passwordHash ?? ''])
}
