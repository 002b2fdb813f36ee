import type { Children } from './children.ts'
import { HEALTHY, HOSTILE } from './hostile-rounds.ts'
import type { Attack } from './hostile-load.ts'
import type { OverloadOrder, OverloadRequest, OverloadResult } from './overload-order.ts'
import { readTreeUsage } from './process-tree.ts'
import { startSubject, type SubjectOptions } from './subject.ts'
import { renderTable } from './table.ts'

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

export interface SilentStage {
  readonly children: Children
  readonly subject: SubjectOptions
  readonly sockets: number
  readonly seconds: number
  readonly load: (order: OverloadOrder) => Promise<OverloadResult>
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
const LOOK_MS = 200

/** Starts a separate server, because it may not survive. */
export async function runSilent(stage: SilentStage): Promise<SilentRow> {
  const { sockets, seconds, load, attack } = stage
  const { pid, port } = await startSubject(stage.children, { ...stage.subject, nodeArgs: [HEAP_OPTION] })
  let residentBytes = 0
  const look = setInterval(() => {
    residentBytes = Math.max(residentBytes, readTreeUsage(pid)?.residentBytes ?? 0)
  }, LOOK_MS)
  const request = `GET /v2/oauth/sign-in?authorization=x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  const common = { port, seconds }
  const flood = await attack({ ...common, connections: sockets, addresses: [HOSTILE], manner: 'pipeline', request })
  const alive = await load({ ...common, connections: 16, addresses: HEALTHY, rate: ALIVE_RATE, requests: [ALIVE] })
  const { closed } = await flood.end()
  clearInterval(look)
  const hasEnded = readTreeUsage(pid) === undefined
  if (!hasEnded) process.kill(pid, 'SIGTERM')
  return { sockets, seconds, residentMegabytes: residentBytes / 1e6, closed, alive, hasEnded }
}

export function renderSilent({ sockets, seconds, residentMegabytes, closed, alive, hasEnded }: SilentRow): string {
  const [times] = alive.kinds
  return renderTable(
    [
      `${sockets} sockets that pipeline and never read`,
      'RSS MB',
      'connections closed',
      'alive 200',
      'p50 ms',
      'p99',
      'the server',
    ],
    [
      [
        `${seconds} s, heap of 512 MB`,
        residentMegabytes.toFixed(0),
        String(closed),
        `${times?.count ?? 0} of ${alive.asked}`,
        (times?.p50Ms ?? Number.NaN).toFixed(1),
        (times?.p99Ms ?? Number.NaN).toFixed(1),
        hasEnded ? 'ENDED' : 'running',
      ],
    ],
  )
}
