import type { Context, StoreNeeds } from '../../../ports/context.ts'
import type { Request } from '../../../ports/message.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import type { Authentication, AuthenticationMethod, ProviderId } from '../../../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { IdentityKey } from '../../../protocol/sign-in/provider-identity.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import type { UserId } from '../../../protocol/ids.ts'
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

/** A sign-in whose first step was done in this browser, and whose second step is not. */
export interface Waiting extends FirstStep, Pick<Opened, 'madeAt' | 'use'> {}

/** The members of the value, in order: user, methods, time, provider, identity, proof, digest of the hash of the password. */
type Members = readonly [
  UserId,
  readonly AuthenticationMethod[],
  EpochMs | null,
  ProviderId | null,
  IdentityKey | null,
  SecretHash | null,
  string,
]

/**
 * Makes the value that a sign-in waits with in the form of its second step (decision 0034). It is neither a row nor a cookie, so no other
 * endpoint can take it for a session (threats.md UI-14).
 */
export function mintWaiting(
  context: Pick<Context, 'clockCheck' | 'random' | 'secrets'>,
  target: SignInTarget,
  { user, methods, at, providerId, identity, link }: FirstStep,
): string {
  const password = passwordDigest(context, user)
  const members: Members = [user.id, methods, at ?? null, providerId ?? null, identity ?? null, link ?? null, password]
  return seal(context, sealOf(target), members)
}

/**
 * Opens the value of a form of the second step. Returns undefined unless the sign-in waits in this browser for this target, and neither
 * the account nor its password has changed since.
 */
export async function openWaiting(
  context: Pick<Context, 'clockCheck' | 'notBefore' | 'random' | 'secrets'> & StoreNeeds<'consumeOnce' | 'findUser'>,
  { params }: Pick<Request, 'params'>,
  target: SignInTarget,
): Promise<Waiting | undefined> {
  const opened = openSealed(context, sealOf(target), params.get(WAITING_FIELD) ?? '', WAITING_MS)
  if (opened === undefined) return undefined
  const { madeAt, use } = opened
  const [userId, methods, at, providerId, identity, link, password] = opened.members as unknown as Members
  const [user, serverNotBefore] = await Promise.all([context.store.findUser(userId), context.notBefore()])
  if (!isLiveSince(user, madeAt) || madeAt < serverNotBefore) return undefined
  if (passwordDigest(context, user) !== password) return undefined
  const how = { methods, at: at ?? undefined, providerId: providerId ?? undefined, identity: identity ?? undefined }
  return { user, ...how, link: link ?? undefined, madeAt, use }
}

function sealOf(target: SignInTarget): Seal {
  return { kind: 'second-step', browserHash: target.browserHash, bound: [keyOf(target)] }
}

function passwordDigest({ secrets }: Pick<Context, 'secrets'>, { passwordHash }: UserRecord): string {
  return secrets.digest('sealed', ['password', passwordHash ?? ''])
}
