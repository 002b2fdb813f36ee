import assert from 'node:assert/strict'
import { perform, performAll, race, tally, times, type Suite } from './harness.ts'
import { aHash, aKey, anApi } from './records.ts'

export const operatorCases: Suite = (check) => {
  check('declareApi keeps the API, listed in the order of identifiers', async ({ first, second }) => {
    const apis = [anApi(), anApi({ name: undefined, scopes: [] }), anApi()]
    for (const api of apis) assert.equal(await perform(first, 'declareApi', api), 'declared')
    assert.deepEqual(
      await second.listApis(),
      apis.toSorted((left, right) => (left.resource < right.resource ? -1 : 1)),
    )
  })

  check('of many who declare one API, one does, and its words stay', async (stores) => {
    const { resource } = anApi()
    const apis = times(10, (index) => anApi({ resource, name: `number ${index}` }))
    const outcomes = await race(stores, 'declareApi', apis)
    assert.deepEqual(tally(outcomes), { declared: 1, taken: 9 })
    assert.deepEqual(await stores.first.listApis(), [apis[outcomes.indexOf('declared')]])
  })

  check('deleteApi removes that API, once', async ({ first }) => {
    const [gone, kept] = [anApi(), anApi()]
    await performAll(first, 'declareApi', [gone, kept])
    assert.deepEqual(await performAll(first, 'deleteApi', [gone.resource, gone.resource]), ['deleted', 'unknown'])
    assert.deepEqual(await first.listApis(), [kept])
  })

  check('addFirstKey: of many first keys one counts, and all are told which', async (stores) => {
    assert.deepEqual(await stores.first.listKeys(), [])
    const outcomes = await race(
      stores,
      'addFirstKey',
      times(12, () => aKey()),
    )
    const keys = await stores.second.listKeys()
    assert.equal(keys.length, 1)
    for (const outcome of outcomes) assert.deepEqual(outcome, keys[0])
  })

  check('addFirstKey twice in one batch: the first one counts', async ({ first }) => {
    const [one, two] = [aKey(), aKey()]
    assert.deepEqual(await performAll(first, 'addFirstKey', [one, two]), [one, one])
  })

  check('settle: of many values one counts, and all are told which', async (stores) => {
    const name = aHash()
    const values = times(12, () => aHash())
    const outcomes = await race(
      stores,
      'settle',
      values.map((value) => ({ name, value })),
    )
    assert.equal(new Set(outcomes).size, 1)
    assert.ok(values.includes(outcomes[0] as never))
    assert.equal(await perform(stores.second, 'settle', { name, value: 'later' }), outcomes[0])
    assert.equal(await perform(stores.second, 'settle', { name: aHash(), value: 'other' }), 'other')
  })

  check('ping answers', async ({ first, second }) => {
    await first.ping()
    await second.ping()
  })
}
