import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIGURE_SPAN_NAMES, type FigureRecord } from '../../../src/ports/records/figures.ts'
import { sweep, SWEEP_START } from '../../../src/server/background/sweep.ts'
import { StoreUnavailable } from '../../../src/ports/store.ts'
import type { FigureWriter } from '../../../src/server/background/figures.ts'
import { NOW } from '../../support/records.ts'
import { openFigureStage } from './figure-stage.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

test('500 starts and stops in 21 hours leave one row for each five minutes, each hour and each day', async (t) => {
  const { clock, issue, open, written, rows } = await openFigureStage(t)
  for (let start = 0; start < 500; start += 1) {
    const writer = open()
    issue(1)
    clock.advance(2.5 * MINUTE)
    await writer.close()
  }
  assert.deepEqual(await written(), [500, 500, 500])
  const lengths = await Promise.all(FIGURE_SPAN_NAMES.map(async (span) => (await rows(span)).length))
  assert.deepEqual(lengths, [250, 21, 2])
})

test('STO-13: no row is merged while the clock differs, neither by its process nor by a sweep', async (t) => {
  const { server, clock, issue, open, rows } = await openFigureStage(t)
  const { store, clockCheck } = server.context
  let isLost = true
  const writer = open({
    async mergeFigures(key) {
      if (isLost) throw new StoreUnavailable('planted')
      return store.mergeFigures(key)
    },
  })
  issue(4)
  clock.advance(5 * MINUTE)
  await writer.write()
  isLost = false
  const right = clock.now()
  clock.set(right + 5 * DAY)
  await writer.write()
  await writer.close()
  await sweep(server.context, SWEEP_START)
  const nodes = async (): Promise<readonly boolean[]> =>
    (await Promise.all(FIGURE_SPAN_NAMES.map(rows))).flat().map(({ node }) => node === '')
  assert.deepEqual(await nodes(), [false, false, false])
  clock.set(right)
  await writer.write()
  assert.deepEqual(await nodes(), [true, false, false])
  assert.equal(clockCheck.differenceMs(), 0)
})

test('rows that killed processes left are merged by a sweep after four days', async (t) => {
  const { server, clock, issue, open, rows, written } = await openFigureStage(t)
  for (let kill = 0; kill < 48; kill += 1) {
    const writer = open()
    issue(1)
    clock.advance(5 * MINUTE)
    await writer.write()
  }
  assert.deepEqual(await written(), [48, 48, 48])
  assert.deepEqual([(await rows('1h')).length, (await rows('1d')).length], [48, 48])
  clock.advance(NOW - (NOW % DAY) + 4 * DAY - clock.now())
  await server.context.clockCheck.compare()
  await sweep(server.context, SWEEP_START)
  assert.deepEqual([(await rows('1h')).length, (await rows('1d')).length], [48, 48], 'too young')
  clock.advance(DAY)
  await server.context.clockCheck.compare()
  await sweep(server.context, SWEEP_START)
  assert.deepEqual([(await rows('1h')).length, (await rows('1d')).length], [4, 1])
  assert.deepEqual((await written()).slice(1), [48, 48])
})

test('a merge whose outcome is unknown counts once, and is repeated before anything else is written', async (t) => {
  const { server, clock, issue, open, written, rows } = await openFigureStage(t)
  let isLost = true
  let merges = 0
  const writer = open({
    async mergeFigures(key) {
      merges += 1
      // One was merged, one was not.
      const outcome = merges % 2 === 0 ? 'merged' : await server.context.store.mergeFigures(key)
      if (isLost) throw new StoreUnavailable('planted')
      return outcome
    },
  })
  issue(4)
  clock.advance(60 * MINUTE)
  await writer.write()
  assert.equal(merges, 2)
  issue(2)
  clock.advance(5 * MINUTE)
  await writer.write()
  assert.deepEqual([merges, await written()], [4, [4, 4, 6]])
  isLost = false
  await writer.write()
  await writer.close()
  assert.deepEqual(await written(), [6, 6, 6])
  assert.deepEqual(
    (await rows()).map(({ node }) => node === ''),
    [true, true],
  )
})

test('a row whose first attempt failed is not merged by its process, since that attempt may arrive later', async (t) => {
  const { server, clock, issue, open, written, rows } = await openFigureStage(t)
  const { store } = server.context
  const lost: FigureRecord[] = []
  let isLost = true
  const writer = open({
    async writeFigures(record) {
      if (!isLost) return store.writeFigures(record)
      lost.push(record)
      throw new StoreUnavailable('planted')
    },
  })
  issue(4)
  clock.advance(5 * MINUTE)
  await writer.write()
  isLost = false
  issue(1)
  clock.advance(5 * MINUTE)
  await writer.write()
  await writer.close()
  for (const record of lost) await store.writeFigures(record)
  assert.deepEqual([lost.length, await written()], [3, [5, 5, 5]])
  assert.deepEqual(
    (await rows('1h')).map(({ node }) => node !== ''),
    [true],
  )
})

test('a stop merges no row whose last attempt failed, even if that had nothing new', async (t) => {
  const { server, clock, issue, open, written } = await openFigureStage(t)
  const { store } = server.context
  const lost: FigureRecord[] = []
  let failures = 0
  const writer = open({
    async writeFigures(record) {
      failures -= 1
      if (failures < 0) return store.writeFigures(record)
      lost.push(record)
      throw new StoreUnavailable('planted')
    },
  })
  issue(4)
  clock.advance(5 * MINUTE)
  await writer.write()
  clock.advance(5 * MINUTE)
  failures = 2 * FIGURE_SPAN_NAMES.length
  await writer.write()
  clock.advance(MINUTE)
  await writer.close()
  for (const record of lost) await store.writeFigures(record)
  assert.deepEqual([lost.length, await written()], [6, [4, 4, 4]])
})

test('a row whose outcome is unknown for days counts once, whether or not a sweep has merged it', async (t) => {
  const { server, clock, issue, open, written, rows } = await openFigureStage(t)
  const { store, clockCheck } = server.context
  let isLost = true
  const start = (isWritten: boolean): FigureWriter =>
    open({
      async writeFigures(record) {
        const outcome = isWritten || !isLost ? await store.writeFigures(record) : 'written'
        if (isLost) throw new StoreUnavailable('planted')
        return outcome
      },
    })
  const writers = [start(true), start(false)]
  issue(4)
  clock.advance(5 * MINUTE)
  for (const writer of writers) await writer.write()
  clock.advance(5 * DAY)
  await clockCheck.compare()
  await sweep(server.context, SWEEP_START)
  assert.deepEqual(
    (await rows('1h')).map(({ node }) => node),
    [''],
  )
  isLost = false
  issue(2)
  for (const writer of writers) await writer.write()
  assert.deepEqual((await written()).slice(1), [12, 12])
})

test('a process that was stopped for a week in a write counts once: a sweep has merged its row meanwhile', async (t) => {
  const { server, clock, issue, open, written, rows } = await openFigureStage(t)
  const { store, clockCheck } = server.context
  let isStopped = false
  const frozen = Promise.withResolvers<void>()
  const writer = open({
    async writeFigures(record) {
      if (isStopped) await frozen.promise
      return store.writeFigures(record)
    },
  })
  issue(4)
  clock.advance(5 * MINUTE)
  await writer.write()
  issue(2)
  clock.advance(5 * MINUTE)
  isStopped = true
  const late = writer.write()
  clock.advance(7 * DAY)
  await clockCheck.compare()
  await sweep(server.context, SWEEP_START)
  assert.deepEqual((await written()).slice(1), [4, 4])
  isStopped = false
  frozen.resolve()
  await late
  assert.deepEqual((await written()).slice(1), [4, 4], 'the row has been merged')
  issue(1)
  await writer.write()
  await writer.close()
  await sweep(server.context, SWEEP_START)
  assert.deepEqual((await written()).slice(1), [7, 7])
  assert.deepEqual([(await rows('1h')).length, (await rows('1d')).length], [2, 2])
})

test('whatever fails, arrives late or is repeated, each token counts once', async (t) => {
  let state = 7
  /** A number below a limit, the same ones in each run. */
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const { server, clock, issue, open, written, rows } = await openFigureStage(t)
  const { store, clockCheck } = server.context
  let mayFail = true
  const late: FigureRecord[] = []
  const arrive = async (): Promise<void> => {
    for (const record of late.splice(0).toReversed()) await store.writeFigures(record)
  }
  const start = (): FigureWriter =>
    open({
      async writeFigures(record) {
        const luck = mayFail ? below(6) : 2
        if (luck !== 0) await store.writeFigures(record)
        else late.push(record)
        if (luck < 2) throw new StoreUnavailable('planted')
        return 'written'
      },
      async mergeFigures(key) {
        const luck = below(6)
        if (luck !== 0) await store.mergeFigures(key)
        if (luck < 2) throw new StoreUnavailable('planted')
        return 'merged'
      },
    })
  const stop = async (writer: FigureWriter | undefined): Promise<void> => {
    mayFail = false
    await writer?.close()
    mayFail = true
  }
  const running: FigureWriter[] = []
  let issued = 0
  for (let step = 0; step < 150; step += 1) {
    if (running.length < 3 && below(3) === 0) running.push(start())
    const tokens = below(5)
    issue(tokens)
    issued += tokens * running.length
    clock.advance(below(16) * MINUTE)
    await Promise.all(running.filter(() => below(4) > 0).map((writer) => writer.write()))
    if (below(5) === 0) await arrive()
    if (below(8) === 0) await stop(running.shift())
  }
  for (const writer of running) await stop(writer)
  await arrive()
  assert.deepEqual(await written(), [issued, issued, issued])
  clock.advance(5 * DAY)
  await clockCheck.compare()
  await sweep(server.context, SWEEP_START)
  assert.deepEqual((await written()).slice(1), [issued, issued])
  const [hours, days] = [await rows('1h'), await rows('1d')]
  assert.ok(hours.length <= 25 && days.length <= 2, `${hours.length} and ${days.length} rows`)
})
