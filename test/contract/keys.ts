import assert from 'node:assert/strict'
import { outcomesOf, perform, performAll, race, tally, times, type Suite } from './harness.ts'
import { aKey, HOUR } from './records.ts'

export const keyCases: Suite = (check) => {
  check('addKey keeps the next key as it is, listed after the one that it follows', async ({ first, second }) => {
    const [one, two] = [aKey(), aKey(1)]
    await perform(first, 'addFirstKey', one)
    assert.equal(await perform(first, 'addKey', { key: two, follows: one.id }), 'added')
    assert.deepEqual(await second.listKeys(), [one, two])
  })

  check(
    'addKey: of many nodes that make the next key at the same moment one does, rotation after rotation',
    async (stores) => {
      let newest = await perform(stores.first, 'addFirstKey', aKey())
      for (let rotation = 1; rotation <= 5; rotation += 1) {
        const keys = times(10, () => aKey(rotation))
        const follows = newest.id
        const outcomes = await race(
          stores,
          'addKey',
          keys.map((key) => ({ key, follows })),
        )
        assert.deepEqual(tally(outcomes), { added: 1, outrun: 9 })
        const listed = await stores.second.listKeys()
        assert.equal(listed.length, rotation + 1)
        newest = listed.at(-1) ?? newest
        assert.equal(newest.id, keys[outcomes.indexOf('added')]?.id)
      }
    },
  )

  check('addKey twice in one batch: the first one counts', async ({ first }) => {
    const one = await perform(first, 'addFirstKey', aKey())
    const inputs = times(2, () => ({ key: aKey(1), follows: one.id }))
    assert.deepEqual(await performAll(first, 'addKey', inputs), ['added', 'outrun'])
    assert.deepEqual(await first.listKeys(), [one, inputs[0]?.key])
  })

  check('addKey: who follows a key that is not the newest, or is gone, adds none', async ({ first }) => {
    const [one, two, three] = [aKey(), aKey(1), aKey(2)]
    await perform(first, 'addFirstKey', one)
    await perform(first, 'addKey', { key: two, follows: one.id })
    assert.equal(await perform(first, 'addKey', { key: three, follows: one.id }), 'outrun')
    assert.equal(await perform(first, 'removeKey', { id: one.id, replacement: two.id }), 'removed')
    assert.equal(await perform(first, 'addKey', { key: three, follows: one.id }), 'outrun')
    assert.deepEqual(await first.listKeys(), [two])
  })

  check('addKey: a key whose id is not the newest would hide who is, and is not added', async ({ first }) => {
    const one = await perform(first, 'addFirstKey', aKey(HOUR))
    assert.equal(await perform(first, 'addKey', { key: aKey(), follows: one.id }), 'outrun')
    assert.equal(await perform(first, 'addKey', { key: aKey(HOUR + 1), follows: one.id }), 'added')
  })

  check('addKey: a key whose successor was withdrawn gets another one', async ({ first }) => {
    const [one, two, three] = [aKey(), aKey(1), aKey(2)]
    await perform(first, 'addFirstKey', one)
    await perform(first, 'addKey', { key: two, follows: one.id })
    await perform(first, 'removeKey', { id: two.id, replacement: one.id })
    assert.equal(await perform(first, 'addKey', { key: three, follows: one.id }), 'added')
    assert.deepEqual(await first.listKeys(), [one, three])
  })

  check('removeKey: of many who remove one key, one does', async (stores) => {
    const [one, two] = [aKey(), aKey(1)]
    await perform(stores.first, 'addFirstKey', one)
    await perform(stores.first, 'addKey', { key: two, follows: one.id })
    const outcomes = await race(
      stores,
      'removeKey',
      times(10, () => ({ id: one.id, replacement: two.id })),
    )
    assert.deepEqual(tally(outcomes), { removed: 1, unknown: 9 })
    assert.deepEqual(await stores.second.listKeys(), [two])
  })

  check('removeKey: without the key that takes its place, a key stays', async ({ first }) => {
    const one = await perform(first, 'addFirstKey', aKey())
    assert.equal(await perform(first, 'removeKey', { id: one.id, replacement: aKey().id }), 'unknown')
    assert.deepEqual(await first.listKeys(), [one])
  })

  check('removeKey twice in one batch, each for the other: one key stays', async ({ first }) => {
    const [one, two] = [aKey(), aKey(1)]
    await perform(first, 'addFirstKey', one)
    await perform(first, 'addKey', { key: two, follows: one.id })
    const outcomes = outcomesOf(
      await first.commit([
        { name: 'removeKey', input: { id: one.id, replacement: two.id } },
        { name: 'removeKey', input: { id: two.id, replacement: one.id } },
      ]),
    )
    assert.deepEqual(outcomes, ['removed', 'unknown'])
    assert.deepEqual(await first.listKeys(), [two])
  })
}
