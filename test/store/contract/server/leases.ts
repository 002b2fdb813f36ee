import assert from 'node:assert/strict'
import { perform, race, tally, times, type Suite } from '../harness.ts'

export const leaseCases: Suite = (check) => {
  check('a lease is taken by the node that names its mark, and not by another', async ({ first, second }) => {
    assert.equal(await second.findLeaseMark('work'), undefined)
    assert.equal(await perform(first, 'takeLease', { name: 'work', previous: undefined, mark: 'a' }), 'taken')
    assert.equal(await second.findLeaseMark('work'), 'a')
    assert.equal(await perform(second, 'takeLease', { name: 'work', previous: undefined, mark: 'b' }), 'missed')
    assert.equal(await perform(second, 'takeLease', { name: 'work', previous: 'b', mark: 'c' }), 'missed')
    assert.equal(await perform(second, 'takeLease', { name: 'other', previous: undefined, mark: 'b' }), 'taken')
    assert.equal(await perform(second, 'takeLease', { name: 'work', previous: 'a', mark: 'c' }), 'taken')
    assert.equal(await perform(first, 'takeLease', { name: 'work', previous: 'a', mark: 'd' }), 'missed')
    assert.equal(await first.findLeaseMark('work'), 'c')
  })

  check('only the node that holds a lease can give it up', async ({ first, second }) => {
    await perform(first, 'takeLease', { name: 'work', previous: undefined, mark: 'a' })
    assert.equal(await perform(second, 'releaseLease', { name: 'work', mark: 'b' }), 'missed')
    assert.equal(await perform(first, 'releaseLease', { name: 'work', mark: 'a' }), 'released')
    assert.equal(await second.findLeaseMark('work'), undefined)
  })

  check('of concurrent nodes one takes a lease, whether it is free or held', async (stores) => {
    for (const previous of [undefined, 'held']) {
      const name = `work ${previous ?? ''}`
      if (previous !== undefined)
        await perform(stores.first, 'takeLease', { name, previous: undefined, mark: previous })
      const marks = times(20, (index) => ({ name, previous, mark: `mark ${index}` }))
      const outcomes = await race(stores, 'takeLease', marks)
      assert.deepEqual(tally(outcomes), { missed: 19, taken: 1 })
      assert.equal(await stores.second.findLeaseMark(name), marks[outcomes.indexOf('taken')]?.mark)
    }
  })
}
