import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import { perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import { aLink, aSession, aSessionStart, aUser, at } from '../../../support/records.ts'

export const passwordUpgradeCases: Suite = (check) => {
  check('upgradePassword replaces the hash alone: no session, link or time of the user changes', async (stores) => {
    const { first, second } = stores
    const [user, other] = [aUser(), aUser()]
    await performAll(first, 'createUser', [user, other])
    const session = aSession({ userId: user.id })
    await startSessions(first, aSessionStart({ session }))
    await perform(first, 'createLink', aLink({ userId: user.id }))
    const before = await first.findUser(user.id)
    const change = { id: user.id, previousHash: user.passwordHash, passwordHash: 'ours', format: 'bcrypt' } as const
    assert.equal(await perform(first, 'upgradePassword', change), 'changed')
    assert.deepEqual(await second.findUserByEmail(user.email), { ...before, passwordHash: 'ours' })
    assert.deepEqual(await second.findUser(other.id), other)
    assert.equal((await second.findSession(session.id))?.userId, user.id)
    assert.equal((await second.listLinks(user.id)).length, 1)
  })

  check(
    'IMP-11: upgradePassword changes nothing if the password was replaced or removed, or the user is unknown',
    async ({ first, second }) => {
      const [changed, none] = [aUser(), aUser({ passwordHash: undefined })]
      await performAll(first, 'createUser', [changed, none])
      await perform(second, 'setPassword', { id: changed.id, passwordHash: 'new', now: at(5) })
      const previousHash = changed.passwordHash
      for (const id of [changed.id, none.id, aUser().id]) {
        const change = { id, previousHash, passwordHash: 'ours', format: 'scrypt' } as const
        assert.equal(await perform(first, 'upgradePassword', change), 'unknown')
      }
      assert.equal((await first.findUser(changed.id))?.passwordHash, 'new')
      assert.equal((await first.findUser(none.id))?.passwordHash, undefined)
    },
  )

  check('IMP-11: of concurrent upgrades of one password exactly one succeeds', async (stores) => {
    const user = aUser()
    await perform(stores.first, 'createUser', user)
    const changes = times(10, (index) => ({
      id: user.id,
      previousHash: user.passwordHash,
      passwordHash: `ours ${index}`,
      format: 'bcrypt' as const,
    }))
    const outcomes = await race(stores, 'upgradePassword', changes)
    assert.deepEqual(tally(outcomes), { changed: 1, unknown: 9 })
    assert.equal((await stores.second.findUser(user.id))?.passwordHash, `ours ${outcomes.indexOf('changed')}`)
  })

  check('IMP-11: a change of the password wins against an upgrade at the same time', async ({ first, second }) => {
    for (const round of times(8, (index) => index)) {
      const user = aUser()
      await perform(first, 'createUser', user)
      const session = aSession({ userId: user.id })
      await startSessions(first, aSessionStart({ session }))
      const { id, passwordHash: previousHash } = user
      const upgrade = { id, previousHash, passwordHash: 'ours', format: 'bcrypt' } as const
      // Of the operator, which replaces any password, or of the user, whose page saw the previous hash.
      const isOperator = round % 2 === 0
      const [, outcome] = await Promise.all([
        perform(first, 'upgradePassword', upgrade),
        isOperator
          ? perform(second, 'setPassword', { id, passwordHash: 'new', now: at(5) })
          : perform(second, 'changePassword', { id, previousHash, passwordHash: 'new', session: coversAll(session) }),
      ])
      const kept = (await second.findUserByEmail(user.email))?.passwordHash
      assert.equal(kept, outcome === 'changed' ? 'new' : 'ours')
      if (isOperator) assert.equal(outcome, 'changed')
    }
  })

  check('setPasswordFormats: of concurrent changes of one value exactly one succeeds', async (stores) => {
    const previous = await stores.first.findPasswordFormats()
    const changes = times(10, (index) => ({ previous, value: `formats ${index}` }))
    const outcomes = await race(stores, 'setPasswordFormats', changes)
    assert.deepEqual(tally(outcomes), { changed: 1, conflict: 9 })
    const value = `formats ${outcomes.indexOf('changed')}`
    assert.equal(await stores.second.findPasswordFormats(), value)
    assert.equal(await perform(stores.second, 'setPasswordFormats', { previous: undefined, value: 'x' }), 'conflict')
    assert.equal(await perform(stores.first, 'setPasswordFormats', { previous: value, value: 'y' }), 'changed')
  })
}
