/** Milliseconds since a moment on the clock of `performance`, to a hundredth. */
export function elapsed(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100
}
