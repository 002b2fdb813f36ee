/** Keeps what was used last by its key: the newest that weigh `least` together, and at most twice that and two values. */
export interface RecentlyUsed<Value> {
  readonly get: (key: string) => Value | undefined
  readonly set: (key: string, value: Value) => void
  readonly delete: (key: string) => void
  readonly clear: () => void
}

/** What a text takes beside its characters, of which each takes two bytes at most. */
const TEXT_BYTES = 24
const OBJECT_BYTES = 56
const MEMBER_BYTES = 16

/**
 * `weigh` says what a value counts for, 1 where it is left out: then `least` is a number of values, otherwise for example a
 * number of bytes. A value must weigh the same for as long as it is kept.
 *
 * In two generations: when the younger one is full the older one is forgotten as a whole. To remove the first entry of a Map
 * for each that is added costs fourteen microseconds when there are ten thousand, because all that were removed before
 * it are passed over each time.
 */
export function openRecentlyUsed<Value>(least: number, weigh: (value: Value) => number = one): RecentlyUsed<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  /** Of everything in `young`. */
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

/** About the bytes that a record takes in memory: for `weigh`. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return TEXT_BYTES + 2 * value.length
  if (typeof value !== 'object' || value === null) return 0
  let weight = OBJECT_BYTES
  for (const member of Object.values(value)) weight += MEMBER_BYTES + weightOf(member)
  return weight
}
