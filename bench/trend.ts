import { quantile } from './statistics.ts'

/** Compares the median of the last quarter with that of the second quarter, for values at equal time intervals. */
export function drift(values: readonly number[]): number {
  const quarter = values.length / 4
  const second = values.slice(Math.floor(quarter), Math.ceil(quarter * 2))
  const last = values.slice(Math.floor(quarter * 3))
  return quantile(last, 0.5) / quantile(second, 0.5)
}

/** The slope of the least-squares line through the points. NaN if all points have the same x. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = mean(points.map(([x]) => x))
  const meanY = mean(points.map(([, y]) => y))
  const products = points.map(([x, y]) => (x - meanX) * (y - meanY))
  const squares = points.map(([x]) => (x - meanX) ** 2)
  return mean(products) / mean(squares)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
