import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records.ts'
import { after, type EpochMs } from '../protocol/brand.ts'
import { mintOrderedId } from '../protocol/ids.ts'

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
  | { readonly kind: 'outrun' }

/**
 * Gives a client a new secret, beside which the one before works for a while, so that whoever runs the client in many places
 * changes one after the other (threats.md CC-06). A secret before that one ends at once: two work, never three.
 */
export async function rotateClientSecret(
  { clock, random, secrets, store }: Needs,
  { id, secretHash }: Pick<ClientRecord, 'id' | 'secretHash'>,
  overlapSeconds: number,
): Promise<SecretRotationOutcome> {
  if (secretHash === undefined) return { kind: 'public' }
  const now = clock()
  const { token: secret, hash } = secrets.seal('client-secret', mintOrderedId(now, random), random)
  const previousUntil = after(now, overlapSeconds * 1000)
  const outcome = await store.rotateClientSecret({ id, previous: secretHash, secretHash: hash, previousUntil })
  return outcome === 'rotated' ? { kind: 'rotated', secret, previousUntil } : { kind: 'outrun' }
}
