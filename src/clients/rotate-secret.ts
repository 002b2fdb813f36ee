import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { mintOrderedId } from '../protocol/ids.ts'
import { foreignHashOf, hashGivenSecret, isSlowSecret, matchesSecretHash } from '../protocol/client/authentication.ts'
import type { SecretHash, Secrets } from '../protocol/secrets.ts'

/** Seconds for which the previous secret remains valid: the default, and the maximum. */
export const SECRET_OVERLAP = { usual: 86_400, most: 30 * 86_400 } as const

/** The result of rotating a client's secret. */
export type SecretRotationOutcome =
  /** `secret` is returned here once and cannot be read again. */
  | { readonly kind: 'rotated'; readonly secret: string; readonly previousUntil: EpochMs }
  /** The client is public, or authenticates with keys. */
  | { readonly kind: 'no-secret' }
  /** The secret was rotated or the client deleted at the same time, or this node does not know of that yet. */
  | { readonly kind: 'conflict' }
  /** The secret to keep is not a currently valid one. Nothing was changed. */
  | { readonly kind: 'wrong-secret' }

export interface RotationOptions {
  /** How long another secret remains valid beside the new one. */
  readonly overlapSeconds: number
  /** The secret to keep, as its holder presents it; undefined: the newest. */
  readonly kept: string | undefined
}

/**
 * Gives a client a new secret. The previous one remains valid for a while, so that an operator who runs the client in many
 * places can replace it in one place after the other (threats.md CC-06).
 *
 * At most two secrets are valid: an older third one ends at once. A client that never received the newest secret, because
 * the response was lost, names the previous secret as the one to keep; that secret then keeps its original end.
 */
export async function rotateClientSecret(
  { clock, random, secrets, store }: Context,
  client: Pick<ClientRecord, 'id' | 'metadata' | 'secretHash' | 'previousSecret'>,
  options: RotationOptions,
): Promise<SecretRotationOutcome> {
  const { id, metadata, secretHash: previous } = client
  if (previous === undefined || metadata.token_endpoint_auth_method === 'private_key_jwt') return { kind: 'no-secret' }
  const now = clock()
  const kept = findKept(secrets, { ...client, secretHash: previous }, options, now)
  if (kept === undefined) return { kind: 'wrong-secret' }
  const { token: secret, hash } = secrets.mint('client-secret', mintOrderedId(now, random), random)
  const rotation = { id, previous, secretHash: hash, kept: kept.hash, keptUntil: kept.until }
  const outcome = await store.rotateClientSecret(rotation)
  return outcome === 'rotated' ? { kind: 'rotated', secret, previousUntil: kept.until } : { kind: 'conflict' }
}

/** The result of giving a client a secret. */
export type GivenSecretOutcome =
  | Exclude<SecretRotationOutcome, { readonly kind: 'rotated' | 'wrong-secret' }>
  | { readonly kind: 'set'; readonly previousUntil: EpochMs }
  /** The client has this secret already. */
  | { readonly kind: 'unchanged' }

/** Gives a client a secret that it already has elsewhere. The previous one remains valid as at a rotation. */
export async function setClientSecret(
  { clock, passwords, secrets, store }: Omit<Context, 'random'> & Context,
  { id, metadata, secretHash: previous }: Pick<ClientRecord, 'id' | 'metadata' | 'secretHash'>,
  { secret, overlapSeconds }: { readonly secret: string; readonly overlapSeconds: number },
): Promise<GivenSecretOutcome> {
  if (previous === undefined || metadata.token_endpoint_auth_method === 'private_key_jwt') return { kind: 'no-secret' }
  // A secret that the hash covers in part only may be another one.
  const isSame = isSlowSecret(previous)
    ? (await passwords.verify(secret, foreignHashOf(previous), undefined)).replaceable !== undefined
    : matchesSecretHash(secrets, id, secret, previous)
  if (isSame) return { kind: 'unchanged' }
  const keptUntil = after(clock(), overlapSeconds * 1000)
  const secretHash = hashGivenSecret(secrets, id, secret)
  const outcome = await store.rotateClientSecret({ id, previous, secretHash, kept: previous, keptUntil })
  return outcome === 'rotated' ? { kind: 'set', previousUntil: keptUntil } : { kind: 'conflict' }
}

function findKept(
  secrets: Pick<Secrets, 'digest' | 'verify'>,
  { id, secretHash, previousSecret }: { readonly secretHash: SecretHash } & Pick<ClientRecord, 'id' | 'previousSecret'>,
  { overlapSeconds, kept }: RotationOptions,
  now: EpochMs,
): ClientRecord['previousSecret'] {
  const until = after(now, overlapSeconds * 1000)
  if (kept === undefined || matchesSecretHash(secrets, id, kept, secretHash)) {
    return { hash: secretHash, until }
  }
  if (previousSecret === undefined || now >= previousSecret.until) return undefined
  const isPrevious = matchesSecretHash(secrets, id, kept, previousSecret.hash)
  return isPrevious ? { hash: previousSecret.hash, until: earlier(until, previousSecret.until) } : undefined
}

function earlier(one: EpochMs, other: EpochMs): EpochMs {
  return one < other ? one : other
}
