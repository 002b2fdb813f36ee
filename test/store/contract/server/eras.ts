import assert from 'node:assert/strict'
import { aDevice } from '../token/devices.ts'
import { aPushedRequest } from '../token/pushed-requests.ts'
import { aRole } from '../user/roles.ts'
import { anAdminCredential } from './administrators.ts'
import { listLinks, startNewChains } from '../chains.ts'
import { perform, times, type Suite } from '../harness.ts'
import { aKey, aLink, anInteraction, aUser, at, HOUR, NOW } from '../../../support/records.ts'
import { anInitialToken } from '../client/initial-tokens.ts'

const KEPT = { now: at(5), reason: 'nothing-lost', ending: undefined } as const

export const eraCases: Suite = (check) => {
  check(
    'BAK-07: beginEra adds an era to those of the store, of which the first and the newest are kept',
    async (stores) => {
      const { first, second } = stores
      assert.deepEqual(await first.findStorePlace(undefined), {
        eras: [],
        isMarked: false,
        hash: undefined,
        hasOlder: false,
      })
      await perform(first, 'insertSettingOnce', { name: 'store-eras', value: JSON.stringify(['start']) })
      for (const index of times(120, (count) => count)) {
        assert.equal(await perform(first, 'beginEra', { ...KEPT, era: `era ${index}` }), 'begun')
      }
      const { eras } = await second.findStorePlace(undefined)
      assert.deepEqual([eras.length, eras[0], eras[1], eras.at(-1)], [101, 'start', 'era 20', 'era 119'])
    },
  )

  check(
    'BAK-07: findStorePlace finds a link of the audit by its id, or says whether older ones are there',
    async (stores) => {
      const { first, second } = stores
      const since = startNewChains()
      await perform(first, 'beginEra', { ...KEPT, era: 'one' })
      await perform(first, 'beginEra', { ...KEPT, era: 'two' })
      const [newest, older] = await listLinks(second, since)
      assert.ok(newest && older)
      const find = async (id: string) => {
        const { hash, hasOlder } = await second.findStorePlace(id)
        return [hash, hasOlder]
      }
      assert.deepEqual(await find(newest.id), [newest.hash, false])
      assert.deepEqual(await find(older.id), [older.hash, false])
      assert.deepEqual(await find(`${newest.id}~`), [undefined, true])
      assert.deepEqual(await find('0'.repeat(12)), [undefined, false])
      // Another link of the same millisecond, although its id is larger.
      assert.deepEqual(await find(newest.id.slice(0, 12)), [undefined, true])
    },
  )

  check('BAK-07: a store is marked until the next era begins', async ({ first, second }) => {
    const marked = async () => (await second.findStorePlace(undefined)).isMarked
    await perform(first, 'replaceSetting', { name: 'went-back', value: 'one' })
    assert.equal(await marked(), false)
    await perform(first, 'beginEra', { ...KEPT, era: 'one' })
    assert.equal(await marked(), true)
    await perform(first, 'beginEra', { ...KEPT, era: 'two' })
    assert.equal(await marked(), false)
    // A node that noticed it before the answer, and writes it after.
    await perform(first, 'replaceSetting', { name: 'went-back', value: 'one' })
    assert.equal(await marked(), false)
  })

  check('BAK-07: beginEra ends everything that a store which went back could revive', async ({ first, second }) => {
    const old = await perform(first, 'addFirstKey', aKey())
    await perform(first, 'addKey', { key: aKey(1), follows: old.id })
    const [credential, token, user] = [anAdminCredential(), anInitialToken(), aUser()]
    await perform(first, 'createAdminCredential', credential)
    await perform(first, 'createInitialToken', token)
    await perform(first, 'createUser', user)
    await perform(first, 'setRole', aRole(user))
    await perform(first, 'createLink', aLink({ userId: user.id, createdAt: NOW, expiresAt: at(HOUR) }))
    const interaction = anInteraction()
    await perform(first, 'startInteraction', interaction)
    const pushed = aPushedRequest()
    await perform(first, 'pushRequest', pushed)
    const device = aDevice()
    await perform(first, 'startDevice', device)
    await perform(first, 'beginEra', { ...KEPT, era: 'kept' })
    assert.equal((await second.findAdminCredential(credential.id))?.revokedAt, credential.revokedAt)
    assert.equal((await second.listKeys()).length, 2)

    const keys = [aKey(5)]
    const ending = { era: 'ended', now: at(5), reason: 'ended', ending: { keys } } as const
    assert.equal(await perform(first, 'beginEra', ending), 'begun')
    assert.deepEqual(await second.listKeys(), keys)
    assert.equal(await second.findNotBefore(), at(5))
    assert.equal((await second.findAdminCredential(credential.id))?.revokedAt, at(5))
    assert.equal((await second.findInitialToken(token.id))?.revokedAt, at(5))
    assert.deepEqual(await second.listLinks(user.id), [])
    assert.equal(await second.findRole(user.id), undefined)
    assert.equal(await second.findInteraction(interaction.id), undefined)
    assert.equal(await second.findPushedRequest(pushed.id), undefined)
    assert.equal(await second.findDevice(device.id), undefined)
    assert.deepEqual(await second.findUser(user.id), user)
  })
}
