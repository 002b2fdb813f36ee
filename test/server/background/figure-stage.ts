import type { TestContext } from 'node:test'
import type { EpochMs } from '../../../src/base/brand.ts'
import { FIGURE_SPAN_NAMES, type FigureRecord, type FigureSpan } from '../../../src/ports/records/figures.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { Sample } from '../../../src/metrics/families.ts'
import { openFigureWriter, type FigureWriter } from '../../../src/server/background/figures.ts'
import { NOW } from '../../support/records.ts'
import { openTestServer, type TestClock, type TestServer } from '../../support/server.ts'

export interface FigureStage {
  readonly server: TestServer
  readonly clock: TestClock & { set: (ms: number) => void }
  readonly issue: (tokens: number) => void
  readonly open: (differing?: Partial<Pick<Store, 'writeFigures' | 'mergeFigures'>>) => FigureWriter
  readonly rows: (span?: FigureSpan) => Promise<readonly FigureRecord[]>
  /** The tokens of all rows of five minutes, of those of an hour, and of those of a day. */
  readonly written: () => Promise<readonly number[]>
  readonly warnings: unknown[]
}

/** A server whose clocks are set by hand, and writers with a counter of their own. */
export async function openFigureStage(t: TestContext): Promise<FigureStage> {
  let [wall, monotonic]: [number, number] = [NOW, NOW]
  const clock = {
    now: () => wall as EpochMs,
    monotonic: () => monotonic,
    advance: (ms: number) => void ((wall += ms), (monotonic += ms)),
    set: (ms: number) => void (wall = ms),
  }
  const server = await openTestServer(t, { clock })
  const { context } = server
  let tokens = 0
  const warnings: unknown[] = []
  const count = (): readonly Sample[] => [
    { name: 'grantor_requests_total', labels: ['token', 'token.issued', 'refresh_token', '200'], value: tokens },
  ]
  const rows = (span: FigureSpan = '5m') =>
    context.store.listFigures({
      span,
      since: 0 as EpochMs,
      until: (NOW * 2) as EpochMs,
      before: undefined,
      limit: 999,
    })
  const tokensOf = async (span: FigureSpan): Promise<number> =>
    (await rows(span)).reduce((sum, { counts }) => sum + (counts.tokens?.['refresh_token'] ?? 0), 0)
  return {
    server,
    clock,
    warnings,
    issue: (more) => void (tokens += more),
    open: (differing) =>
      openFigureWriter({
        ...context,
        store: { ...context.store, ...differing },
        count,
        logger: { warn: (line) => void warnings.push(line) },
      }),
    rows,
    written: () => Promise.all(FIGURE_SPAN_NAMES.map(tokensOf)),
  }
}
