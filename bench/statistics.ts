/** What several rounds of the same measurement say together. */
export interface Summary {
  readonly best: number
  readonly median: number
  /** Distance between the quartiles as a part of the median. */
  readonly spread: number
  readonly rounds: readonly number[]
}

/** Rounds whose quartiles lie further apart than this say more about the machine than about the server. */
export const WOBBLE_LIMIT = 0.25
/** A server that is alone on its core and under full load gets nearly all of it. */
export const CORE_SHARE_LIMIT = 0.8

/** Best, median and spread of rounds, of which more is better. There must be one at least. */
export function summarize(rounds: readonly number[]): Summary {
  const median = quantile(rounds, 0.5)
  return {
    best: Math.max(...rounds),
    median,
    spread: median === 0 ? 0 : (quantile(rounds, 0.75) - quantile(rounds, 0.25)) / median,
    rounds,
  }
}

/** The value below which that part of the values lies, between two of them by proportion (type 7 of Hyndman and Fan). */
export function quantile(values: ArrayLike<number>, part: number): number {
  const sorted = Float64Array.from(values).toSorted()
  const position = (sorted.length - 1) * part
  const below = sorted[Math.floor(position)]
  const above = sorted[Math.ceil(position)]
  if (below === undefined || above === undefined) throw new Error('There are no values.')
  return below + (above - below) * (position - Math.floor(position))
}

/** The interval in which the median of what was sampled lies with 95 %, by order statistics: each binomial tail beyond it has 2.5 % at the most. */
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
