import assert from 'node:assert/strict'
import { perform, performAll, race, tally, times, type Suite } from './harness.ts'
import { anIdentity, at, aUser, aUserOfProvider } from '../../support/records.ts'

export const identityCases: Suite = (check) => {
  check(
    'provisionUser creates an account with its identity, which is found by its key and by its user',
    async (stores) => {
      const { first, second } = stores
      const user = aUser({ passwordHash: undefined })
      const identity = anIdentity({ userId: user.id, email: undefined })
      assert.equal(await perform(first, 'provisionUser', { user, identity }), 'created')
      assert.deepEqual(await second.findUser(user.id), user)
      assert.deepEqual(await second.findIdentity(identity.key), identity)
      assert.deepEqual(await second.listIdentities(user.id), [identity])
      const use = { key: identity.key, userId: user.id, email: 'other@acme.test', now: at(5) }
      assert.deepEqual(await performAll(first, 'useIdentity', [use, { ...use, userId: aUser().id }]), [
        'used',
        'unknown',
      ])
      assert.deepEqual(await second.findIdentity(identity.key), {
        ...identity,
        email: 'other@acme.test',
        usedAt: at(5),
      })
    },
  )

  check('DEL-11: an address that another account has creates nothing', async ({ first }) => {
    const owner = aUser()
    await perform(first, 'createUser', owner)
    const user = aUser({ email: owner.email })
    const identity = anIdentity({ userId: user.id })
    assert.equal(await perform(first, 'provisionUser', { user, identity }), 'email-taken')
    assert.deepEqual([await first.findUser(user.id), await first.findIdentity(identity.key)], [undefined, undefined])
    assert.deepEqual(await first.findUserByEmail(owner.email ?? ''), owner)
  })

  check('of concurrent first sign-ins of one identity one creates the account', async (stores) => {
    const { key } = anIdentity()
    const accounts = times(20, () => {
      const user = aUserOfProvider()
      return { user, identity: anIdentity({ key, userId: user.id }) }
    })
    const outcomes = await race(stores, 'provisionUser', accounts)
    assert.deepEqual(tally(outcomes), { created: 1, taken: 19 })
    const found = await Promise.all(accounts.map(({ user }) => stores.second.findUser(user.id)))
    assert.deepEqual(
      found.map((user) => user !== undefined),
      outcomes.map((outcome) => outcome === 'created'),
    )
  })

  check('deleteUser removes the identities of the user and no others', async ({ first, second }) => {
    const users = [aUserOfProvider(), aUserOfProvider()]
    const identities = users.map(({ id }) => anIdentity({ userId: id }))
    for (const [index, user] of users.entries())
      await perform(first, 'provisionUser', { user, identity: identities[index] ?? anIdentity() })
    await perform(first, 'deleteUser', users[0]?.id ?? aUser().id)
    assert.deepEqual(await Promise.all(identities.map(({ key }) => second.findIdentity(key))), [
      undefined,
      identities[1],
    ])
  })
}
