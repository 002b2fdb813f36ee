/** The summary of several rounds of the same measurement. */
export interface Summary {
  readonly best: number
  readonly median: number
  /** The distance between the quartiles, relative to the median. */
  readonly spread: number
  readonly rounds: readonly number[]
}

/** If the spread of the rounds is larger, they show more about the machine than about the server. */
export const WOBBLE_LIMIT = 0.25
/** The lowest share of a core that a fully loaded server gets if it is alone on the core. */
export const CORE_SHARE_LIMIT = 0.8

/** The best value, median and spread of the rounds. Larger values are better. There must be at least one round. */
export function summarize(rounds: readonly number[]): Summary {
  const median = quantile(rounds, 0.5)
  return {
    best: Math.max(...rounds),
    median,
    spread: median === 0 ? 0 : (quantile(rounds, 0.75) - quantile(rounds, 0.25)) / median,
    rounds,
  }
}

/** The quantile of the values, interpolated between two of them (type 7 of Hyndman and Fan). */
export function quantile(values: ArrayLike<number>, part: number): number {
  const sorted = Float64Array.from(values).toSorted()
  const position = (sorted.length - 1) * part
  const below = sorted[Math.floor(position)]
  const above = sorted[Math.ceil(position)]
  if (below === undefined || above === undefined) throw new Error('There are no values.')
  return below + (above - below) * (position - Math.floor(position))
}

/** The 95 % confidence interval of the median, by order statistics: each binomial tail outside of it has at most 2.5 %. */
export function medianInterval(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((left, right) => left - right)
  let tail = 0
  let chance = 0.5 ** sorted.length
  let rank = 0
  while (tail + chance <= 0.025) {
    tail += chance
    rank += 1
    chance *= (sorted.length - rank + 1) / rank
  }
  const low = Math.max(0, rank - 1)
  return [sorted[low] ?? Number.NaN, sorted[sorted.length - 1 - low] ?? Number.NaN]
}
