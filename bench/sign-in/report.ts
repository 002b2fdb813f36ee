import { describeMachine, type Machine } from '../../tools/machine.ts'
import { fixed, renderTable } from '../../tools/table.ts'

/** The stored result of `npm run bench sign-in`. */
export interface SignInResult {
  readonly kind: 'sign-in'
  readonly date: string
  readonly machine: Machine
  /** Sign-ins by each method. */
  readonly count: number
  /** At the same time. */
  readonly browsers: number
  readonly rows: readonly MeasuredSignIn[]
}

export interface MeasuredSignIn {
  readonly method: string
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMs: number | undefined
}

export function renderSignIns({ date, machine, count, browsers, rows }: SignInResult): string {
  const table = renderTable(rows, [
    ['sign-in', ({ method }) => method],
    ['a second', ({ perSecond }) => fixed(perSecond, 0)],
    ['CPU ms', ({ cpuMs }) => fixed(cpuMs, 1)],
    ['p50 ms', ({ p50Ms }) => fixed(p50Ms, 0)],
    ['p99 ms', ({ p99Ms }) => fixed(p99Ms, 0)],
  ])
  return [describeMachine(date, machine), `${count} sign-ins, ${browsers} at a time`, '', table].join('\n')
}
