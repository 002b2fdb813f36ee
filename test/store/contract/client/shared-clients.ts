import assert from 'node:assert/strict'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, times, type Suite } from '../harness.ts'
import { aClient, aSharedClient, at, HOUR, NOW } from '../../../support/records.ts'
import { aSweep } from '../server/sweep.ts'

const HELD = at(24 * HOUR)

export const sharedClientCases: Suite = (check) => {
  check('registerPublicClient stores the first client of its key and returns it to the next caller', async (stores) => {
    const [client, other] = [aSharedClient(), aSharedClient()]
    const again = { ...aSharedClient(), dedupeKey: client.dedupeKey }
    assert.deepEqual(await perform(stores.first, 'registerPublicClient', { client, retainUntil: HELD }), client)
    assert.deepEqual(await perform(stores.second, 'registerPublicClient', { client: again, retainUntil: HELD }), client)
    assert.deepEqual(await perform(stores.first, 'registerPublicClient', { client: other, retainUntil: HELD }), other)
    assert.deepEqual(await stores.second.findClient(client.id), client)
    assert.equal(await stores.first.findClient(again.id), undefined)
  })

  check(
    'concurrent registrations of one shared client all return the same client, and one is stored',
    async (stores) => {
      const [{ dedupeKey }, registered] = [aSharedClient(), aClient()]
      await perform(stores.first, 'registerClient', registered)
      const shares = times(30, () => ({ client: { ...aSharedClient(), dedupeKey }, retainUntil: HELD }))
      const [racing, batched] = [shares.slice(0, 20), shares.slice(20)]
      const answers = [
        ...(await race(stores, 'registerPublicClient', racing)),
        ...(await performAll(stores.first, 'registerPublicClient', batched)),
      ]
      assert.equal(new Set(answers.map(({ id }) => id)).size, 1)
      const left = await stores.second.listClients({ before: undefined, limit: 50 })
      assert.deepEqual(new Set(left.map(({ id }) => id)), new Set([registered.id, answers[0]?.id]))
    },
  )

  check('a batch with several new shared clients returns to each caller its own', async ({ first }) => {
    const clients = times(5, () => aSharedClient())
    const shares = [...clients, ...clients].map((client) => ({ client, retainUntil: HELD }))
    assert.deepEqual(await performAll(first, 'registerPublicClient', shares), [...clients, ...clients])
  })

  check('a disabled client is not shared, neither while disabled nor after it is enabled again', async ({ first }) => {
    const [client, next, last] = [aSharedClient(), aSharedClient(), aSharedClient()]
    const shareAs = (one: typeof client) =>
      perform(first, 'registerPublicClient', { client: { ...one, dedupeKey: client.dedupeKey }, retainUntil: HELD })
    await shareAs(client)
    await perform(first, 'disableClient', { id: client.id, now: NOW })
    assert.equal((await shareAs(next)).id, next.id)
    await perform(first, 'enableClient', client.id)
    assert.equal((await shareAs(last)).id, next.id)
    assert.deepEqual(await first.findClient(client.id), { ...client, dedupeKey: undefined })
  })

  check(
    'the next registration returns the shared client with the operator’s verification and approved scopes',
    async (stores) => {
      const client = aSharedClient()
      await perform(stores.first, 'registerPublicClient', { client, retainUntil: HELD })
      await perform(stores.first, 'approveClientScope', { id: client.id, scope: 'admin' as Scope })
      await perform(stores.first, 'revokeClientTokens', { id: client.id, now: at(1) })
      await perform(stores.first, 'noteUses', [{ id: client.id, at: at(2) }])
      const again = { ...aSharedClient(), dedupeKey: client.dedupeKey }
      const expected = { ...client, approvedScope: 'admin', notBefore: at(1), lastUsedAt: at(2) }
      assert.deepEqual(
        await perform(stores.second, 'registerPublicClient', { client: again, retainUntil: HELD }),
        expected,
      )
    },
  )

  check('a deleted client is no longer shared', async ({ first }) => {
    const [client, next] = [aSharedClient(), aSharedClient()]
    await perform(first, 'registerPublicClient', { client, retainUntil: HELD })
    await perform(first, 'deleteClient', client.id)
    const again = { ...next, dedupeKey: client.dedupeKey }
    assert.deepEqual(await perform(first, 'registerPublicClient', { client: again, retainUntil: HELD }), again)
  })

  check(
    'an old client that was never used is kept for the last caller that registered it, and no longer',
    async ({ first }) => {
      const old = aSharedClient({}, at(-25 * HOUR))
      await perform(first, 'registerPublicClient', { client: old, retainUntil: at(-HOUR) })
      const again = { ...aSharedClient(), dedupeKey: old.dedupeKey }
      await perform(first, 'registerPublicClient', { client: again, retainUntil: HELD })
      await perform(first, 'registerPublicClient', { client: again, retainUntil: at(-HOUR) }) // A shorter hold never shortens.
      const sweep = aSweep({ unusedSince: at(-24 * HOUR) })
      assert.equal((await perform(first, 'sweepExpired', sweep)).clients, 0)
      assert.equal((await first.findClient(old.id))?.id, old.id)
      const later = aSweep({ now: at(25 * HOUR), unusedSince: at(HOUR) })
      assert.equal((await perform(first, 'sweepExpired', later)).clients, 1)
      assert.equal((await perform(first, 'registerPublicClient', { client: again, retainUntil: HELD })).id, again.id)
    },
  )
}
