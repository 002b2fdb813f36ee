import assert from 'node:assert/strict'
import type { MasterKeyReplacement } from '../../../../src/ports/operations/key.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { anAdminCredential } from './administrators.ts'
import { outcomesOf, perform, race, tally, times, type Suite } from '../harness.ts'
import { aKey, at } from '../../../support/records.ts'
import { anInitialToken } from '../client/initial-tokens.ts'

export const masterKeyCases: Suite = (check) => {
  check('a new store has no master key, and keeps the first one that is inserted', async ({ first, second }) => {
    assert.deepEqual(await first.findMasterKey(), { wrapped: undefined, check: undefined })
    assert.deepEqual(await first.findServerEnd(), { masterKeyCheck: undefined, closedAt: undefined })
    await place(first)
    assert.deepEqual(await second.findMasterKey(), { wrapped: 'first', check: 'check of first' })
    assert.deepEqual(await second.findServerEnd(), { masterKeyCheck: 'check of first', closedAt: undefined })
  })

  check('rewrapMasterKey: of concurrent changes one succeeds, and the check stays', async (stores) => {
    await place(stores.first)
    const changes = times(12, (index) => ({ previous: 'first', wrapped: `next ${index}` }))
    const outcomes = await race(stores, 'rewrapMasterKey', changes)
    assert.deepEqual(tally(outcomes), { rewrapped: 1, conflict: 11 })
    const wrapped = `next ${outcomes.indexOf('rewrapped')}`
    assert.deepEqual(await stores.second.findMasterKey(), { wrapped, check: 'check of first' })
  })

  check(
    'replaceMasterKey replaces the master key and all signing keys, and ends what came before',
    async ({ first, second }) => {
      await place(first)
      const old = await perform(first, 'addFirstKey', aKey())
      await perform(first, 'addKey', { key: aKey(1), follows: old.id })
      await perform(first, 'addFirstKey', aKey(0, 'RS256'))
      const credentials = [anAdminCredential(), anAdminCredential({ revokedAt: at(1) })]
      for (const one of credentials) await perform(first, 'createAdminCredential', one)
      const token = anInitialToken()
      await perform(first, 'createInitialToken', token)
      const keys = [aKey(5), aKey(5, 'RS256')]
      assert.equal(await perform(first, 'replaceMasterKey', aReplacement({ keys, now: at(5) })), 'replaced')
      assert.deepEqual(await second.findMasterKey(), { wrapped: 'second', check: 'check of second' })
      assert.deepEqual(new Set(await second.listKeys()), new Set(keys))
      assert.equal(await second.findNotBefore(), at(5))
      const found = await Promise.all(credentials.map(({ id }) => second.findAdminCredential(id)))
      assert.deepEqual(
        found.map((one) => one?.revokedAt),
        [at(5), at(1)],
      )
      assert.equal((await second.findInitialToken(token.id))?.revokedAt, at(5))
    },
  )

  check('replaceMasterKey of another master key than the stored one changes nothing', async ({ first, second }) => {
    await place(first)
    const key = await perform(first, 'addFirstKey', aKey())
    const credential = anAdminCredential()
    await perform(first, 'createAdminCredential', credential)
    const replacement = aReplacement({ previous: 'another', keys: [aKey(5)] })
    assert.equal(await perform(first, 'replaceMasterKey', replacement), 'conflict')
    assert.deepEqual(await second.findMasterKey(), { wrapped: 'first', check: 'check of first' })
    assert.deepEqual(await second.listKeys(), [key])
    assert.equal(await second.findNotBefore(), 0)
    assert.deepEqual(await second.findAdminCredential(credential.id), credential)
  })

  check('replaceMasterKey: of concurrent replacements one succeeds, and its keys are the only ones', async (stores) => {
    await place(stores.first)
    await perform(stores.first, 'addFirstKey', aKey())
    await perform(stores.first, 'addFirstKey', aKey(1, 'RS256', 'id'))
    const all = times(8, (index) =>
      aReplacement({ wrapped: `next ${index}`, keys: [aKey(index), aKey(index + 9, 'RS256', 'id')] }),
    )
    const outcomes = await race(stores, 'replaceMasterKey', all)
    assert.deepEqual(tally(outcomes), { replaced: 1, conflict: 7 })
    const winner = all[outcomes.indexOf('replaced')]
    assert.equal((await stores.first.findMasterKey()).wrapped, winner?.wrapped)
    assert.deepEqual(await stores.first.listKeys(), winner?.keys)
  })

  check('replaceMasterKey in a batch: a key that follows one from before is not added', async ({ first }) => {
    await place(first)
    const old = await perform(first, 'addFirstKey', aKey())
    const replacement = aReplacement({ keys: [aKey(5)] })
    const batch = [
      { name: 'replaceMasterKey', input: replacement },
      { name: 'addKey', input: { key: aKey(6), follows: old.id } },
    ] as const
    assert.deepEqual(outcomesOf(await first.commit(batch)), ['replaced', 'conflict'])
    assert.deepEqual(await first.listKeys(), replacement.keys)
  })
}

/** Gives the store its first master key. */
export async function place(store: StoreDriver): Promise<void> {
  await perform(store, 'insertSettingOnce', { name: 'master-key', value: 'first' })
  assert.equal(await perform(store, 'insertSettingOnce', { name: 'master-key', value: 'late' }), 'first')
  await perform(store, 'insertSettingOnce', { name: 'secret-check', value: 'check of first' })
}

export function aReplacement(differing: Partial<MasterKeyReplacement>): MasterKeyReplacement {
  return { previous: 'first', wrapped: 'second', check: 'check of second', keys: [], now: at(5), ...differing }
}
