import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { FigureRecord } from '../../../../src/ports/records/figures.ts'
import { mintOrderedId } from '../../../../src/protocol/ids.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aHash, at, HOUR } from '../../../support/records.ts'
import { aSweep } from './sweep.ts'

const MINUTE = 60_000
const EVER = { since: at(-100 * 24 * HOUR), until: at(HOUR), before: undefined, limit: 9 }

export const figureCases: Suite = (check) => {
  check('figures are listed by span and time, newest first, in slices', async ({ first, second }) => {
    const fives = times(4, (index) => someFigures({}, index * 5 * MINUTE))
    const hour = someFigures({ span: '1h' }, 10 * MINUTE)
    await performAll(first, 'addFigures', [...fives, hour])
    const page = { span: '5m', since: at(5 * MINUTE), until: at(HOUR), before: undefined, limit: 2 } as const
    const slice = await second.listFigures(page)
    assert.deepEqual(slice, [fives[3], fives[2]])
    const before = slice.at(-1)?.id ?? ''
    assert.deepEqual(await second.listFigures({ ...page, before }), [fives[1]])
    assert.deepEqual(await second.listFigures({ ...page, span: '1h' }), [hour])
    assert.deepEqual(await second.listFigures({ ...page, until: at(10 * MINUTE) }), [fives[2], fives[1]])
  })

  check('of concurrent attempts to add the same figures one adds them, and they stay as they are', async (stores) => {
    const record = someFigures({})
    const attempts = times(20, (index) => ({ ...record, node: `node ${index}` }))
    const outcomes = await race(stores, 'addFigures', attempts)
    assert.deepEqual(tally(outcomes), { added: 1, known: 19 })
    const [stored, ...others] = await stores.second.listFigures({ ...EVER, span: '5m' })
    assert.deepEqual([stored, others], [attempts[outcomes.indexOf('added')], []])
  })

  check('figures of each span are removed after their own time, and no others', async ({ first }) => {
    const [old, young] = [someFigures({}, -49 * HOUR), someFigures({}, -47 * HOUR)]
    const [oldest, older] = [someFigures({ span: '1h' }, -91 * 24 * HOUR), someFigures({ span: '1h' }, -49 * HOUR)]
    await performAll(first, 'addFigures', [old, young, oldest, older])
    const sweep = aSweep({ figuresBefore: { '5m': at(-48 * HOUR), '1h': at(-90 * 24 * HOUR) } })
    assert.equal((await perform(first, 'sweepExpired', sweep)).figures, 2)
    const left = await Promise.all((['5m', '1h'] as const).map((span) => first.listFigures({ ...EVER, span })))
    assert.deepEqual(left, [[young], [older]])
    assert.equal((await perform(first, 'sweepExpired', sweep)).figures, 0)
  })
}

/** A row that ended at a time. */
function someFigures(differing: Partial<FigureRecord>, offset = 0): FigureRecord {
  const endedAt = at(offset)
  const counts = { tokens: { refresh_token: 3 }, p99_ms: { token: 12.5 } }
  return { id: mintOrderedId(endedAt, randomBytes), node: aHash(), span: '5m', endedAt, counts, ...differing }
}
