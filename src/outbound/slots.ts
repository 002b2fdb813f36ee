/** Bounds how many requests are under way, in all and to one host, and how many wait. The networks that cause them have fair shares. */
export interface Slots {
  /**
   * Waits for a free slot and returns the function that frees it again. `network`: whose request causes it. undefined: the signal was aborted
   * before, or too many of that network wait.
   */
  readonly take: (host: string, network: string, signal: AbortSignal) => Promise<(() => void) | undefined>
}

interface Waiter {
  readonly host: string
  readonly network: string
  readonly start: (free: () => void) => void
  readonly giveUp: () => void
}

/** Requests that wait. Above it the newest of the network with the most of them gives up. */
const WAITING = 512

/**
 * A free slot goes to the waiting network that holds the fewest, and among several to the one that got its last slot first. So a network
 * with many requests delays another one by no more than the time until a slot is free (threats.md UP-28).
 */
export function openSlots({ total, perHost }: { readonly total: number; readonly perHost: number }): Slots {
  const taken = openCounts()
  const held = openCounts()
  const waiting = new Set<Waiter>()
  /** When each network that holds a slot or waits got its last one, as a count of all slots that were given. */
  const served = new Map<string, number>()
  let all = 0
  let given = 0

  function hasRoom(host: string): boolean {
    return all < total && taken.of(host) < perHost
  }

  function occupy(host: string, network: string): () => void {
    all += 1
    taken.add(host, 1)
    held.add(network, 1)
    given += 1
    served.set(network, given)
    return () => free(host, network)
  }

  function free(host: string, network: string): void {
    all -= 1
    taken.add(host, -1)
    held.add(network, -1)
    const next = nextWaiter()
    next?.start(occupy(next.host, next.network))
    forget(network)
  }

  function forget(network: string): void {
    if (held.of(network) > 0) return
    for (const waiter of waiting) if (waiter.network === network) return
    served.delete(network)
  }

  function nextWaiter(): Waiter | undefined {
    let next: Waiter | undefined
    for (const waiter of waiting) {
      if (!hasRoom(waiter.host)) continue
      if (next === undefined || isBefore(waiter.network, next.network)) next = waiter
    }
    return next
  }

  function isBefore(one: string, other: string): boolean {
    const fewer = held.of(one) - held.of(other)
    return fewer === 0 ? (served.get(one) ?? 0) < (served.get(other) ?? 0) : fewer < 0
  }

  function wait(waiter: Waiter): void {
    waiting.add(waiter)
    if (waiting.size <= WAITING) return
    const counts = openCounts()
    for (const { network } of waiting) counts.add(network, 1)
    let last = waiter
    for (const one of waiting) if (counts.of(one.network) >= counts.of(last.network)) last = one
    last.giveUp()
  }

  return {
    async take(host, network, signal) {
      if (signal.aborted) return undefined
      if (hasRoom(host)) return occupy(host, network)
      return new Promise((resolve) => {
        const end = (result: (() => void) | undefined): void => {
          waiting.delete(waiter)
          signal.removeEventListener('abort', giveUp)
          if (result === undefined) forget(network)
          resolve(result)
        }
        const giveUp = (): void => end(undefined)
        const waiter = { host, network, start: end, giveUp }
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
