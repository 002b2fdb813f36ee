/** The summary of several rounds of the same measurement. */
export interface Summary {
  readonly best: number
  readonly median: number
  /** The distance between the quartiles, relative to the median. */
  readonly spread: number
  readonly rounds: readonly number[]
}

/** The best value, median and spread of the rounds. Larger values are better. There must be at least one round. */
export function summarize(rounds: readonly number[]): Summary {
  const middle = median(rounds)
  return {
    best: Math.max(...rounds),
    median: middle,
    spread: middle === 0 ? 0 : (quantile(rounds, 0.75) - quantile(rounds, 0.25)) / middle,
    rounds,
  }
}

/** The distribution of durations. */
export interface Times {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
}

/** NaN if there are no durations. */
export function summarizeTimes(durationsMs: readonly number[]): Times {
  const at = (part: number): number => (durationsMs.length === 0 ? Number.NaN : quantile(durationsMs, part))
  return { count: durationsMs.length, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1) }
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The quantile of the values, interpolated between two of them (type 7 of Hyndman and Fan). */
export function quantile(values: readonly number[], part: number): number {
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

/** Compares the median of the last quarter with that of the second quarter, for values at equal time intervals. */
export function drift(values: readonly number[]): number {
  const quarter = values.length / 4
  const second = values.slice(Math.floor(quarter), Math.ceil(quarter * 2))
  return median(values.slice(Math.floor(quarter * 3))) / median(second)
}

/** The slope of the least-squares line through the points. NaN if all points have the same x. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = mean(points.map(([x]) => x))
  const meanY = mean(points.map(([, y]) => y))
  return mean(points.map(([x, y]) => (x - meanX) * (y - meanY))) / mean(points.map(([x]) => (x - meanX) ** 2))
}

/** The share of the fastest times that is compared separately, because rare slow times hide a difference between the usual ones. */
const USUAL = 0.9

/**
 * The larger |t| of two Welch's tests: one over all times, and one over those below the ninetieth percentile of both sets
 * together. Beyond 4.5 the sets differ significantly (threats.md UI-08).
 */
export function largestT(first: readonly number[], second: readonly number[]): number {
  const sorted = [...first, ...second].toSorted((one, other) => one - other)
  const limit = sorted[Math.floor(sorted.length * USUAL)] ?? Number.POSITIVE_INFINITY
  const [one = [], other = []] = [first, second].map((times) => times.filter((time) => time < limit))
  return Math.max(Math.abs(welchT(first, second)), Math.abs(welchT(one, other)))
}

function welchT(first: readonly number[], second: readonly number[]): number {
  return (mean(first) - mean(second)) / Math.sqrt(varianceOfMean(first) + varianceOfMean(second))
}

function varianceOfMean(values: readonly number[]): number {
  const middle = mean(values)
  return sum(values.map((value) => (value - middle) ** 2)) / (values.length - 1) / values.length
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}
