import assert from 'node:assert/strict'
import type { SigningAlgorithm } from '../../../../src/ports/records/key.ts'
import { outcomesOf, perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aKey, at, HOUR } from '../../../support/records.ts'

const ALGORITHMS: readonly SigningAlgorithm[] = ['ES256', 'EdDSA', 'RS256']

export const keyCases: Suite = (check) => {
  check('addFirstKey: of concurrent first keys one is stored and returned to all callers', async (stores) => {
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

  check('addFirstKey twice in one batch: the first one is stored', async ({ first }) => {
    const [one, two] = [aKey(), aKey()]
    assert.deepEqual(await performAll(first, 'addFirstKey', [one, two]), [one, one])
  })

  check('addFirstKey: each algorithm has its own first key, however many callers add one', async (stores) => {
    const keys = times(24, (index) => aKey(0, ALGORITHMS[index % 3]))
    const outcomes = await race(stores, 'addFirstKey', keys)
    const listed = await stores.second.listKeys()
    assert.deepEqual(listed.map(({ algorithm }) => algorithm).toSorted(), ALGORITHMS.toSorted())
    for (const [index, outcome] of outcomes.entries()) {
      assert.deepEqual(
        outcome,
        listed.find(({ algorithm }) => algorithm === keys[index]?.algorithm),
      )
    }
  })

  check('addFirstKey of several algorithms in one batch: the first of each is stored', async ({ first, second }) => {
    const keys = times(6, (index) => aKey(index, ALGORITHMS[index % 3]))
    assert.deepEqual(await performAll(first, 'addFirstKey', keys), [...keys.slice(0, 3), ...keys.slice(0, 3)])
    assert.deepEqual(await second.listKeys(), keys.slice(0, 3))
  })

  check('addFirstKey returns the oldest key of the algorithm, even if newer ones exist', async ({ first }) => {
    const [one, two, other] = [aKey(1), aKey(2), aKey(0, 'RS256')]
    await perform(first, 'addFirstKey', one)
    await perform(first, 'addKey', { key: two, follows: one.id })
    await perform(first, 'addFirstKey', other)
    assert.deepEqual(await perform(first, 'addFirstKey', aKey(3)), one)
    assert.deepEqual(await first.listKeys(), [other, one, two])
  })

  check('addFirstKey: an algorithm whose keys were all removed can get one again', async (stores) => {
    const { first } = stores
    const other = await perform(first, 'addFirstKey', aKey(0, 'EdDSA'))
    for (let round = 1; round <= 3; round += 1) {
      const outcomes = await race(
        stores,
        'addFirstKey',
        times(8, () => aKey(round)),
      )
      const [, made] = await stores.second.listKeys()
      for (const outcome of outcomes) assert.deepEqual(outcome, made)
      assert.ok(made)
      assert.equal(await perform(first, 'removeKey', { id: made.id, replacement: other.id }), 'removed')
    }
  })

  check(
    'the keys for ID tokens and those for access tokens are two lists, each with its own first key',
    async (stores) => {
      const { first, second } = stores
      const own = await perform(first, 'addFirstKey', aKey(0, 'RS256'))
      const outcomes = await race(
        stores,
        'addFirstKey',
        times(12, () => aKey(1, 'RS256', 'id')),
      )
      const [, made, ...more] = await second.listKeys()
      assert.deepEqual([made?.purpose, more], ['id', []])
      for (const outcome of outcomes) assert.deepEqual(outcome, made)
      assert.deepEqual(await perform(first, 'addFirstKey', aKey(2, 'RS256')), own)
      const id = made?.id ?? own.id
      assert.equal(await perform(first, 'addKey', { key: aKey(3, 'RS256'), follows: id }), 'conflict')
      const next = aKey(4, 'RS256', 'id')
      assert.equal(await perform(first, 'addKey', { key: next, follows: id }), 'added')
      assert.equal(await perform(first, 'removeKey', { id, replacement: next.id }), 'removed')
      assert.deepEqual(await second.listKeys(), [own, next])
    },
  )

  check('addFirstKey: a key for ID tokens of each algorithm, also in a store without any other key', async (stores) => {
    const keys = times(24, (index) => aKey(index, ALGORITHMS[index % 3], 'id'))
    await race(stores, 'addFirstKey', keys)
    const listed = await stores.second.listKeys()
    assert.deepEqual(listed.map(({ purpose, algorithm }) => `${purpose} ${algorithm}`).toSorted(), [
      'id ES256',
      'id EdDSA',
      'id RS256',
    ])
  })

  check('addKey: the keys of each algorithm follow each other independently', async ({ first, second }) => {
    const [one, other] = [aKey(0), aKey(1, 'EdDSA')]
    const [two, another] = [aKey(2), aKey(3, 'EdDSA')]
    await performAll(first, 'addFirstKey', [one, other])
    const inputs = [
      { key: two, follows: one.id },
      { key: another, follows: other.id },
      { key: aKey(4), follows: one.id },
    ]
    assert.deepEqual(await performAll(first, 'addKey', inputs), ['added', 'added', 'conflict'])
    assert.deepEqual(await second.listKeys(), [one, other, two, another])
  })

  check(
    'addKey: when the algorithm changes, one key of the new algorithm follows the newest of the old one',
    async (stores) => {
      const { first, second } = stores
      const [one, two] = [aKey(0), aKey(1)]
      await perform(first, 'addFirstKey', one)
      await perform(first, 'addKey', { key: two, follows: one.id })
      assert.equal(await perform(first, 'addKey', { key: aKey(2, 'EdDSA'), follows: one.id }), 'conflict')
      const nexts = times(8, () => ({ key: aKey(2, 'EdDSA'), follows: two.id }))
      const outcomes = await race(stores, 'addKey', nexts)
      assert.deepEqual(tally(outcomes), { added: 1, conflict: 7 })
      assert.deepEqual(await second.listKeys(), [one, two, nexts[outcomes.indexOf('added')]?.key])
    },
  )

  check('addKey stores the next key unchanged, listed after the one that it follows', async ({ first, second }) => {
    const [one, two] = [aKey(), aKey(1)]
    await perform(first, 'addFirstKey', one)
    assert.equal(await perform(first, 'addKey', { key: two, follows: one.id }), 'added')
    assert.deepEqual(await second.listKeys(), [one, two])
  })

  check(
    'addKey: of nodes that add the next key at the same time exactly one succeeds, rotation after rotation',
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
        assert.deepEqual(tally(outcomes), { added: 1, conflict: 9 })
        const listed = await stores.second.listKeys()
        assert.equal(listed.length, rotation + 1)
        newest = listed.at(-1) ?? newest
        assert.equal(newest.id, keys[outcomes.indexOf('added')]?.id)
      }
    },
  )

  check('addKey twice in one batch: the first one is stored', async ({ first }) => {
    const one = await perform(first, 'addFirstKey', aKey())
    const inputs = times(2, () => ({ key: aKey(1), follows: one.id }))
    assert.deepEqual(await performAll(first, 'addKey', inputs), ['added', 'conflict'])
    assert.deepEqual(await first.listKeys(), [one, inputs[0]?.key])
  })

  check('addKey: a key that follows one that is removed or not the newest is not added', async ({ first }) => {
    const [one, two, three] = [aKey(), aKey(1), aKey(2)]
    await perform(first, 'addFirstKey', one)
    await perform(first, 'addKey', { key: two, follows: one.id })
    assert.equal(await perform(first, 'addKey', { key: three, follows: one.id }), 'conflict')
    assert.equal(await perform(first, 'removeKey', { id: one.id, replacement: two.id }), 'removed')
    assert.equal(await perform(first, 'addKey', { key: three, follows: one.id }), 'conflict')
    assert.deepEqual(await first.listKeys(), [two])
  })

  check(
    'addKey: a key whose id is not the greatest would not be found as the newest, and is not added',
    async ({ first }) => {
      const one = await perform(first, 'addFirstKey', aKey(HOUR))
      assert.equal(await perform(first, 'addKey', { key: aKey(), follows: one.id }), 'conflict')
      assert.equal(await perform(first, 'addKey', { key: aKey(HOUR + 1), follows: one.id }), 'added')
    },
  )

  check('addKey: a key whose successor was removed gets another one', async ({ first }) => {
    const [one, two, three] = [aKey(), aKey(1), aKey(2)]
    await perform(first, 'addFirstKey', one)
    await perform(first, 'addKey', { key: two, follows: one.id })
    await perform(first, 'removeKey', { id: two.id, replacement: one.id })
    assert.equal(await perform(first, 'addKey', { key: three, follows: one.id }), 'added')
    assert.deepEqual(await first.listKeys(), [one, three])
  })

  check('removeKey: of concurrent removals of one key exactly one succeeds', async (stores) => {
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

  check('removeKey: a key whose replacement does not exist is not removed', async ({ first }) => {
    const one = await perform(first, 'addFirstKey', aKey())
    assert.equal(await perform(first, 'removeKey', { id: one.id, replacement: aKey().id }), 'unknown')
    assert.deepEqual(await first.listKeys(), [one])
  })

  check(
    'STO-13: noteClock and confirmClock: the last values are kept, visible through both handles',
    async ({ first, second }) => {
      assert.deepEqual((await first.findClockNotes()).confirmation, undefined)
      const note = { agreedAt: at(5), deletionTime: at(3), confirmation: undefined }
      const later = { agreedAt: at(2), deletionTime: at(1), confirmation: at(2) }
      assert.equal(await perform(first, 'noteClock', note), 'noted')
      assert.deepEqual((await second.findClockNotes()).node, JSON.parse(JSON.stringify(note)))
      assert.deepEqual(await performAll(second, 'noteClock', [note, later]), ['noted', 'noted'])
      const confirmations = [{ now: at(9) }, { now: at(2) }]
      assert.deepEqual(await performAll(first, 'confirmClock', confirmations), ['confirmed', 'confirmed'])
      for (const store of [first, second])
        assert.deepEqual(await store.findClockNotes(), { node: later, confirmation: at(2) })
    },
  )

  check('noteServerAlgorithm: the last value is kept, visible through both handles', async ({ first, second }) => {
    assert.equal(await first.findServerAlgorithm(), undefined)
    for (const algorithm of ['ES256', 'EdDSA', 'EdDSA', 'ES256'] as const) {
      assert.equal(await perform(first, 'noteServerAlgorithm', algorithm), 'noted')
      assert.equal(await first.findServerAlgorithm(), algorithm)
      assert.equal(await second.findServerAlgorithm(), algorithm)
    }
    assert.deepEqual(await performAll(second, 'noteServerAlgorithm', ['EdDSA', 'RS256']), ['noted', 'noted'])
    assert.equal(await first.findServerAlgorithm(), 'RS256')
  })

  check('removeKey twice in one batch, each with the other as replacement: one key remains', async ({ first }) => {
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
