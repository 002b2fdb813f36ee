import { networksAround } from './network.ts'

/** Counts what the networks hold of something limited, and divides it among them. */
export interface Shares {
  /** Whether the network may have one more when there are `limit` in all. */
  readonly hasRoom: (network: string, limit: number) => boolean
  readonly add: (network: string) => void
  readonly remove: (network: string, count: number) => void
  /** What all networks hold together. */
  readonly total: () => number
}

/**
 * A network may hold so many times what is free. A network that is alone so gets four fifths of the limit, each of ten
 * greedy networks nearly a tenth, and what stays free is for the network that comes next (dynamic thresholds: Choudhury and
 * Hahne, 1998). Nothing has to know how many networks there are.
 */
const TIMES_FREE = 4

/** The limit of which a network that is alone gets `count`. */
export function limitFor(count: number): number {
  return Math.ceil((count * (TIMES_FREE + 1)) / TIMES_FREE)
}

/** Networks that hold nothing and are remembered all the same: to add and remove one with each request takes time. */
const IDLE_LIMIT = 64

/** Opens a count. It is as bounded as what it counts, because it forgets networks that hold nothing. */
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
 * A count in which the /24 and /16 of an IPv4 address, and the /48 and /32 of IPv6, have shares too, so that one site with
 * many networks leaves room for others. Each wider one may hold twice as many times what is free: something is left for its
 * other networks.
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
