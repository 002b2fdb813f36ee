import { readTreeUsage, watchMemory } from '../../tools/process/usage.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { startProgram } from '../../tools/process/program.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import { startServer, type BenchServerOptions } from '../server.ts'
import type { Attack } from './hostile-load.ts'
import { HEALTHY, HOSTILE } from './hostile-rounds.ts'
import type { RunLoad } from './load.ts'
import type { OverloadRequest, OverloadResult } from './plan.ts'

/** Measures sockets that pipeline requests for a page and never read, on a server and on a host of the library with little memory. */

export interface SilentRow {
  readonly name: string
  readonly sockets: number
  readonly seconds: number
  /** The most memory of the server. */
  readonly residentMegabytes: number
  readonly closed: number
  /** The requests of another network meanwhile. */
  readonly alive: OverloadResult
  readonly hasEnded: boolean
}

export interface SilentSetup {
  readonly start: StartSilent
  readonly sockets: number
  readonly seconds: number
  readonly load: RunLoad
  readonly attack: Attack
}

/** What the sockets connect to. */
export interface SilentTarget {
  readonly name: string
  readonly pid: number
  readonly port: number
  /** The path of the issuer. */
  readonly path: string
}

export type StartSilent = (heapOption: string) => Promise<SilentTarget>

/** As in a container of 1 GB. */
const HEAP_OPTION = '--max-old-space-size=512'
const ALIVE_RATE = 40
const ALIVE: Omit<OverloadRequest, 'path'> = {
  name: 'alive',
  method: 'GET',
  contentType: '',
  bodies: { kind: 'same', body: '' },
  status: 200,
  contains: '',
  maybeShed: false,
}

export function silentServer(options: BenchServerOptions): StartSilent {
  return async (heapOption) => {
    const { pid, port } = await startServer({ ...options, nodeArgs: [heapOption] })
    return { name: 'the server', pid, port, path: '' }
  }
}

export function silentLibrary({ databaseUrl = '' }: BenchServerOptions): StartSilent {
  return async (heapOption) => {
    const port = await freePort()
    const { pid } = await startProgram({
      command: [process.execPath, heapOption, 'examples/library/node-http.js'],
      folder: new URL('../..', import.meta.url).pathname,
      environment: { PORT: String(port), DATABASE_URL: databaseUrl },
      address: `http://localhost:${port}`,
    })
    return { name: 'a host of the library', pid, port, path: '/auth' }
  }
}

/** Starts a separate process, because it may not survive. */
export async function runSilent({ start, sockets, seconds, load, attack }: SilentSetup): Promise<SilentRow> {
  const { name, pid, port, path } = await start(HEAP_OPTION)
  const memory = watchMemory(pid)
  const text = `GET ${path}/v2/oauth/sign-in?authorization=x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  const common = { port, seconds }
  const flood = await attack({ ...common, connections: sockets, addresses: [HOSTILE], manner: 'pipeline', text })
  const requests = [{ ...ALIVE, path: `${path}/health/alive` }]
  const alive = await load({ ...common, connections: 16, addresses: HEALTHY, rate: ALIVE_RATE, requests })
  const { closed } = await flood.end()
  const residentMegabytes = memory.end()
  const hasEnded = readTreeUsage(pid) === undefined
  if (!hasEnded) process.kill(pid, 'SIGTERM')
  return { name, sockets, seconds, residentMegabytes, closed, alive, hasEnded }
}

export function renderSilent(rows: readonly SilentRow[]): string {
  const timesOf = ({ alive }: SilentRow) => alive.kinds[0]
  return renderTable(rows, [
    [
      `${rows[0]?.sockets} sockets that pipeline and never read`,
      ({ name, seconds }) => `${name}, ${seconds} s, heap of 512 MB`,
    ],
    ['RSS MB', ({ residentMegabytes }) => fixed(residentMegabytes, 0)],
    ['connections closed', ({ closed }) => String(closed)],
    ['alive 200', (row) => `${timesOf(row)?.count ?? 0} of ${row.alive.sent}`],
    ['p50 ms', (row) => fixed(timesOf(row)?.p50Ms, 1)],
    ['p99', (row) => fixed(timesOf(row)?.p99Ms, 1)],
    ['the process', ({ hasEnded }) => (hasEnded ? 'ENDED' : 'running')],
  ])
}
