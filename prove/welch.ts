/** The statistics of a set of times for Welch's test. */
interface Moments {
  readonly mean: number
  /** The variance of the mean: that of the sample divided by its size. */
  readonly variance: number
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
  const usual = [first, second].map((times) => times.filter((time) => time < limit)) as [number[], number[]]
  return Math.max(Math.abs(welchT(first, second)), Math.abs(welchT(...usual)))
}

function welchT(first: readonly number[], second: readonly number[]): number {
  const [one, other] = [momentsOf(first), momentsOf(second)]
  return (one.mean - other.mean) / Math.sqrt(one.variance + other.variance)
}

function momentsOf(times: readonly number[]): Moments {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  const squares = times.reduce((sum, time) => sum + (time - mean) ** 2, 0)
  return { mean, variance: squares / (times.length - 1) / times.length }
}

export function medianOf(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN
}
