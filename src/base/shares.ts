import { networksAround } from './networks-around.ts'

/** Counts how much of a limited resource each network holds, such as connections, and divides the resource among them. */
export interface Shares {
  /** Whether the network may hold one more, when all networks together may hold `limit`. */
  readonly hasRoom: (network: string, limit: number) => boolean
  readonly add: (network: string) => void
  readonly remove: (network: string, count: number) => void
  /** How many all networks hold together. */
  readonly total: () => number
}

/**
 * A network may hold this many times what is free (dynamic thresholds: Choudhury and Hahne, 1998). So a single network gets
 * four fifths of the limit, each of ten greedy networks nearly a tenth, and the rest stays free for the next network. The
 * number of networks need not be known.
 */
const TIMES_FREE = 4

/** The limit of which a single network gets `count`. */
export function limitFor(count: number): number {
  return Math.ceil((count * (TIMES_FREE + 1)) / TIMES_FREE)
}

/** Networks that are kept although they hold nothing. Adding and removing one with each request would take time. */
const IDLE_LIMIT = 64

/** Opens a count. It removes networks that hold nothing, so its size is bounded by the limit of what it counts. */
export function openShares(timesFree = TIMES_FREE): Shares {
  const held = new Map<string, { count: number }>()
  let total = 0
  return {
    hasRoom: (network, limit) => (held.get(network)?.count ?? 0) < timesFree * (limit - total),
    add(network) {
      const holder = held.get(network)
      if (holder === undefined) held.set(network, { count: 1 })
      else holder.count += 1
      total += 1
    },
    remove(network, count) {
      const holder = held.get(network)
      if (holder === undefined) return
      holder.count -= count
      total -= count
      if (holder.count === 0 && held.size > IDLE_LIMIT) held.delete(network)
    },
    total: () => total,
  }
}

/**
 * Opens a count in which the /24 and /16 of an IPv4 address, or the /48 and /32 of an IPv6 address, have shares too. So one
 * site with many networks leaves room for other sites. The share of each wider network is twice as large, so that its other
 * networks get something too.
 */
export function openSiteShares(): Shares {
  const own = openShares()
  const widths = [openShares(4 * TIMES_FREE), openShares(2 * TIMES_FREE), own]
  const each = (network: string): readonly (readonly [Shares, string])[] => {
    const names = networksAround(network)
    return widths.map((shares, index) => [shares, names[index] ?? network] as const)
  }
  return {
    hasRoom: (network, limit) => each(network).every(([shares, name]) => shares.hasRoom(name, limit)),
    add(network) {
      for (const [shares, name] of each(network)) shares.add(name)
    },
    remove(network, count) {
      for (const [shares, name] of each(network)) shares.remove(name, count)
    },
    total: own.total,
  }
}
