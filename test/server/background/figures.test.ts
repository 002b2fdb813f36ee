import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { EpochMs } from '../../../src/base/brand.ts'
import { FIGURE_SPAN_NAMES, type FigureRecord, type FigureSpan } from '../../../src/ports/records/figures.ts'
import type { Store } from '../../../src/ports/store.ts'
import type { Sample } from '../../../src/metrics/families.ts'
import { openFigureWriter, type FigureWriter } from '../../../src/server/background/figures.ts'
import { sweep, SWEEP_START } from '../../../src/admin/sweep.ts'
import { StoreUnavailable } from '../../../src/ports/store.ts'
import { NOW } from '../../support/records.ts'
import { openTestServer, type TestClock, type TestServer } from '../../support/server.ts'

const MINUTE = 60_000

interface Stage {
  readonly server: TestServer
  readonly clock: TestClock & { set: (ms: number) => void }
  readonly issue: (tokens: number) => void
  readonly open: (writeFigures?: Store['writeFigures']) => FigureWriter
  readonly rows: (span?: FigureSpan) => Promise<readonly FigureRecord[]>
  /** The tokens of all rows of five minutes, of those of an hour, and of those of a day. */
  readonly written: () => Promise<readonly number[]>
  readonly warnings: unknown[]
}

/** A server whose clocks are set by hand, and writers with a counter of their own. */
async function openStage(t: TestContext): Promise<Stage> {
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
      limit: 99,
    })
  const tokensOf = async (span: FigureSpan): Promise<number> =>
    (await rows(span)).reduce((sum, { counts }) => sum + (counts.tokens?.['refresh_token'] ?? 0), 0)
  return {
    server,
    clock,
    warnings,
    issue: (more) => void (tokens += more),
    open: (writeFigures = context.store.writeFigures) =>
      openFigureWriter({
        ...context,
        store: { writeFigures },
        count,
        logger: { warn: (line) => void warnings.push(line) },
      }),
    rows,
    written: () => Promise.all(FIGURE_SPAN_NAMES.map(tokensOf)),
  }
}

test('a process writes what it counted every five minutes, and then replaces the rows of the hour and the day', async (t) => {
  const { clock, issue, open, rows } = await openStage(t)
  const writer = open()
  issue(3)
  clock.advance(4 * MINUTE)
  await writer.write()
  assert.deepEqual(await rows(), [], 'the five minutes have not ended')
  clock.advance(MINUTE + 7000)
  await Promise.all([writer.write(), writer.write()])
  await writer.write()
  const [row, ...others] = await rows()
  assert.deepEqual([row?.counts, row?.endedAt, others], [{ tokens: { refresh_token: 3 } }, NOW + 5 * MINUTE, []])
  const shown = async (span: FigureSpan): Promise<readonly unknown[]> =>
    (await rows(span)).map(({ endedAt, counts }) => [(endedAt - NOW) / MINUTE, counts.tokens?.['refresh_token']])
  issue(1)
  clock.advance(5 * MINUTE)
  await writer.write()
  assert.deepEqual(
    [await shown('5m'), await shown('1h')],
    [
      [
        [10, 1],
        [5, 3],
      ],
      [[10, 4]],
    ],
  )
  issue(1)
  clock.advance(55 * MINUTE)
  await writer.write()
  assert.deepEqual(await shown('5m'), [
    [65, 1],
    [10, 1],
    [5, 3],
  ])
  assert.deepEqual(
    await shown('1h'),
    [
      [65, 1],
      [10, 4],
    ],
    'what was counted since the last row is in the next',
  )
  assert.deepEqual(await shown('1d'), [[65, 5]])
})

test('five minutes without a request have a row, so that they differ from five without a process', async (t) => {
  const { clock, open, rows } = await openStage(t)
  const writer = open()
  clock.advance(5 * MINUTE)
  await writer.write()
  assert.deepEqual(
    (await rows()).map(({ counts }) => counts),
    [{}],
  )
  await writer.close()
  assert.equal((await rows()).length, 1, 'a stop adds no row without a number')
})

test('a stop loses nothing, and a process that is killed what it counted since its last row', async (t) => {
  const { clock, issue, open, written } = await openStage(t)
  const [stopped, killed] = [open(), open()]
  issue(5)
  clock.advance(5 * MINUTE)
  await Promise.all([stopped.write(), killed.write()])
  assert.deepEqual(await written(), [10, 10, 10], 'those of the killed one, too')
  issue(2)
  clock.advance(4 * MINUTE)
  await stopped.close()
  const successor = open()
  issue(1)
  await successor.close()
  assert.deepEqual(await written(), [13, 13, 13])
})

test('STO-13: nothing is written while the clock differs, and what was counted meanwhile is in the next row', async (t) => {
  const { clock, issue, open, rows, written } = await openStage(t)
  const writer = open()
  issue(4)
  clock.set(NOW + 24 * 60 * MINUTE)
  await writer.write()
  await writer.close()
  assert.deepEqual(await rows(), [])
  clock.set(NOW)
  clock.advance(5 * MINUTE)
  await writer.write()
  assert.deepEqual(await written(), [4, 4, 4])
})

test('STO-07: a row that a full disk refused is written later, with one line in the log', async (t) => {
  const { server, clock, issue, open, written, rows, warnings } = await openStage(t)
  const writer = open()
  const database = new DatabaseSync(join(server.folder, 'grantor.db'))
  t.after(() => database.close())
  database.exec(`create trigger full before insert on figures begin select raise(abort, 'full'); end`)
  issue(4)
  for (let row = 0; row < 3; row += 1) {
    clock.advance(5 * MINUTE)
    await writer.write()
  }
  assert.deepEqual([await rows(), warnings.length], [[], 1])
  database.exec('drop trigger full')
  issue(1)
  await writer.write()
  await writer.write()
  assert.deepEqual(await written(), [5, 5, 5])
  assert.equal((await rows()).length, 2)
})

test('a row whose outcome is unknown counts once, also after the next five minutes', async (t) => {
  const { server, clock, issue, open, written, rows } = await openStage(t)
  let isLost = true
  const writer = open(async (record) => {
    const outcome = await server.context.store.writeFigures(record)
    if (isLost) throw new StoreUnavailable('planted')
    return outcome
  })
  issue(4)
  clock.advance(5 * MINUTE)
  await writer.write()
  isLost = false
  await writer.write()
  isLost = true
  issue(2)
  clock.advance(5 * MINUTE)
  await writer.write()
  issue(3)
  clock.advance(5 * MINUTE)
  isLost = false
  await writer.write()
  assert.deepEqual([await written(), (await rows()).length], [[9, 9, 9], 3])
})

test('a store that hangs delays a stop by less than half a second', async (t) => {
  const { issue, open } = await openStage(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const writer = open(() => new Promise(() => undefined))
  issue(1)
  const closed = writer.close()
  t.mock.timers.tick(499)
  await closed
})

test('the sweep keeps figures of five minutes for two days, those of an hour for eight, and those of a day for 90', async (t) => {
  const { server, clock, issue, open } = await openStage(t)
  const writer = open()
  issue(1)
  clock.advance(60 * MINUTE)
  await writer.write()
  const swept = []
  for (const hours of [47, 2, 6 * 24 - 2, 2, 82 * 24, 48]) {
    clock.advance(hours * 60 * MINUTE)
    await server.context.clockCheck.compare()
    swept.push((await sweep(server.context, SWEEP_START)).figures)
  }
  assert.deepEqual(swept, [0, 1, 0, 1, 0, 1])
})

test('a clock that is set back loses no counts', async (t) => {
  const { server, clock, issue, open, written } = await openStage(t)
  const writer = open()
  issue(4)
  clock.advance(30 * MINUTE)
  await writer.write()
  clock.set(NOW + 10 * MINUTE)
  await server.context.clockCheck.compare()
  issue(2)
  await writer.write()
  for (const minutes of [5, 30, 60]) {
    issue(1)
    clock.advance(minutes * MINUTE)
    await server.context.clockCheck.compare()
    await writer.write()
  }
  assert.deepEqual(await written(), [9, 9, 9])
})
