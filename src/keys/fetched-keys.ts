import type { OutboundClient, OutboundOutcome, UnreachableReason } from '../ports/outbound.ts'
import { after, type EpochMs } from '../protocol/brand.ts'
import { parseKeySet, type JwkSet } from '../protocol/client-keys.ts'
import { openRecentlyUsed, weightOf } from '../protocol/recently-used.ts'

/** The keys at one URI. */
interface Copy {
  readonly set: JwkSet
  readonly etag: string | undefined
  /** When the host last confirmed the keys. */
  readonly confirmedAt: EpochMs
  readonly freshUntil: EpochMs
  /** When the host was last asked, with or without an answer. */
  readonly askedAt: EpochMs
}

export type KeysFound =
  | { readonly kind: 'found'; readonly set: JwkSet }
  | { readonly kind: 'keys-unavailable'; readonly reason: string }

/** Keys of clients, as they are at the clients' URIs. */
export interface FetchedKeys {
  /** The keys at a URI: a copy while it is fresh, or while the host cannot be asked. */
  readonly current: (uri: string, network: string) => Promise<KeysFound>
  /**
   * For a signature that the keys `failed` do not verify: the keys as they are now. undefined: the host was asked a moment ago, and these are
   * still its keys.
   */
  readonly renewed: (uri: string, failed: JwkSet, network: string) => Promise<KeysFound | undefined>
}

/** For how many seconds a copy is fresh: at least, if the host does not say it, and at most. */
const FRESH = { least: 60, usual: 5 * 60, most: 60 * 60 }
/** For how long a copy serves while the host cannot be asked. */
const OUTAGE_MS = 24 * 60 * 60 * 1000
/** The least time between two requests for one URI of which there is a copy. */
const PAUSE_MS = 30 * 1000
/** The least size in bytes of all copies; at most it is twice that. */
const KEPT_BYTES = 8 * 1024 * 1024

/** Opens the copies of keys, which each node has for itself. RFC 7517 §5. */
export function openFetchedKeys(outbound: OutboundClient, clock: () => EpochMs): FetchedKeys {
  const copies = openRecentlyUsed<Copy>(KEPT_BYTES, weightOf)
  const underWay = new Map<string, Promise<KeysFound>>()

  function ask(uri: string, network: string): Promise<KeysFound> {
    const asking = request(uri, network).finally(() => underWay.delete(uri))
    underWay.set(uri, asking)
    return asking
  }

  async function request(uri: string, network: string): Promise<KeysFound> {
    const kept = copies.get(uri)
    if (kept !== undefined) copies.set(uri, { ...kept, askedAt: clock() })
    const question = { url: uri, etag: kept?.etag, hasCopy: kept !== undefined, network }
    const outcome = await outbound.get({ purpose: 'client-keys', ...question })
    const copy = copyOf(outcome, kept, clock())
    if (copy === undefined) copies.delete(uri)
    else copies.set(uri, copy)
    if (copy !== undefined) return { kind: 'found', set: copy.set }
    const isAnswer = outcome.kind === 'fetched' || outcome.kind === 'not-modified'
    return { kind: 'keys-unavailable', reason: isAnswer ? 'not-a-key-set' : outcome.reason }
  }

  return {
    async current(uri, network) {
      const kept = copies.get(uri)
      if (kept === undefined) return underWay.get(uri) ?? ask(uri, network)
      const now = clock()
      const mayServe = now < kept.freshUntil || (now < after(kept.askedAt, PAUSE_MS) && isServing(kept, now))
      return mayServe ? { kind: 'found', set: kept.set } : ask(uri, network)
    },
    async renewed(uri, failed, network) {
      const asking = underWay.get(uri)
      if (asking !== undefined) return asking
      const kept = copies.get(uri)
      // Another request has fetched them while this one verified.
      if (kept !== undefined && kept.set !== failed) return { kind: 'found', set: kept.set }
      return kept === undefined || clock() < after(kept.askedAt, PAUSE_MS) ? undefined : ask(uri, network)
    },
  }
}

/** The host was not asked. Another network's request asks it (threats.md OUT-13). */
const NOT_SENT: readonly UnreachableReason[] = ['budget', 'busy', 'off']

/** The copy after an answer of the host; undefined: there is none that can serve. */
function copyOf(outcome: OutboundOutcome, kept: Copy | undefined, now: EpochMs): Copy | undefined {
  switch (outcome.kind) {
    case 'fetched': {
      const set = parseKeySet(outcome.text)
      return set === undefined ? undefined : { set, ...confirmed(outcome, now) }
    }
    case 'not-modified':
      return kept === undefined ? undefined : { set: kept.set, ...confirmed(outcome, now) }
    case 'unreachable':
      if (kept === undefined || !isServing(kept, now)) return undefined
      return NOT_SENT.includes(outcome.reason) ? kept : { ...kept, askedAt: now }
    case 'unacceptable':
      return undefined
  }
}

function confirmed(
  { etag, freshSeconds = FRESH.usual }: Extract<OutboundOutcome, { readonly freshSeconds: unknown }>,
  now: EpochMs,
): Omit<Copy, 'set'> {
  const seconds = Math.min(Math.max(freshSeconds, FRESH.least), FRESH.most)
  return { etag, confirmedAt: now, freshUntil: after(now, seconds * 1000), askedAt: now }
}

function isServing({ confirmedAt }: Copy, now: EpochMs): boolean {
  return now < after(confirmedAt, OUTAGE_MS)
}
