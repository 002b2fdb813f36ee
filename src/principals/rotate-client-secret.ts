import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import { after, type EpochMs } from '../protocol/brand.ts'
import { mintOrderedId } from '../protocol/ids.ts'
import { matchesCredential, type SecretHash, type Secrets } from '../protocol/secrets.ts'

/** Seconds that the secret before goes on working: when nobody says, and at most. */
export const SECRET_OVERLAP = { usual: 86_400, most: 30 * 86_400 } as const

type Needs = Pick<Context, 'clock' | 'random' | 'secrets'> & {
  readonly store: Pick<Context['store'], 'rotateClientSecret'>
}

/** What became of a client's secret. */
export type SecretRotationOutcome =
  /** `secret` can be read here and never again. */
  | { readonly kind: 'rotated'; readonly secret: string; readonly previousUntil: EpochMs }
  /** A public client has none. */
  | { readonly kind: 'public' }
  /** It was rotated, or the client deleted, at the same moment, or this node does not know of that yet. */
  | { readonly kind: 'conflict' }
  /** What was to be kept does not work now. Nothing was changed. */
  | { readonly kind: 'wrong-secret' }

export interface RotationOptions {
  /** How long another secret works beside the new one. */
  readonly overlapSeconds: number
  /** Which one, as its holder presents it; undefined: the newest. */
  readonly kept: string | undefined
}

/**
 * Gives a client a new secret, beside which the one before works for a while, so that whoever runs the client in many places
 * changes one after the other (threats.md CC-06). A secret before that one ends at once: two work, never three. Who never got
 * the newest one, because the answer was lost, presents the one before it, which ends when it was to end.
 */
export async function rotateClientSecret(
  { clock, random, secrets, store }: Needs,
  client: Pick<ClientRecord, 'id' | 'secretHash' | 'previousSecret'>,
  wishes: RotationOptions,
): Promise<SecretRotationOutcome> {
  const { id, secretHash: previous } = client
  if (previous === undefined) return { kind: 'public' }
  const now = clock()
  const kept = findKept(secrets, { ...client, secretHash: previous }, wishes, now)
  if (kept === undefined) return { kind: 'wrong-secret' }
  const { token: secret, hash } = secrets.mint('client-secret', mintOrderedId(now, random), random)
  const rotation = { id, previous, secretHash: hash, kept: kept.hash, keptUntil: kept.until }
  const outcome = await store.rotateClientSecret(rotation)
  return outcome === 'rotated' ? { kind: 'rotated', secret, previousUntil: kept.until } : { kind: 'conflict' }
}

function findKept(
  secrets: Pick<Secrets, 'verify'>,
  { secretHash, previousSecret }: { readonly secretHash: SecretHash } & Pick<ClientRecord, 'previousSecret'>,
  { overlapSeconds, kept }: RotationOptions,
  now: EpochMs,
): ClientRecord['previousSecret'] {
  const until = after(now, overlapSeconds * 1000)
  if (kept === undefined || matchesCredential(secrets, 'client-secret', kept, secretHash)) {
    return { hash: secretHash, until }
  }
  if (previousSecret === undefined || now >= previousSecret.until) return undefined
  const isPrevious = matchesCredential(secrets, 'client-secret', kept, previousSecret.hash)
  return isPrevious ? { hash: previousSecret.hash, until: earlier(until, previousSecret.until) } : undefined
}

function earlier(one: EpochMs, other: EpochMs): EpochMs {
  return one < other ? one : other
}
