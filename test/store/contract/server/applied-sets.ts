import assert from 'node:assert/strict'
import { perform, race, tally, times, type Suite } from '../harness.ts'

const RUN = { finished: undefined }

export const appliedSetCases: Suite = (check) => {
  check(
    'recordApplied adds a set, replaces what it has, and ends it, in the order of names',
    async ({ first, second }) => {
      const [a, b] = ['a-set', 'b-set']
      assert.equal(
        await perform(first, 'recordApplied', { ...RUN, set: b, previous: undefined, value: 'b1' }),
        'changed',
      )
      assert.equal(
        await perform(first, 'recordApplied', { ...RUN, set: a, previous: undefined, value: 'a1' }),
        'changed',
      )
      assert.equal(await perform(second, 'recordApplied', { ...RUN, set: a, previous: 'a1', value: 'a2' }), 'changed')
      assert.deepEqual(await first.listAppliedSets(), [
        { set: a, value: 'a2' },
        { set: b, value: 'b1' },
      ])
      for (const set of [a, b]) {
        const stored = (await first.listAppliedSets()).find((one) => one.set === set)
        const end = { ...RUN, set, previous: stored?.value, value: undefined }
        assert.equal(await perform(second, 'recordApplied', end), 'changed')
        assert.equal(await perform(second, 'recordApplied', end), 'conflict')
      }
      assert.deepEqual(await second.listAppliedSets(), [])
    },
  )

  check('recordApplied: a set that ended is not replaced, and one that exists is not added', async ({ first }) => {
    const set = 'ended'
    assert.equal(await perform(first, 'recordApplied', { ...RUN, set, previous: 'x', value: 'y' }), 'conflict')
    assert.equal(await perform(first, 'recordApplied', { ...RUN, set, previous: undefined, value: 'x' }), 'changed')
    assert.equal(await perform(first, 'recordApplied', { ...RUN, set, previous: undefined, value: 'y' }), 'conflict')
    assert.equal(await perform(first, 'recordApplied', { ...RUN, set, previous: 'x', value: undefined }), 'changed')
  })

  check('APL-04: of concurrent runs of one set exactly one succeeds', async (stores) => {
    const set = 'raced'
    for (const previous of [undefined, 'started']) {
      if (previous !== undefined) {
        const [stored] = await stores.first.listAppliedSets()
        await perform(stores.first, 'recordApplied', { ...RUN, set, previous: stored?.value, value: previous })
      }
      const changes = times(10, (index) => ({ ...RUN, set, previous, value: `run ${index}` }))
      const outcomes = await race(stores, 'recordApplied', changes)
      assert.deepEqual(tally(outcomes), { changed: 1, conflict: 9 })
      assert.deepEqual(await stores.second.listAppliedSets(), [{ set, value: `run ${outcomes.indexOf('changed')}` }])
    }
    const [stored] = await stores.first.listAppliedSets()
    await perform(stores.first, 'recordApplied', { ...RUN, set, previous: stored?.value, value: undefined })
  })
}
