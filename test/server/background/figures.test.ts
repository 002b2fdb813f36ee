import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { EpochMs } from '../../../src/base/brand.ts'
import type { FigureRecord } from '../../../src/ports/records/figures.ts'
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
  readonly open: (addFigures?: Store['addFigures']) => FigureWriter
  readonly rows: () => Promise<readonly FigureRecord[]>
  /** The tokens of all rows of five minutes. */
  readonly written: () => Promise<number>
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
  const rows = () =>
    context.store.listFigures({
      span: '5m',
      since: 0 as EpochMs,
      until: (NOW * 2) as EpochMs,
      before: undefined,
      limit: 99,
    })
  return {
    server,
    clock,
    warnings,
    issue: (more) => void (tokens += more),
    open: (addFigures = context.store.addFigures) =>
      openFigureWriter({
        ...context,
        store: { addFigures },
        count,
        logger: { warn: (line) => void warnings.push(line) },
      }),
    rows,
    written: async () => (await rows()).reduce((sum, { counts }) => sum + (counts.tokens?.['refresh_token'] ?? 0), 0),
  }
}

test('a process writes what it counted at the end of each five minutes and each hour, once', async (t) => {
  const { server, clock, issue, open, rows } = await openStage(t)
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
  issue(1)
  clock.advance(55 * MINUTE)
  await writer.write()
  assert.deepEqual(
    (await rows()).map(({ counts }) => counts.tokens?.['refresh_token']),
    [1, 3],
  )
  const hours = { span: '1h', since: NOW, until: clock.now(), before: undefined, limit: 9 } as const
  assert.deepEqual(
    (await server.context.store.listFigures(hours)).map(({ counts }) => counts),
    [{ tokens: { refresh_token: 4 } }],
  )
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
  assert.equal(await written(), 10)
  issue(2)
  clock.advance(4 * MINUTE)
  await stopped.close()
  const successor = open()
  issue(1)
  await successor.close()
  assert.equal(await written(), 13)
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
  assert.equal(await written(), 4)
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
  assert.equal(await written(), 5)
  assert.equal((await rows()).length, 2)
})

test('a row whose outcome is unknown is added once', async (t) => {
  const { server, clock, issue, open, written, rows } = await openStage(t)
  let isLost = true
  const writer = open(async (record) => {
    const outcome = await server.context.store.addFigures(record)
    if (isLost) throw new StoreUnavailable('planted')
    return outcome
  })
  issue(4)
  clock.advance(5 * MINUTE)
  await writer.write()
  isLost = false
  await writer.write()
  assert.deepEqual([await written(), (await rows()).length], [4, 1])
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

test('the sweep keeps figures of five minutes for two days, and those of an hour for 90', async (t) => {
  const { server, clock, issue, open } = await openStage(t)
  const writer = open()
  issue(1)
  clock.advance(60 * MINUTE)
  await writer.write()
  const swept = []
  for (const hours of [47, 2, 90 * 24 - 51, 3]) {
    clock.advance(hours * 60 * MINUTE)
    await server.context.clockCheck.compare()
    swept.push((await sweep(server.context, SWEEP_START)).figures)
  }
  assert.deepEqual(swept, [0, 1, 0, 1])
})
