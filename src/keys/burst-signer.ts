import { sign } from 'node:crypto'
import type { TokenSigner } from '../ports/tokens.ts'
import type { KeyPurpose, SigningAlgorithm } from '../ports/records/key.ts'
import { ALGORITHMS } from './algorithms.ts'
import type { KeyRing, KeySet, Signer } from './key-ring.ts'
import type { SignElsewhere } from './signing-thread.ts'
import type { TokenType } from './token-header.ts'

/** The number of event-loop turns in which a burst may grow. */
const TURN_LIMIT = 4
/** How long a burst may grow. A turn in which thousands of requests are refused takes several milliseconds. */
const GROWTH_MS = 5

interface Waiting {
  readonly purpose: KeyPurpose
  readonly claims: string
  readonly algorithm: SigningAlgorithm | undefined
  readonly type: TokenType
  readonly resolve: (token: string) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Opens a signer that makes all signatures of an event-loop turn at its end, one after the other, grouped by key. That takes a
 * third of the time of signing each one between other HTTP work, because code and tables stay in the processor's caches.
 * `signElsewhere` gets the larger bursts; absent, or where it fails, this thread signs them.
 */
export function openBurstSigner(ring: Pick<KeyRing, 'known' | 'read'>, signElsewhere?: SignElsewhere): TokenSigner {
  let waiting: Waiting[] = []

  function signWaiting(): void {
    const burst = waiting
    waiting = []
    const keys = ring.known()
    if (keys !== undefined) signBurst(burst, keys)
    else {
      ring.read().then(
        (read) => signBurst(burst, read),
        (cause: unknown) => burst.forEach(({ reject }) => reject(cause)),
      )
    }
  }

  function signBurst(burst: readonly Waiting[], keys: KeySet): void {
    for (const [signer, share] of Map.groupBy(burst, (one) => signerOf(one, keys))) {
      if (signer !== undefined) signShare(share, signer, signElsewhere)
      else for (const { algorithm, reject } of share) reject(new Error(`No ${algorithm} key signs ID tokens.`))
    }
  }

  /** Waits another turn while each turn adds tokens: the larger the burst, the better the caches are used. */
  function atEndOfTurn(seen: number, turn: number, untilMs: number): void {
    setImmediate(() => {
      const count = waiting.length
      if (count > seen && turn < TURN_LIMIT && performance.now() < untilMs) atEndOfTurn(count, turn + 1, untilMs)
      else signWaiting()
    })
  }

  function enqueue(work: Omit<Waiting, 'resolve' | 'reject'>): Promise<string> {
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) atEndOfTurn(0, 1, performance.now() + GROWTH_MS)
      waiting.push({ ...work, resolve, reject })
    })
  }

  return {
    sign: (claims, algorithm, jwtType) => enqueue({ purpose: 'access', claims, algorithm, type: jwtType }),
    signIdToken: (claims, algorithm) => enqueue({ purpose: 'id', claims, algorithm, type: 'JWT' }),
    signLogoutToken: (claims, algorithm) => enqueue({ purpose: 'id', claims, algorithm, type: 'logout+jwt' }),
  }
}

function signerOf({ purpose, algorithm }: Waiting, keys: KeySet): Signer | undefined {
  if (purpose === 'id') return algorithm === undefined ? undefined : keys.idTokens.get(algorithm)
  return (algorithm === undefined ? undefined : keys.byAlgorithm.get(algorithm)) ?? keys.signing
}

function signShare(
  share: readonly Waiting[],
  { record, privateKey, headers }: Signer,
  signElsewhere: SignElsewhere | undefined,
): void {
  const { digest, encode: encodeSignature } = ALGORITHMS[record.algorithm]
  const inputs = share.map(({ claims, type }) => `${headers[type]}.${encode(claims)}`)
  const answer = (index: number, signature: Uint8Array): void =>
    share[index]?.resolve(`${inputs[index]}.${encodeSignature(signature)}`)

  function signHere(): void {
    for (const [index, input] of inputs.entries()) {
      try {
        answer(index, sign(digest, Buffer.from(input, 'latin1'), privateKey))
      } catch (cause) {
        share[index]?.reject(cause)
      }
    }
  }

  const elsewhere = signElsewhere?.({ digest, privateKey, inputs })
  if (elsewhere === undefined) signHere()
  else elsewhere.then((signatures) => signatures.forEach((one, index) => answer(index, one)), signHere)
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}
