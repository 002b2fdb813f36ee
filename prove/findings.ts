import { describeMachine } from '../tools/machine.ts'

/** The operations and the violations of a campaign. */
export interface Findings {
  operations: number
  readonly violations: readonly string[]
  /** Adds a violation. `what` describes it. */
  readonly report: (what: string) => void
  /** Prints what the campaign has done. */
  readonly progress: (done: string) => void
}

/** Each violation is printed at once, so that a failed campaign is visible before it ends. */
export function openFindings({ isPrinted = true } = {}): Findings {
  const violations: string[] = []
  const print = (line: string): void => void (isPrinted && console.error(line))
  return {
    operations: 0,
    violations,
    report(what) {
      violations.push(what)
      print(`VIOLATION ${what}`)
    },
    progress: (done) => print(`${done} …`),
  }
}

/** Prints the report of a campaign, and sets the exit code. */
export function printReport(setup: string, lines: readonly string[], { violations }: Findings): void {
  const seconds = (performance.now() / 1000).toFixed(1)
  const ends = [`violations: ${violations.length}`, `seconds: ${seconds}`]
  console.log([`${describeMachine()}, ${setup}`, ...lines, ...ends].join('\n'))
  process.exitCode = violations.length === 0 ? 0 : 1
}

/** `kept`, or `BROKEN`, with which the exit code becomes 1. */
export function verdict(isKept: boolean): string {
  if (!isKept) process.exitCode = 1
  return isKept ? 'kept' : 'BROKEN'
}
