import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { FIGURE_SPAN_NAMES, type FigureRecord } from '../../../../src/ports/records/figures.ts'
import { mintOrderedId } from '../../../../src/protocol/ids.ts'
import { perform, performAll, race, times, type Suite } from '../harness.ts'
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
}

/** A row of a span that began at a time. */
function someFigures(differing: Partial<FigureRecord>, offset = 0): FigureRecord {
  const id = mintOrderedId(at(offset), randomBytes)
  const counts = { tokens: { refresh_token: 3 }, p99_ms: { token: 12.5 } }
  return { id, node: aHash(), span: '5m', endedAt: at(offset + MINUTE), counts, ...differing }
}
