import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { FIGURE_SPAN_NAMES, type FigureKey, type FigureRecord } from '../../../../src/ports/records/figures.ts'
import { mintOrderedId } from '../../../../src/protocol/ids.ts'
import { operationOf, outcomesOf, perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aHash, at, HOUR } from '../../../support/records.ts'
import { aSweep } from './sweep.ts'

const MINUTE = 60_000
const EVER = { since: at(-100 * 24 * HOUR), until: at(HOUR), before: undefined, limit: 9 }

export const figureCases: Suite = (check) => {
  check('figures are listed by span and time, newest first, in slices', async ({ first, second }) => {
    const fives = times(4, (index) => someFigures({}, index * 5 * MINUTE))
    const hour = someFigures({ span: '1h' }, 10 * MINUTE)
    await performAll(first, 'writeFigures', [...fives, hour])
    const page = { span: '5m', since: at(5 * MINUTE), until: at(HOUR), before: undefined, limit: 2 } as const
    const slice = await second.listFigures(page)
    assert.deepEqual(slice, [fives[3], fives[2]])
    const before = slice.at(-1)?.id ?? ''
    assert.deepEqual(await second.listFigures({ ...page, before }), [fives[1]])
    assert.deepEqual(await second.listFigures({ ...page, span: '1h' }), [hour])
    assert.deepEqual(await second.listFigures({ ...page, until: at(10 * MINUTE) }), [fives[1]], 'before the end')
  })

  check('of concurrent attempts to write the same figures the latest counts stay', async (stores) => {
    const record = someFigures({ span: '1h' })
    const attempts = times(20, (index) => {
      return { ...record, endedAt: at((index + 1) * MINUTE), counts: { tokens: { refresh_token: index } } }
    })
    const outcomes = await race(stores, 'writeFigures', attempts)
    assert.deepEqual(await stores.second.listFigures({ ...EVER, span: '1h' }), [attempts.at(-1)])
    assert.equal(outcomes.at(-1), 'written')
    const [late, same] = [attempts[3], attempts.at(-1)]
    assert.ok(late !== undefined && same !== undefined)
    assert.equal(await perform(stores.first, 'writeFigures', late), 'superseded')
    assert.equal(await perform(stores.first, 'writeFigures', same), 'written', 'an attempt whose outcome was unknown')
    assert.deepEqual(await stores.second.listFigures({ ...EVER, span: '1h' }), [same])
  })

  check('figures of each span are removed after their own time, and no others', async ({ first }) => {
    const [old, young] = [someFigures({}, -49 * HOUR), someFigures({}, -47 * HOUR)]
    const hours = [-9, -7].map((days) => someFigures({ span: '1h' }, days * 24 * HOUR))
    const days = [-91, -9].map((count) => someFigures({ span: '1d' }, count * 24 * HOUR))
    await performAll(first, 'writeFigures', [old, young, ...hours, ...days])
    const sweep = aSweep({
      figuresBefore: { '5m': at(-48 * HOUR), '1h': at(-8 * 24 * HOUR), '1d': at(-90 * 24 * HOUR) },
    })
    assert.equal((await perform(first, 'sweepExpired', sweep)).figures, 3)
    const left = await Promise.all(FIGURE_SPAN_NAMES.map((span) => first.listFigures({ ...EVER, span })))
    assert.deepEqual(left, [[young], [hours[1]], [days[1]]])
    assert.equal((await perform(first, 'sweepExpired', sweep)).figures, 0)
  })

  check('figures that are merged are added to those of their span, and of times the highest counts', async (stores) => {
    const { first, second } = stores
    const begun = { span: '1h', endedAt: at(HOUR) } as const
    const [one, late, early] = [
      someFigures({ ...begun, counts: { tokens: { refresh_token: 3 }, p99_ms: { token: 9 } } }),
      someFigures({ ...begun, endedAt: at(2 * HOUR), counts: { tokens: { refresh_token: 1, device_code: 2 } } }),
      someFigures({ ...begun, counts: { events: { failed: 5 }, p99_ms: { token: 4, authorize: 1 } } }),
    ]
    const others = [someFigures({ span: '1d' }), someFigures(begun, -HOUR), someFigures(begun)]
    await performAll(first, 'writeFigures', [one, late, early, ...others])
    for (const row of [one, late, early]) assert.equal(await perform(second, 'mergeFigures', keyOf(row)), 'merged')
    assert.equal(await perform(first, 'mergeFigures', keyOf(one)), 'unknown', 'an attempt whose outcome was unknown')
    const found = await first.listFigures({ ...EVER, span: '1h' })
    const counts = {
      tokens: { refresh_token: 4, device_code: 2 },
      events: { failed: 5 },
      p99_ms: { token: 9, authorize: 1 },
    }
    const merged = found.find(({ node }) => node === '')
    assert.deepEqual(
      { ...merged, id: '' },
      { id: '', node: '', span: '1h', beganAt: at(0), endedAt: at(2 * HOUR), counts },
    )
    assert.deepEqual(found.filter((row) => row !== merged).toSorted(byId), others.slice(1).toSorted(byId))
    assert.deepEqual(await first.listFigures({ ...EVER, span: '1d' }), others.slice(0, 1))
    assert.equal(await perform(first, 'mergeFigures', keyOf(someFigures({ span: '5m' }))), 'unknown')
    assert.deepEqual(await first.listFigures({ ...EVER, span: '5m' }), [], 'what was never written leaves no row')
  })

  check('of concurrent merges of the same figures exactly one counts', async (stores) => {
    const all = times(8, () => someFigures({ span: '1d' }))
    await performAll(stores.first, 'writeFigures', all)
    const outcomes = await race(stores, 'mergeFigures', [...all, ...all, ...all].map(keyOf))
    assert.deepEqual(tally(outcomes), { merged: 8, unknown: 16 })
    const found = await stores.second.listFigures({ ...EVER, span: '1d' })
    assert.deepEqual(
      found.map(({ node, counts }) => [node, counts]),
      [['', { tokens: { refresh_token: 24 }, p99_ms: { token: 12.5 } }]],
    )
  })

  check('merges of two nodes in batches, of all spans in any order, lose nothing', async ({ first, second }) => {
    const all = times(6, () => FIGURE_SPAN_NAMES.map((span) => someFigures({ span })))
    await performAll(first, 'writeFigures', all.flat())
    const merges = all.map((rows, index) => (index % 2 === 0 ? rows : rows.toReversed()))
    const batches = merges.map((rows, index) =>
      (index % 2 === 0 ? first : second).commit(rows.map((row) => operationOf('mergeFigures', keyOf(row)))),
    )
    const outcomes = (await Promise.all(batches)).flatMap(outcomesOf)
    assert.deepEqual(tally(outcomes), { merged: 18 })
    for (const span of FIGURE_SPAN_NAMES) {
      const rows = await second.listFigures({ ...EVER, span })
      assert.deepEqual(
        rows.map(({ counts }) => counts.tokens),
        [{ refresh_token: 18 }],
      )
    }
  })

  check(
    'a sweep merges the figures that processes left, once, also beside their merges and other sweeps',
    async (stores) => {
      const old = times(6, () => someFigures({ span: '1d' }, -96 * HOUR))
      const hours = times(2, () => someFigures({ span: '1h' }, -96 * HOUR))
      const young = someFigures({ span: '1d' }, -72 * HOUR)
      await performAll(stores.first, 'writeFigures', [...old, ...hours, young])
      const sweep = aSweep({ figuresLeftBefore: at(-80 * HOUR) })
      const [swept] = await Promise.all([
        race(stores, 'sweepExpired', [sweep, sweep]),
        race(stores, 'mergeFigures', old.slice(0, 3).map(keyOf)),
      ])
      assert.deepEqual(
        swept.map(({ figures }) => figures),
        [0, 0],
      )
      const shown = async (span: '1h' | '1d') =>
        (await stores.second.listFigures({ ...EVER, span })).map(({ node, counts }) => [node, counts.tokens])
      assert.deepEqual(await shown('1d'), [
        [young.node, young.counts.tokens],
        ['', { refresh_token: 18 }],
      ])
      assert.deepEqual(await shown('1h'), [['', { refresh_token: 6 }]])
      await perform(stores.first, 'sweepExpired', sweep)
      assert.deepEqual(await shown('1h'), [['', { refresh_token: 6 }]], 'a merged row is not merged again')
    },
  )

  check(
    'a process that stood still cannot write a row again that a sweep merged, also beside the sweep',
    async (stores) => {
      const old = times(6, () => someFigures({ span: '1d' }, -96 * HOUR))
      await performAll(stores.first, 'writeFigures', old)
      const sweep = aSweep({ figuresLeftBefore: at(-80 * HOUR) })
      const late = old.map((row) => ({ ...row, endedAt: at(0), counts: { tokens: { refresh_token: 5 } } }))
      const [outcomes] = await Promise.all([
        race(stores, 'writeFigures', late),
        race(stores, 'sweepExpired', [sweep, sweep]),
      ])
      const { written = 0 } = tally(outcomes)
      const refused = await performAll(stores.second, 'writeFigures', late)
      assert.deepEqual(tally(refused), { superseded: 6 })
      assert.equal(await perform(stores.second, 'mergeFigures', keyOf(old[0] as FigureRecord)), 'unknown')
      await perform(stores.first, 'sweepExpired', sweep)
      const found = await stores.first.listFigures({ ...EVER, span: '1d' })
      assert.deepEqual(
        found.map(({ node, counts }) => [node, counts.tokens]),
        [['', { refresh_token: 18 + 2 * written }]],
      )
      await perform(stores.first, 'sweepExpired', aSweep({ figuresBefore: { '5m': at(0), '1h': at(0), '1d': at(0) } }))
      assert.deepEqual(tally(await performAll(stores.second, 'writeFigures', late)), { written: 6 }, 'nothing is left')
    },
  )
}

function keyOf({ id, span, beganAt }: FigureRecord): FigureKey {
  return { id, span, beganAt }
}

function byId(left: FigureRecord, right: FigureRecord): number {
  return left.id < right.id ? -1 : 1
}

/** A row of a span that began at a time. */
function someFigures(differing: Partial<FigureRecord>, offset = 0): FigureRecord {
  const beganAt = at(offset)
  const id = mintOrderedId(beganAt, randomBytes)
  const counts = { tokens: { refresh_token: 3 }, p99_ms: { token: 12.5 } }
  return { id, node: aHash(), span: '5m', beganAt, endedAt: at(offset + MINUTE), counts, ...differing }
}
