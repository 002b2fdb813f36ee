import { hash } from 'node:crypto'
import type { EpochMs } from '../base/brand.ts'
import { openSiteShares } from '../base/shares.ts'
import type { ProofUse } from '../ports/client-signatures.ts'

/**
 * Ids that are kept of one key, of one network and in all, 100 B each. None is displaced: a caller that exceeds its own waits. A network that
 * has more than its share of all waits too, so that one which floods leaves room for the others.
 */
export const USED_PROOFS = { key: 20_000, network: 100_000, all: 400_000 } as const

const PERIOD_MS = 30_000

/** The ids of the proofs that end in one period, and how many of them each key and network has. */
interface Period {
  readonly ids: Set<string>
  readonly keys: Map<string, number>
  readonly networks: Map<string, number>
}

/** Keeps the id of each proof until the proof ends, so that a repeated one is known however many others come meanwhile (RFC 9449 §11.1). */
export function openUsedProofs(limits: Readonly<Record<keyof typeof USED_PROOFS, number>> = USED_PROOFS): ProofUse {
  const periods = new Map<number, Period>()
  const shares = openSiteShares()

  function dropEnded(now: EpochMs): void {
    for (const [number, { networks }] of periods) {
      if (keptUntil(number) > now) continue
      periods.delete(number)
      for (const [network, count] of networks) shares.remove(network, count)
    }
  }

  const held = (of: 'keys' | 'networks', name: string): number =>
    periods.values().reduce((total, period) => total + (period[of].get(name) ?? 0), 0)

  /** The first of the periods whose end makes room. */
  function fullUntil(makesRoom: (period: Period) => boolean) {
    const numbers = [...periods].filter(([, period]) => makesRoom(period)).map(([number]) => number)
    return { kind: 'full', until: keptUntil(Math.min(...numbers)) } as const
  }

  return ({ id, endsAt }, { key, network = key }, now) => {
    dropEnded(now)
    const name = hash('sha256', `${key} ${id}`, 'base64url')
    if (periods.values().some(({ ids }) => ids.has(name))) return { kind: 'repeated' }
    if (held('keys', key) >= limits.key) return fullUntil(({ keys }) => keys.has(key))
    if (held('networks', network) >= limits.network) return fullUntil(({ networks }) => networks.has(network))
    if (!shares.hasRoom(network, limits.all)) return fullUntil(() => true)
    const number = Math.floor(endsAt / PERIOD_MS)
    const period = periods.get(number) ?? { ids: new Set(), keys: new Map(), networks: new Map() }
    periods.set(number, period)
    period.ids.add(name)
    period.keys.set(key, (period.keys.get(key) ?? 0) + 1)
    period.networks.set(network, (period.networks.get(network) ?? 0) + 1)
    shares.add(network)
    return { kind: 'first' }
  }
}

/** A proof is accepted at its very end, so its id is dropped after that. */
function keptUntil(period: number): EpochMs {
  return ((period + 1) * PERIOD_MS + 1) as EpochMs
}
