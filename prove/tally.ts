/** The operations and the violations of a campaign. */
export interface Tally {
  operations: number
  readonly violations: readonly string[]
  /** Adds a violation. `what` describes it. */
  readonly note: (what: string) => void
}

/** `onViolation` is called for each violation at once, so that a failed campaign is visible before it ends. */
export function openTally(onViolation: (what: string) => void = () => undefined): Tally {
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
