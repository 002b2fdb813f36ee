import { VERSION } from '../src/server/version.ts'
import { describeMachine, readMachine, today } from '../tools/machine.ts'
import { programName } from '../tools/programs.ts'

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

/** A line of prove/results/<name>.jsonl: a run that is kept, from which `npm run evidence` makes a row. */
export interface ProofRun {
  readonly date: string
  readonly machine: string
  /** '' for the defaults. */
  readonly options: string
  readonly ran: string
  readonly found: string
  readonly violations: number
  readonly seconds?: number
  /** With the commit. */
  readonly version?: string
}

/** Prints the report of a campaign, with the line by which it is kept, and sets the exit code. */
export function printReport(setup: string, lines: readonly string[], { violations }: Findings): void {
  const seconds = performance.now() / 1000
  const [, program = '', ...options] = process.argv
  const { cores, processor } = readMachine()
  const run: ProofRun = {
    date: today(),
    machine: `${cores} cores of ${processor}`,
    options: options.join(' '),
    ran: setup,
    found: lines.map((line) => line.trim()).join('; '),
    violations: violations.length,
    seconds: Math.round(seconds),
    version: VERSION,
  }
  const [, name = ''] = programName(program).split(' ')
  const ends = [`violations: ${violations.length}`, `seconds: ${seconds.toFixed(1)}`]
  console.log([`${describeMachine()}, ${setup}`, ...lines, ...ends].join('\n'))
  console.log(`for prove/results/${name}.jsonl: ${JSON.stringify(run)}`)
  process.exitCode = violations.length === 0 ? 0 : 1
}
