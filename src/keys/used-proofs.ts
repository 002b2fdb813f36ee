import { hash } from 'node:crypto'
import type { EpochMs } from '../base/brand.ts'
import type { ProofUse } from '../ports/client-signatures.ts'

/** Ids that are kept of one key, of one network and in all, 100 B each. A caller that exceeds its own waits; it displaces no id of another. */
export const USED_PROOFS = { key: 20_000, network: 100_000, all: 400_000 } as const

const PERIOD_MS = 30_000

/** The ids of the proofs that end in one period, and how many of them each key and network has. */
interface Period {
  readonly ids: Set<string>
  readonly counts: Map<string, number>
}

/** Keeps the id of each proof until the proof ends, so that a repeated one is known however many others come meanwhile (RFC 9449 §11.1). */
export function openUsedProofs(limits: Readonly<Record<keyof typeof USED_PROOFS, number>> = USED_PROOFS): ProofUse {
  const periods = new Map<number, Period>()

  function dropEnded(now: EpochMs): void {
    for (const number of periods.keys()) if ((number + 1) * PERIOD_MS < now) periods.delete(number)
  }

  function sum(amount: (period: Period) => number): number {
    return periods.values().reduce((total, period) => total + amount(period), 0)
  }

  return ({ id, endsAt }, { key, network }, now) => {
    dropEnded(now)
    const name = hash('sha256', `${key} ${id}`, 'base64url')
    if (periods.values().some(({ ids }) => ids.has(name))) return 'repeated'
    const owners = [
      { name: `key ${key}`, limit: limits.key },
      ...(network === undefined ? [] : [{ name: `network ${network}`, limit: limits.network }]),
    ]
    const isFull = sum(({ ids }) => ids.size) >= limits.all
    if (isFull || owners.some((owner) => sum(({ counts }) => counts.get(owner.name) ?? 0) >= owner.limit)) return 'full'
    const number = Math.floor(endsAt / PERIOD_MS)
    const period = periods.get(number) ?? { ids: new Set(), counts: new Map() }
    periods.set(number, period)
    period.ids.add(name)
    for (const owner of owners) period.counts.set(owner.name, (period.counts.get(owner.name) ?? 0) + 1)
    return 'first'
  }
}
