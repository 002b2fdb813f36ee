/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
export type Random = () => number

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** An exponentially distributed number with this mean. */
export function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random())
}

/** One of the values, each with its share. The last one has what is left. */
export function pick<Value>(random: Random, values: readonly (readonly [share: number, value: Value])[]): Value {
  let left = random()
  for (const [share, value] of values) {
    left -= share
    if (left < 0) return value
  }
  const [, last] = values.at(-1) ?? []
  return last as Value
}
