import { networksAround } from './networks-around.ts'

/** Bounds how much work is under way, in all and for one host, and how much waits. The networks that cause it have fair shares. */
export interface Slots {
  /**
   * Waits for a free slot and returns the function that frees it again. `network`: whose request causes it. undefined: the signal was aborted
   * before, or too many of that network wait.
   */
  readonly take: (host: string, network: string, signal: AbortSignal) => Promise<(() => void) | undefined>
}

interface Waiter {
  readonly host: string
  /** The network whose request it is, after the wider ones that contain it. */
  readonly networks: readonly string[]
  readonly start: (free: () => void) => void
  readonly giveUp: () => void
}

/** `waiting`: how much waits. Beyond it the newest of the network with the most gives up. */
export interface SlotLimits {
  readonly total: number
  readonly perHost: number
  readonly waiting: number
}

/**
 * A free slot goes to the waiting network that holds the fewest, and among several to the one that got its last slot first. The widest
 * networks are compared first, then those within one of them, as fair shares are divided. So a site with many requests from many networks
 * delays another one by no more than the time until a slot is free (threats.md UP-28).
 */
export function openSlots({ total, perHost, waiting: waitingLimit }: SlotLimits): Slots {
  const taken = openCounts()
  const held = openCounts()
  const waits = openCounts()
  const waiting = new Set<Waiter>()
  /** When each network that holds a slot or waits got its last one, as a count of all slots that were given. */
  const served = new Map<string, number>()
  let all = 0
  let given = 0

  function hasRoom(host: string): boolean {
    return all < total && taken.of(host) < perHost
  }

  function occupy({ host, networks }: Pick<Waiter, 'host' | 'networks'>): () => void {
    all += 1
    taken.add(host, 1)
    given += 1
    for (const network of networks) {
      held.add(network, 1)
      served.set(network, given)
    }
    return () => free(host, networks)
  }

  function free(host: string, networks: readonly string[]): void {
    all -= 1
    taken.add(host, -1)
    for (const network of networks) held.add(network, -1)
    const next = nextWaiter()
    next?.start(occupy(next))
    forget(networks)
  }

  function forget(networks: readonly string[]): void {
    for (const network of networks) if (held.of(network) + waits.of(network) === 0) served.delete(network)
  }

  function nextWaiter(): Waiter | undefined {
    let next: Waiter | undefined
    for (const waiter of waiting) {
      if (!hasRoom(waiter.host)) continue
      if (next === undefined || isBefore(waiter.networks, next.networks)) next = waiter
    }
    return next
  }

  function isBefore(networks: readonly string[], others: readonly string[]): boolean {
    const differs = networks.findIndex((network, index) => network !== others[index])
    const [one, other] = [networks[differs], others[differs]]
    if (one === undefined || other === undefined) return false
    const fewer = held.of(one) - held.of(other)
    return fewer === 0 ? (served.get(one) ?? 0) < (served.get(other) ?? 0) : fewer < 0
  }

  function wait(waiter: Waiter): void {
    waiting.add(waiter)
    for (const network of waiter.networks) waits.add(network, 1)
    if (waiting.size > waitingLimit) newestOfMost().giveUp()
  }

  /** The newest request of the network with the most, within the widest network with the most. */
  function newestOfMost(): Waiter {
    let candidates = [...waiting]
    for (let width = 0; candidates.some(({ networks }) => networks.length > width); width += 1) {
      const countOf = ({ networks }: Waiter): number => waits.of(networks[width] ?? '')
      const most = Math.max(...candidates.map(countOf))
      const name = candidates.findLast((one) => countOf(one) === most)?.networks[width]
      candidates = candidates.filter(({ networks }) => networks[width] === name)
    }
    return candidates.at(-1) as Waiter
  }

  return {
    async take(host, network, signal) {
      if (signal.aborted) return undefined
      const networks = networksAround(network)
      if (hasRoom(host)) return occupy({ host, networks })
      return new Promise((resolve) => {
        const end = (result: (() => void) | undefined): void => {
          waiting.delete(waiter)
          for (const one of networks) waits.add(one, -1)
          signal.removeEventListener('abort', giveUp)
          if (result === undefined) forget(networks)
          resolve(result)
        }
        const giveUp = (): void => end(undefined)
        const waiter = { host, networks, start: end, giveUp }
        signal.addEventListener('abort', giveUp, { once: true })
        wait(waiter)
      })
    },
  }
}

/** Counts by name. A name without a count is not kept. */
function openCounts() {
  const counts = new Map<string, number>()
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add(name: string, by: number): void {
      const count = (counts.get(name) ?? 0) + by
      if (count === 0) counts.delete(name)
      else counts.set(name, count)
    },
  }
}
