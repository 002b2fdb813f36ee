/**
 * A cache that evicts what was not used recently. It keeps at least the most recently used values up to a total weight of
 * `least`, and at most twice that weight and two values more.
 */
export interface RecentlyUsed<Value> {
  readonly get: (key: string) => Value | undefined
  /** Returns the value of the key. If there is none, it is made and added. */
  readonly getOrMake: (key: string, make: () => Value) => Value
  readonly set: (key: string, value: Value) => void
  readonly delete: (key: string) => void
  readonly clear: () => void
}

/** Bytes of a text besides its characters, each of which takes two bytes at most. */
const TEXT_BYTES = 24
const OBJECT_BYTES = 56
const MEMBER_BYTES = 16

/**
 * Opens an empty cache. `weigh` returns the weight of a value, by default 1: then `least` is a number of values. With
 * `weightOf` it is a number of bytes. The weight of a value must not change while it is in the cache.
 *
 * The cache has two generations. When the younger one is full, the older one is dropped as a whole. Removing the first entry
 * of a Map for each added entry would take fourteen microseconds at ten thousand entries, because each removal passes over
 * all entries that were removed before.
 */
export function openRecentlyUsed<Value>(least: number, weigh: (value: Value) => number = one): RecentlyUsed<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  /** The total weight of `young`. */
  let weight = 0

  function set(key: string, value: Value): void {
    const replaced = young.get(key)
    if (replaced !== undefined) weight -= weigh(replaced)
    else if (weight >= least) {
      old = young
      young = new Map()
      weight = 0
    }
    young.set(key, value)
    weight += weigh(value)
  }

  function get(key: string): Value | undefined {
    const known = young.get(key)
    if (known !== undefined) return known
    const older = old.get(key)
    if (older !== undefined) set(key, older)
    return older
  }

  return {
    get,
    set,
    getOrMake(key, make) {
      const known = get(key)
      if (known !== undefined) return known
      const made = make()
      set(key, made)
      return made
    },
    delete(key) {
      const removed = young.get(key)
      if (removed !== undefined && young.delete(key)) weight -= weigh(removed)
      old.delete(key)
    },
    clear() {
      young = new Map()
      old = new Map()
      weight = 0
    },
  }
}

function one(): number {
  return 1
}

/** The approximate number of bytes that a record takes in memory, for `weigh`. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return TEXT_BYTES + 2 * value.length
  if (typeof value !== 'object' || value === null) return 0
  let weight = OBJECT_BYTES
  for (const member of Object.values(value)) weight += MEMBER_BYTES + weightOf(member)
  return weight
}
