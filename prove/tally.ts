/** What a campaign did and what it found. */
export interface Tally {
  operations: number
  readonly violations: readonly string[]
  /** Every one counts; `what` says where and how. */
  readonly note: (what: string) => void
}

/** `onViolation` hears of each at once, so that nobody waits for the end of a campaign that has failed. */
export function openTokenCounter(onViolation: (what: string) => void = () => undefined): Tally {
  const violations: string[] = []
  return {
    operations: 0,
    violations,
    note(what) {
      violations.push(what)
      onViolation(what)
    },
  }
}
