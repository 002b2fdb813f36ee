/** Bounds how many requests are under way, in all and to one host. */
export interface Slots {
  /** Waits for a free slot and returns the function that frees it again; undefined: the signal was aborted before. */
  readonly take: (host: string, signal: AbortSignal) => Promise<(() => void) | undefined>
}

interface Waiter {
  readonly host: string
  readonly start: (free: () => void) => void
}

export function openSlots({ total, perHost }: { readonly total: number; readonly perHost: number }): Slots {
  const taken = new Map<string, number>()
  const waiting = new Set<Waiter>()
  let all = 0

  function hasRoom(host: string): boolean {
    return all < total && (taken.get(host) ?? 0) < perHost
  }

  function occupy(host: string): () => void {
    all += 1
    taken.set(host, (taken.get(host) ?? 0) + 1)
    return () => free(host)
  }

  function free(host: string): void {
    all -= 1
    const left = (taken.get(host) ?? 0) - 1
    if (left > 0) taken.set(host, left)
    else taken.delete(host)
    for (const waiter of waiting) {
      if (!hasRoom(waiter.host)) continue
      waiting.delete(waiter)
      waiter.start(occupy(waiter.host))
    }
  }

  return {
    async take(host, signal) {
      if (signal.aborted) return undefined
      if (hasRoom(host)) return occupy(host)
      return new Promise((resolve) => {
        const waiter = { host, start }
        function start(release: () => void): void {
          signal.removeEventListener('abort', giveUp)
          resolve(release)
        }
        function giveUp(): void {
          waiting.delete(waiter)
          resolve(undefined)
        }
        waiting.add(waiter)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
  }
}
