/** Keeps what was used last by its key: the `least` newest at least, and at most twice as many. */
export interface RecentlyUsed<Value> {
  readonly get: (key: string) => Value | undefined
  readonly set: (key: string, value: Value) => void
  readonly delete: (key: string) => void
  readonly clear: () => void
}

/**
 * In two generations: when the younger one is full the older one is forgotten as a whole. To remove the first entry of a Map
 * for each that is added costs fourteen microseconds when there are ten thousand, because all that were removed before
 * it are passed over each time.
 */
export function openRecentlyUsed<Value>(least: number): RecentlyUsed<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()

  function set(key: string, value: Value): void {
    if (young.size >= least && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const known = young.get(key)
      if (known !== undefined) return known
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}
