import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { FiguresDocument } from '../../src/admin/figures.ts'
import { after as later } from '../../src/base/brand.ts'
import { FIGURE_SPANS, type FigureCounts, type FigureRecord, type FigureSpan } from '../../src/ports/records/figures.ts'
import { mintOrderedId } from '../../src/protocol/ids.ts'
import { fillFigures } from '../../tools/figures.ts'
import { openSteadyClock } from '../support/clocks.ts'
import { NOW } from '../support/records.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { perform, type Members } from '../support/tasks.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const ends: (() => unknown)[] = []
let server: TestServer

before(async () => {
  server = await openTestServer({ after: (end) => void ends.push(end as () => unknown) }, { clock: openSteadyClock() })
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const ask = (input: Members): Promise<FiguresDocument> => perform(server.context, 'server.figures', input)
const iso = (offset: number): string => new Date(NOW + offset).toISOString()

async function plant(
  node: string,
  offset: number,
  counts: FigureCounts,
  span: FigureSpan = '5m',
): Promise<FigureRecord> {
  const endedAt = later(NOW, offset)
  const beganAt = later(endedAt, -FIGURE_SPANS[span].ms)
  const id = mintOrderedId(beganAt, randomBytes)
  const record = { id, node, span, beganAt, endedAt, counts }
  await server.context.store.writeFigures(record)
  return record
}

test('the figures of all processes are added up, and of times the highest counts', async () => {
  const [since, until] = [iso(-5 * DAY), iso(-5 * DAY + 3 * HOUR)]
  const at = -5 * DAY + 2 * HOUR
  await plant('a', at, { tokens: { refresh_token: 3 }, p99_ms: { token: 4 } }, '1h')
  await plant('b', at, { tokens: { refresh_token: 4, client_credentials: 1 }, p99_ms: { token: 9 } }, '1h')
  await plant('a', at - HOUR / 2, { tokens: { refresh_token: 5 }, p99_ms: { token: 2 } }, '1h')
  await plant('a', -5 * DAY, { tokens: { refresh_token: 100 } }, '1h')
  await plant('a', at, { tokens: { refresh_token: 100 } })
  const { points, totals, step_seconds: step } = await ask({ since, until })
  assert.deepEqual(
    [step, points.map(({ ended_at: end, tokens, p99_ms: times }) => [end, tokens, times])],
    [3600, [[iso(at), { refresh_token: 12, client_credentials: 1 }, { token: 9 }]]],
    'rows up to the start, and those of the other span, are not counted; hours without a row have no point',
  )
  assert.deepEqual([totals.tokens, totals.p99_ms], [{ refresh_token: 12, client_credentials: 1 }, { token: 9 }])
})

test('the span follows from the age of the figures, and there are at most 600 points', async () => {
  for (const [input, seconds] of [
    [{}, 300],
    [{ since: iso(-2 * DAY) }, 300],
    [{ since: iso(-2 * DAY - 1) }, 3600],
    [{ since: iso(-3 * DAY), until: iso(-3 * DAY + HOUR) }, 3600],
    [{ period: '7d' }, 3600],
    [{ since: iso(-8 * DAY) }, 3600],
    [{ since: iso(-8 * DAY - 1) }, 24 * 3600],
    [{ period: '90d' }, 24 * 3600],
    [{ points: 29 }, 3600],
    [{ period: '7d', points: 29 }, 6 * 3600],
    [{ period: '90d', points: 29 }, 4 * 24 * 3600],
    [{ period: '1d', since: iso(-HOUR), points: 2 }, 3600],
  ] as const)
    assert.equal((await ask(input)).step_seconds, seconds, JSON.stringify(input))
  await fillFigures(server.context.store, NOW, { span: '5m', rows: 600 })
  await fillFigures(server.context.store, NOW, { span: '1h', rows: 8 * 24 })
  await fillFigures(server.context.store, NOW, { span: '1d', rows: 92 })
  const all = [
    await ask({ since: iso(-2 * DAY) }),
    await ask({ period: '90d' }),
    await ask({ period: '90d', points: 7 }),
  ]
  assert.deepEqual(
    all.map(({ points }) => points.length),
    [576, 90, 7],
  )
  const [, whole, coarse] = all
  assert.deepEqual(coarse?.totals, whole?.totals, 'what is added up does not depend on the step')
})

test('rows that are merged between two reads of an answer count once', async () => {
  const { context } = server
  const at = -7 * DAY
  const some = await Promise.all(Array.from({ length: 4 }, () => plant('a', at, { tokens: { device_code: 1 } }, '1h')))
  await Promise.all(Array.from({ length: 998 }, () => plant('a', at + HOUR, {}, '1h')))
  let reads = 0
  const listFigures: typeof context.store.listFigures = async (page) => {
    const rows = await context.store.listFigures(page)
    reads += 1
    if (reads === 1) await Promise.all(some.map((row) => context.store.mergeFigures(row)))
    return rows
  }
  const input = { since: iso(at - HOUR), until: iso(at + HOUR) }
  const merging = { ...context, actingAs: () => ({ ...context.store, listFigures }) }
  const { totals } = await perform<FiguresDocument>(merging, 'server.figures', input)
  assert.deepEqual([totals.tokens['device_code'], reads], [4, 2])
})

test('a start that is not before the end, and too many points, are refused', async () => {
  await assert.rejects(ask({ since: iso(0), until: iso(0) }), /before the end/)
  await assert.rejects(ask({ points: 601 }), /at most 600/)
  await assert.rejects(ask({ period: '2d' }))
})

test('what is in a row beside the names of this server is counted as other, and of refusals eight are named', async () => {
  const at = -100 * DAY
  const refusals = {
    '<script>alert(1)</script>': 5,
    ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`r${n}`, n + 1])),
  }
  await plant('a', at, { refusals, tokens: JSON.parse('{"__proto__": 2, "constructor": 3}') }, '1d')
  const { totals } = await ask({ since: iso(at - 1), until: iso(at) })
  const named = [12, 11, 10, 9, 8, 7, 6, 5].map((count) => [`r${count - 1}`, count])
  assert.deepEqual(totals.refusals, Object.fromEntries([...named, ['other', 5 + 1 + 2 + 3 + 4]]))
  assert.deepEqual(Object.entries(totals.tokens), [
    ['constructor', 3],
    ['other', 2],
  ])
})
