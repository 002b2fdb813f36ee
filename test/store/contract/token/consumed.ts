import assert from 'node:assert/strict'
import type { Sweep } from '../../../../src/ports/operations/server.ts'
import type { ConsumedKey } from '../../../../src/ports/operations/token.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aHash, at, MINUTE } from '../../../support/records.ts'
import { aSweep } from '../server/sweep.ts'

export const consumedCases: Suite = (check) => {
  check('a value is fresh once, through every handle', async ({ first, second }) => {
    const [one, other] = [aKey(), aKey()]
    assert.equal(await perform(first, 'consumeOnce', [one]), 'fresh')
    assert.equal(await perform(second, 'consumeOnce', [one]), 'seen')
    assert.equal(await perform(first, 'consumeOnce', [{ ...one, expiresAt: at(5 * MINUTE) }]), 'seen')
    assert.equal(await perform(second, 'consumeOnce', [other]), 'fresh')
  })

  check('CA-07: of concurrent requests with one value exactly one is fresh', async (stores) => {
    const key = aKey()
    const outcomes = await race(
      stores,
      'consumeOnce',
      times(40, () => [key]),
    )
    assert.deepEqual(tally(outcomes), { fresh: 1, seen: 39 })
  })

  check('of several requests with one value in one batch the first is fresh', async ({ first }) => {
    const [one, other] = [aKey(), aKey()]
    const outcomes = await performAll(first, 'consumeOnce', [[one], [other], [one], [one, other]])
    assert.deepEqual(outcomes, ['fresh', 'fresh', 'seen', 'seen'])
  })

  check('of several values all are recorded, or none if one was seen', async ({ first, second }) => {
    const [one, two, three, four, five] = [aKey(), aKey(), aKey(), aKey(), aKey()]
    assert.equal(await perform(first, 'consumeOnce', [one, two]), 'fresh')
    assert.equal(await perform(second, 'consumeOnce', [three, two, four]), 'seen')
    assert.equal(await perform(second, 'consumeOnce', [three, four, five]), 'fresh')
    assert.equal(await perform(first, 'consumeOnce', [five]), 'seen')
  })

  check('in one batch, requests with other values do not share the result of one that was seen', async ({ first }) => {
    const [seen, one, two, three] = [aKey(), aKey(), aKey(), aKey()]
    await perform(first, 'consumeOnce', [seen])
    const outcomes = await performAll(first, 'consumeOnce', [[one, two], [three, seen], [aKey()]])
    assert.deepEqual(outcomes, ['fresh', 'seen', 'fresh'])
    assert.deepEqual(await performAll(first, 'consumeOnce', [[three], [one], [two]]), ['fresh', 'seen', 'seen'])
  })

  check('of concurrent requests that have one value in common exactly one is fresh', async (stores) => {
    const [common, ...others] = [aKey(), ...times(20, () => aKey())]
    const requests = others.map((other, place) => (place % 2 === 0 ? [common, other] : [other, common]))
    const outcomes = await race(stores, 'consumeOnce', requests)
    assert.deepEqual(tally(outcomes), { fresh: 1, seen: 19 })
    const winner = outcomes.indexOf('fresh')
    const repeated = await performAll(
      stores.first,
      'consumeOnce',
      others.map((other) => [other]),
    )
    assert.deepEqual(tally(repeated), { fresh: 19, seen: 1 })
    assert.equal(repeated[winner], 'seen')
  })

  check('a sweep removes a value after it has expired, and not before', async ({ first }) => {
    const [over, live] = [aKey({ expiresAt: at(-1) }), aKey({ expiresAt: at(MINUTE) })]
    await performAll(first, 'consumeOnce', [[over], [live]])
    assert.equal((await perform(first, 'sweepExpired', aSweep())).consumed, 1)
    assert.equal(await perform(first, 'consumeOnce', [live]), 'seen')
    assert.equal((await perform(first, 'sweepExpired', aSweep())).consumed, 0)
  })

  check('a slice of a sweep begins where the one before ended, and a new round at the oldest', async ({ first }) => {
    const sweepFrom = (removedTo: Sweep['removedTo']) => perform(first, 'sweepExpired', aSweep({ limit: 2, removedTo }))
    const old = [-50, -40, -30].map((ms) => [aKey({ expiresAt: at(ms) })])
    await performAll(first, 'consumeOnce', old)
    const slice = await sweepFrom({})
    assert.deepEqual([slice.consumed, slice.removedTo['consumed']], [2, at(-40)])
    // One that came later, with an earlier time.
    await perform(first, 'consumeOnce', [aKey({ expiresAt: at(-60) })])
    const next = await sweepFrom(slice.removedTo)
    assert.deepEqual([next.consumed, next.removedTo['consumed']], [1, at(-30)])
    assert.equal((await sweepFrom(next.removedTo)).consumed, 0)
    assert.equal((await sweepFrom({})).consumed, 1)
  })
}

function aKey(differing: Partial<ConsumedKey> = {}): ConsumedKey {
  return { digest: aHash(), expiresAt: at(MINUTE), ...differing }
}
