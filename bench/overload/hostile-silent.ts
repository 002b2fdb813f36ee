import { readTreeUsage, watchMemory } from '../../tools/process-usage.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import { startServer, type BenchServerOptions } from '../server.ts'
import type { Attack } from './hostile-load.ts'
import { HEALTHY, HOSTILE } from './hostile-rounds.ts'
import type { RunLoad } from './load.ts'
import type { OverloadRequest, OverloadResult } from './plan.ts'

/** Measures sockets that pipeline requests for a page and never read, on a server with little memory. */

export interface SilentRow {
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
  readonly server: BenchServerOptions
  readonly sockets: number
  readonly seconds: number
  readonly load: RunLoad
  readonly attack: Attack
}

/** As in a container of 1 GB. */
const HEAP_OPTION = '--max-old-space-size=512'
const ALIVE_RATE = 40
const ALIVE: OverloadRequest = {
  name: 'alive',
  method: 'GET',
  path: '/health/alive',
  contentType: '',
  bodies: { kind: 'same', body: '' },
  status: 200,
  contains: '',
  maybeShed: false,
}

/** Starts a separate server, because it may not survive. */
export async function runSilent({ server, sockets, seconds, load, attack }: SilentSetup): Promise<SilentRow> {
  const { pid, port } = await startServer({ ...server, nodeArgs: [HEAP_OPTION] })
  const memory = watchMemory(pid)
  const text = `GET /v2/oauth/sign-in?authorization=x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  const common = { port, seconds }
  const flood = await attack({ ...common, connections: sockets, addresses: [HOSTILE], manner: 'pipeline', text })
  const alive = await load({ ...common, connections: 16, addresses: HEALTHY, rate: ALIVE_RATE, requests: [ALIVE] })
  const { closed } = await flood.end()
  const residentMegabytes = memory.end()
  const hasEnded = readTreeUsage(pid) === undefined
  if (!hasEnded) process.kill(pid, 'SIGTERM')
  return { sockets, seconds, residentMegabytes, closed, alive, hasEnded }
}

export function renderSilent(row: SilentRow): string {
  const [times] = row.alive.kinds
  return renderTable(
    [row],
    [
      [`${row.sockets} sockets that pipeline and never read`, ({ seconds }) => `${seconds} s, heap of 512 MB`],
      ['RSS MB', ({ residentMegabytes }) => fixed(residentMegabytes, 0)],
      ['connections closed', ({ closed }) => String(closed)],
      ['alive 200', ({ alive }) => `${times?.count ?? 0} of ${alive.sent}`],
      ['p50 ms', () => fixed(times?.p50Ms, 1)],
      ['p99', () => fixed(times?.p99Ms, 1)],
      ['the server', ({ hasEnded }) => (hasEnded ? 'ENDED' : 'running')],
    ],
  )
}
