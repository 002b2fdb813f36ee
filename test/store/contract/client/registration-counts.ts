import assert from 'node:assert/strict'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { perform, performAll, race, times, type Suite } from '../harness.ts'
import { aSweep } from '../server/sweep.ts'
import { aClient, aSharedClient, at, HOUR, MINUTE, NOW } from '../../../support/records.ts'

const WINDOW = 15 * MINUTE
/** The lifetime of an unused client. */
const DAY = 24 * HOUR
const windowStart = NOW - (NOW % WINDOW)

/** A sweep at `afterMs` after NOW, with a lifetime of a day. */
function poolSweep(unusedClients: number, afterMs = 0) {
  return aSweep({
    now: at(afterMs),
    unusedSince: at(afterMs - DAY),
    unusedClients,
    evictedBefore: at(afterMs - WINDOW),
  })
}

export const registrationCountCases: Suite = (check) => {
  check('countRegistrations counts in windows of 15 minutes, for all nodes', async (stores) => {
    const outcomes = await race(
      stores,
      'countRegistrations',
      times(20, () => ({ now: NOW, by: 3 })),
    )
    assert.equal(Math.max(...outcomes.map(({ count }) => count)), 60)
    assert.ok(outcomes.every(({ windowEndsAt }) => windowEndsAt === windowStart + WINDOW))
    assert.deepEqual(await perform(stores.first, 'countRegistrations', { now: at(WINDOW), by: 1 }), {
      count: 1,
      windowEndsAt: windowStart + 2 * WINDOW,
    })
  })

  check(
    'FLOOD-02: beyond the limit the oldest clients without a token are removed, and others stay',
    async ({ first }) => {
      const ages = [-5 * HOUR, -3 * HOUR, -HOUR, -WINDOW - 1, -WINDOW]
      const [oldest, old, later, ripe, young] = ages.map((age) => aClient({}, at(age)))
      const [used, pending] = times(2, () => aClient({}, at(-5 * HOUR)))
      const created = aClient({ source: 'operator' }, at(-5 * HOUR))
      assert.ok(oldest && old && later && ripe && young && used && pending)
      await performAll(first, 'registerClient', [oldest, old, later, ripe, young, used, pending])
      await perform(first, 'createClient', created)
      await perform(first, 'useClient', { id: used.id, now: at(-4 * HOUR) })
      await perform(first, 'extendRetention', { id: pending.id, until: at(1) })
      for (const age of ages) await perform(first, 'countRegistrations', { now: at(age), by: 10 })

      assert.equal((await perform(first, 'sweepExpired', poolSweep(50))).clients, 0)
      assert.equal((await perform(first, 'sweepExpired', poolSweep(49))).clients, 1)
      assert.equal(await first.findClient(oldest.id), undefined)
      assert.equal((await perform(first, 'sweepExpired', poolSweep(39))).clients, 1)
      assert.equal(await first.findClient(old.id), undefined)
      // However small the limit is, clients of the last 15 minutes stay.
      assert.equal((await perform(first, 'sweepExpired', poolSweep(0))).clients, 2)
      const left = await first.listClients({ before: undefined, limit: 10 })
      assert.deepEqual(new Set(left.map(({ id }) => id)), new Set([young.id, used.id, pending.id, created.id]))
    },
  )

  check('FLOOD-02: a shared client is as old as its last registration, and waits for its user', async ({ first }) => {
    const [gone, again, pending] = times(3, () => aSharedClient({}, at(-5 * HOUR)))
    assert.ok(gone && again && pending)
    for (const client of [gone, again, pending])
      await perform(first, 'registerPublicClient', { client, retainUntil: at(DAY - 5 * HOUR) })
    await perform(first, 'registerPublicClient', { client: again, retainUntil: at(DAY - MINUTE) })
    await perform(first, 'extendRetention', { id: pending.id, until: at(1) })
    await perform(first, 'countRegistrations', { now: at(-5 * HOUR), by: 3 })
    assert.equal((await perform(first, 'sweepExpired', poolSweep(3))).clients, 0)
    assert.equal((await perform(first, 'sweepExpired', poolSweep(2))).clients, 1)
    assert.equal(await first.findClient(gone.id), undefined)
    assert.equal((await perform(first, 'sweepExpired', poolSweep(2, 2))).clients, 1)
    assert.equal(await first.findClient(pending.id), undefined)
    assert.notEqual(await first.findClient(again.id), undefined)
  })

  check('below the limit no client is removed early', async ({ first }) => {
    const [old, young] = [aClient({}, at(-DAY - 1)), aClient({}, at(-DAY))]
    await performAll(first, 'registerClient', [old, young])
    await perform(first, 'countRegistrations', { now: at(-DAY), by: 1000 })
    assert.equal((await perform(first, 'sweepExpired', poolSweep(1000))).clients, 1)
    assert.deepEqual(await ids(first), [young.id])
  })

  check('counts that are a day older than any unused client are removed', async ({ first }) => {
    for (const age of [-2 * DAY - WINDOW, -2 * DAY - 2 * WINDOW, -DAY])
      await perform(first, 'countRegistrations', { now: at(age), by: 1 })
    assert.equal((await perform(first, 'sweepExpired', poolSweep(1000))).registrationCounts, 2)
    assert.equal((await perform(first, 'countRegistrations', { now: at(-DAY), by: 1 })).count, 2)
  })
}

async function ids(store: StoreDriver): Promise<readonly string[]> {
  return (await store.listClients({ before: undefined, limit: 10 })).map(({ id }) => id)
}
