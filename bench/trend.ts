import { quantile } from './statistics.ts'

/** Of values that were taken at even distances of time: median of the last quarter against that of the second one. */
export function drift(values: readonly number[]): number {
  const quarter = values.length / 4
  const second = values.slice(Math.floor(quarter), Math.ceil(quarter * 2))
  const last = values.slice(Math.floor(quarter * 3))
  return quantile(last, 0.5) / quantile(second, 0.5)
}

/** How much y grows for each x: the straight line with the least squares. NaN when there is but one x. */
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
