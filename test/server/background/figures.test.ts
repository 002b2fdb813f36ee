import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FIGURE_SPAN_NAMES, type FigureSpan } from '../../../src/ports/records/figures.ts'
import { sweep, SWEEP_START } from '../../../src/server/background/sweep.ts'
import { StoreUnavailable } from '../../../src/ports/store.ts'
import { NOW } from '../../support/records.ts'
import { openFigureStage } from './figure-stage.ts'

const MINUTE = 60_000

test('a process writes what it counted every five minutes, and then replaces the rows of the hour and the day', async (t) => {
  const { clock, issue, open, rows } = await openFigureStage(t)
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
  const { clock, open, rows } = await openFigureStage(t)
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
  const { clock, issue, open, written } = await openFigureStage(t)
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
  const { clock, issue, open, rows, written } = await openFigureStage(t)
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
  const { server, clock, issue, open, written, rows, warnings } = await openFigureStage(t)
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
  assert.deepEqual(
    await written(),
    [5, 4, 4],
    'the rows of the hour and the day as they were attempted at the same time',
  )
  clock.advance(5 * MINUTE)
  await writer.write()
  assert.deepEqual(await written(), [5, 5, 5])
  assert.equal((await rows()).length, 3)
})

test('a row whose outcome is unknown counts once, also after the next five minutes', async (t) => {
  const { server, clock, issue, open, written, rows } = await openFigureStage(t)
  let isLost = true
  const writer = open({
    async writeFigures(record) {
      const outcome = await server.context.store.writeFigures(record)
      if (isLost) throw new StoreUnavailable('planted')
      return outcome
    },
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

test('an attempt waits for all writes of the one that failed', async (t) => {
  const { server, clock, issue, open, written, warnings } = await openFigureStage(t)
  const late = Promise.withResolvers<void>()
  const spans: FigureSpan[] = []
  const writer = open({
    async writeFigures(record) {
      spans.push(record.span)
      if (spans.length === 1) throw new StoreUnavailable('planted')
      if (spans.length === 3) await late.promise
      return server.context.store.writeFigures(record)
    },
  })
  issue(4)
  clock.advance(5 * MINUTE)
  const first = writer.write()
  while (spans.length < 3) await nextTurn()
  const second = writer.write()
  assert.deepEqual([first === second, spans], [true, FIGURE_SPAN_NAMES])
  late.resolve()
  await first
  assert.equal(warnings.length, 1)
  await writer.write()
  assert.deepEqual(
    [await written(), spans],
    [
      [4, 4, 4],
      [...FIGURE_SPAN_NAMES, '5m'],
    ],
  )
})

test('a store that hangs delays a stop by less than half a second', async (t) => {
  const { issue, open } = await openFigureStage(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const writer = open({ writeFigures: () => new Promise(() => undefined) })
  issue(1)
  const closed = writer.close()
  t.mock.timers.tick(499)
  await closed
})

test('the sweep keeps figures of five minutes for two days, those of an hour for eight, and those of a day for 90', async (t) => {
  const { server, clock, issue, open } = await openFigureStage(t)
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
  // The row of the day was merged, and remained without counts.
  assert.deepEqual(swept, [0, 1, 0, 1, 0, 2])
})

test('a clock that is set back loses no counts', async (t) => {
  const { server, clock, issue, open, written } = await openFigureStage(t)
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
