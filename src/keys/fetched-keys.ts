import {
  OUTAGE_PAUSE_MS,
  servesWhileLimited,
  wasSent,
  type LimitedReason,
  type OutboundClient,
  type OutboundOutcome,
} from '../ports/outbound.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { parseKeySet, type JwkSet } from '../protocol/client/keys.ts'
import { openRecentlyUsed, weightOf } from '../base/recently-used.ts'

/** The keys at one URI. */
interface Copy {
  readonly set: JwkSet
  readonly etag: string | undefined
  /** When the host last confirmed the keys. */
  readonly confirmedAt: EpochMs
  readonly freshUntil: EpochMs
  /** When the host was last asked, with or without an answer. */
  readonly askedAt: EpochMs
  /** The same, because of a signature that the keys did not verify. */
  readonly renewedAt: EpochMs | undefined
}

/** A request after which there was no copy. */
interface Failure {
  readonly found: KeysFound
  readonly askedAt: EpochMs
}

/** `isSent`: the host was asked. */
interface Asked {
  readonly found: KeysFound
  readonly isSent: boolean
}

export type KeysFound =
  | { readonly kind: 'found'; readonly set: JwkSet }
  | { readonly kind: 'keys-unavailable'; readonly reason: string }
  /** A limit of this server kept the host from being asked, and no copy serves, because a caller could reach it (threats.md OUT-15). */
  | { readonly kind: 'limited'; readonly reason: string; readonly retryAfterSeconds: number }

/** The host was asked a moment ago because of such a signature, or did not answer. It may have a key that the copy lacks. */
export interface KeysPaused {
  readonly kind: 'paused'
  readonly retryAfterSeconds: number
}

/** Keys of clients and providers, as they are at their URIs. */
export interface FetchedKeys {
  /** The keys at a URI: a copy while it is fresh, or while the host cannot be asked. */
  readonly current: (uri: string, network: string) => Promise<KeysFound>
  /** For a signature that the keys `failed` do not verify: the keys as they are now. undefined: there is no longer a copy. */
  readonly renewed: (uri: string, failed: JwkSet, network: string) => Promise<KeysFound | KeysPaused | undefined>
}

/** For how many seconds a copy is fresh: at least, if the host does not say it, and at most. */
const FRESH = { least: 60, usual: 5 * 60, most: 60 * 60 }
export interface KeyTimes {
  /** For how long a copy serves while the host cannot be asked. */
  readonly outageMs: number
  /** The least time between two requests for a URI of which there is no copy. */
  readonly failedMs: number
}

/** A request for the keys of a client counts for its network and its host, and so none is spared. */
export const CLIENT_KEY_TIMES: KeyTimes = { outageMs: 24 * 60 * 60 * 1000, failedMs: 0 }
/** No budget limits requests to a provider. Its keys speak for persons, and a provider that withdraws them may answer with any error. */
export const PROVIDER_KEY_TIMES: KeyTimes = { outageMs: 15 * 60 * 1000, failedMs: 15 * 1000 }

/**
 * The least time between two requests for one URI because of signatures that the copy does not verify. The first of those is sent at once:
 * the keys may have been replaced a moment after they were fetched.
 */
const PAUSE_MS = 30 * 1000
/** The least number of URIs without keys that are remembered; at most it is twice that. */
const FAILURES = 1000
/** The least size in bytes of all copies; at most it is twice that. */
const KEPT_BYTES = 8 * 1024 * 1024

/** Opens the copies of keys, which each node has for itself. RFC 7517 §5. */
export function openFetchedKeys(
  outbound: Pick<OutboundClient, 'get'>,
  clock: () => EpochMs,
  { outageMs, failedMs }: KeyTimes,
): FetchedKeys {
  const copies = openRecentlyUsed<Copy>(KEPT_BYTES, weightOf)
  const failures = openRecentlyUsed<Failure>(FAILURES)
  const underWay = new Map<string, Promise<Asked>>()

  /** Waits for the request that is under way. If there is none, or it was not sent, the request is that of this network. */
  async function ask(uri: string, network: string, why?: 'renewed'): Promise<KeysFound> {
    const other = underWay.get(uri)
    const joined = other && (await other)
    if (joined?.isSent === true) return joined.found
    const asking = request(uri, network, why).finally(() => underWay.delete(uri))
    underWay.set(uri, asking)
    return (await asking).found
  }

  async function request(uri: string, network: string, why?: 'renewed'): Promise<Asked> {
    const kept = copies.get(uri)
    const isRenewal = kept !== undefined && why === undefined
    const outcome = await outbound.get({ purpose: 'client-keys', url: uri, etag: kept?.etag, isRenewal, network })
    if (outcome.kind === 'limited') {
      const isEnough = isRenewal && servesLimited(kept, outcome.reason, clock(), outageMs)
      return { found: isEnough ? { kind: 'found', set: kept.set } : outcome, isSent: false }
    }
    const isSent = wasSent(outcome)
    const renewedAt = why === 'renewed' && isSent ? clock() : kept?.renewedAt
    const copy = copyOf(outcome, kept, clock(), outageMs)
    if (copy === undefined) copies.delete(uri)
    else copies.set(uri, { ...copy, renewedAt })
    if (copy !== undefined) return { found: { kind: 'found', set: copy.set }, isSent }
    const isAnswer = outcome.kind === 'fetched' || outcome.kind === 'not-modified'
    const found = { kind: 'keys-unavailable', reason: isAnswer ? 'not-a-key-set' : outcome.reason } as const
    if (isSent) failures.set(uri, { found, askedAt: clock() })
    return { found, isSent }
  }

  return {
    async current(uri, network) {
      const kept = copies.get(uri)
      const now = clock()
      const failure = failures.get(uri)
      if (kept === undefined && failure !== undefined && now < after(failure.askedAt, failedMs)) return failure.found
      if (kept === undefined) return ask(uri, network)
      const mayServe =
        now < kept.freshUntil || (now < after(kept.askedAt, OUTAGE_PAUSE_MS) && isServing(kept, now, outageMs))
      return mayServe ? { kind: 'found', set: kept.set } : ask(uri, network)
    },
    async renewed(uri, failed, network) {
      if (underWay.has(uri)) return ask(uri, network, 'renewed')
      const kept = copies.get(uri)
      // Another request has fetched them while this one verified.
      if (kept !== undefined && kept.set !== failed) return { kind: 'found', set: kept.set }
      if (kept === undefined) return undefined
      const now = clock()
      const pausedUntil = kept.renewedAt === undefined ? now : after(kept.renewedAt, PAUSE_MS)
      if (now < pausedUntil) return pausedFor(pausedUntil - now)
      const found = await ask(uri, network, 'renewed')
      const copy = copies.get(uri)
      const isDown = found.kind === 'found' && copy !== undefined && downSinceOf(copy) !== undefined
      return isDown ? pausedFor(PAUSE_MS) : found
    },
  }
}

/** What the host, or the operator who switched requests off, leaves of a copy. */
type Answer = Exclude<OutboundOutcome, { readonly kind: 'limited' }>

/** The copy after an answer of the host; undefined: there is none that can serve. */
function copyOf(
  outcome: Answer,
  kept: Copy | undefined,
  now: EpochMs,
  outageMs: number,
): Omit<Copy, 'renewedAt'> | undefined {
  switch (outcome.kind) {
    case 'fetched': {
      const set = parseKeySet(outcome.text)
      return set === undefined ? undefined : { set, ...confirmed(outcome, now) }
    }
    case 'not-modified':
      return kept === undefined ? undefined : { set: kept.set, ...confirmed(outcome, now) }
    case 'unreachable':
      if (kept === undefined || !isServing(kept, now, outageMs)) return undefined
      return wasSent(outcome) ? { ...kept, askedAt: now } : kept
    case 'unacceptable':
      return undefined
  }
}

function confirmed(
  { etag, freshSeconds = FRESH.usual }: Extract<OutboundOutcome, { readonly freshSeconds: unknown }>,
  now: EpochMs,
): Omit<Copy, 'renewedAt' | 'set'> {
  const seconds = Math.min(Math.max(freshSeconds, FRESH.least), FRESH.most)
  return { etag, confirmedAt: now, freshUntil: after(now, seconds * 1000), askedAt: now }
}

function pausedFor(ms: number): KeysPaused {
  return { kind: 'paused', retryAfterSeconds: Math.ceil(ms / 1000) }
}

/** When the host was asked last, if it did not answer. */
function downSinceOf({ confirmedAt, askedAt }: Copy): EpochMs | undefined {
  return confirmedAt < askedAt ? askedAt : undefined
}

function servesLimited(kept: Copy, reason: LimitedReason, now: EpochMs, outageMs: number): boolean {
  const { freshUntil } = kept
  return isServing(kept, now, outageMs) && servesWhileLimited({ freshUntil, downSince: downSinceOf(kept) }, reason, now)
}

function isServing({ confirmedAt }: Copy, now: EpochMs, outageMs: number): boolean {
  return now < after(confirmedAt, outageMs)
}
