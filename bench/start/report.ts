import { describeMachine, type Machine } from '../../tools/machine.ts'
import { median } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'

/** The stored result of `npm run bench start`. */
export interface StartResult {
  readonly kind: 'start'
  readonly date: string
  readonly machine: Machine
  readonly rows: readonly Starts[]
  /** The processor time of a start of a server of `node:http` that does nothing. */
  readonly bareCpuMs: readonly number[]
}

export interface Starts {
  /** The script that was started. */
  readonly program: string
  /** How many clients, families and codes the store has. */
  readonly size: number
  readonly readyMs: readonly number[]
  /** From the start of the process, one value for each start. */
  readonly countedMs: readonly number[]
  readonly idleMegabytes: readonly number[]
  /** Of all threads until it was ready. */
  readonly cpuMs: readonly number[]
  /** Of the idle memory, what is not in a file. Node.js alone has 48 MB in its file. */
  readonly anonymousMegabytes: readonly number[]
}

export function renderStarts({ date, machine, rows, bareCpuMs }: StartResult): string {
  const bare = Math.min(...bareCpuMs)
  const table = renderTable(rows, [
    ['program', ({ program }) => program],
    ['clients', ({ size }) => (size === 0 ? 'empty' : String(size))],
    ['ready ms, best', ({ readyMs }) => fixed(Math.min(...readyMs), 0)],
    ['median', ({ readyMs }) => fixed(median(readyMs), 0)],
    ['worst', ({ readyMs }) => fixed(Math.max(...readyMs), 0)],
    ['grants counted s, first start', ({ countedMs }) => fixed((countedMs[0] ?? Number.NaN) / 1000, 1)],
    ['later', ({ countedMs }) => fixed(median(countedMs.slice(1)) / 1000, 1)],
    ['CPU ms, best', ({ cpuMs }) => fixed(Math.min(...cpuMs), 0)],
    ['of bare', ({ cpuMs }) => fixed(Math.min(...cpuMs) / bare, 1)],
    ['idle RSS MB', ({ idleMegabytes }) => fixed(median(idleMegabytes), 0)],
    ['anonymous', ({ anonymousMegabytes }) => fixed(median(anonymousMegabytes), 0)],
  ])
  return [describeMachine(date, machine), '', table].join('\n')
}
