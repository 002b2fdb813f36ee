import assert from 'node:assert/strict'
import { OUT_OF_REACH } from '../../../../src/ports/operations/reach.ts'
import { sourceOfProvider } from '../../../../src/protocol/access/group.ts'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import { IMPORTED } from '../../../../src/protocol/sign-in/account.ts'
import { aGroup, aLink, anOrganization, aUser, at, NOW } from '../../../support/records.ts'
import { perform, performAll, tally, times, type Suite } from '../harness.ts'
import { aRole } from '../user/roles.ts'
import { aGroupMember } from './groups.ts'

const BELOW_WRITE = { isTrial: false, isBelowWrite: true, organizationId: undefined } as const
const SOURCE = sourceOfProvider('acme' as ProviderId)

export const protectedGroupCases: Suite = (check) => {
  check(
    'GRP-06: an account that others prepared gets into a protected group only with a confirmation',
    async (stores) => {
      const { first, second } = stores
      const user = aUser()
      const { id: userId } = user
      const [plain, guarded] = [aGroup(), aGroup({ isProtected: true })]
      await perform(first, 'createUser', user)
      await performAll(first, 'createGroup', [plain, guarded])
      const password = { id: userId, passwordHash: 'x', now: at(1), mails: [], reach: BELOW_WRITE }
      assert.equal(await perform(first, 'setPassword', password), 'changed')
      const groupsOf = async () =>
        (await second.listGroupsOfUser(userId)).map(({ groupId, source }) => [groupId, source])
      const groups = [plain.id, guarded.id]
      const said = { userId, source: SOURCE, groups, expiresAt: undefined, since: NOW, now: NOW }
      const replaced = { kind: 'replaced', removed: [] }
      const partly = { ...replaced, added: [plain.id], leftOut: [guarded.id] }
      assert.deepEqual(await perform(first, 'setGroupsOfSource', said), partly)
      const member = aGroupMember(userId, guarded)
      assert.equal(await perform(first, 'addGroupMember', member), 'prepared')
      const protection = { id: plain.id, name: plain.name, isProtected: true, previous: plain }
      assert.equal(await perform(first, 'updateGroup', protection), 'prepared')
      assert.deepEqual(
        [await groupsOf(), (await second.findGroup(plain.id))?.isProtected],
        [[[plain.id, SOURCE]], false],
      )
      assert.equal(await perform(first, 'updateGroup', { ...protection, isConfirmed: true }), 'changed')
      const other = aUser()
      await perform(first, 'createUser', other)
      await perform(first, 'setPassword', { ...password, id: other.id })
      const confirmed = { ...aGroupMember(other.id, guarded), isConfirmed: true }
      assert.equal(await perform(first, 'addGroupMember', confirmed), 'added')
      // With either the account is confirmed, also for what others say.
      assert.deepEqual(await perform(first, 'setGroupsOfSource', said), { ...replaced, added: [guarded.id] })
      assert.equal(await second.isHolder(other.id), true)
    },
  )

  check(
    'GRP-06: an administrator with bounds adds no member to a protected group, and moves no end',
    async (stores) => {
      const { first, second } = stores
      const users = times(2, () => aUser())
      const guarded = aGroup({ isProtected: true })
      await performAll(first, 'createUser', users)
      await perform(first, 'createGroup', guarded)
      const [member = assert.fail(), other = assert.fail()] = users.map(({ id }) => aGroupMember(id, guarded))
      await perform(first, 'addGroupMember', member)
      for (const reach of [
        { ...BELOW_WRITE, isBelowWrite: false, isTrial: true },
        { ...BELOW_WRITE, isBelowWrite: false, organizationId: anOrganization().id },
      ]) {
        assert.equal(await perform(first, 'addGroupMember', { ...other, reach }), 'bounded')
        assert.equal(await perform(first, 'addGroupMember', { ...member, expiresAt: at(9), reach }), 'bounded')
      }
      assert.deepEqual(await second.listGroupMembers({ groupId: guarded.id, before: undefined, limit: 9 }), [member])
    },
  )

  check('GRP-06: a link that is made while a group becomes protected ends, or is refused', async (stores) => {
    const { first, second } = stores
    for (const isAddition of [false, true]) {
      const users = times(8, () => aUser())
      const group = aGroup({ isProtected: isAddition })
      await performAll(first, 'createUser', users)
      await perform(first, 'createGroup', group)
      const members = users.map(({ id }) => ({ ...aGroupMember(id, group), isConfirmed: true }))
      if (!isAddition) await performAll(first, 'addGroupMember', members)
      const protection = { id: group.id, name: group.name, isProtected: true, previous: group, isConfirmed: true }
      const making = users.map(({ id: userId }) =>
        perform(first, 'createLink', { ...aLink({ userId }), reach: BELOW_WRITE }),
      )
      const protecting = isAddition
        ? members.map((member) => perform(second, 'addGroupMember', member))
        : [perform(second, 'updateGroup', protection)]
      const made: readonly string[] = await Promise.all(making)
      assert.ok(made.every((outcome) => outcome === 'created' || outcome === OUT_OF_REACH))
      assert.ok((await Promise.all(protecting)).every((outcome) => outcome === 'changed' || outcome === 'added'))
      assert.deepEqual((await Promise.all(users.map(({ id }) => first.listLinks(id)))).flat(), [])
    }
  })

  check(
    'GRP-06: a role that is given while a group becomes protected leaves no link that an operator made',
    async (stores) => {
      const { first, second } = stores
      const users = times(8, () => aUser())
      const group = aGroup()
      await performAll(first, 'createUser', users)
      await perform(first, 'createGroup', group)
      for (const { id: userId } of users) {
        await perform(first, 'addGroupMember', aGroupMember(userId, group))
        await perform(first, 'createLink', aLink({ userId }))
        const password = { id: userId, passwordHash: 'x', now: at(1), mails: [], reach: BELOW_WRITE }
        if (userId === users[0]?.id) await perform(first, 'setPassword', password)
      }
      const protection = { id: group.id, name: group.name, isProtected: true, previous: group, isConfirmed: true }
      const giving = users.map(({ id }) => perform(first, 'setRole', aRole({ id })))
      const protecting = perform(second, 'updateGroup', protection)
      const [prepared, ...given] = await Promise.all(giving)
      assert.equal(await protecting, 'changed')
      // With the protection the prepared account was confirmed. Without it, the role is refused.
      assert.ok(prepared === 'prepared' || prepared === 'changed', String(prepared))
      assert.deepEqual(tally(given), { changed: 7 })
      assert.deepEqual((await Promise.all(users.map(({ id }) => second.listLinks(id)))).flat(), [])
      for (const { id } of users) assert.equal(await second.isHolder(id), true)
    },
  )

  check('IMP-14: a removal from a group in which the user is not changes nothing', async ({ first, second }) => {
    const user = aUser({ firstSignedInAt: IMPORTED, updatedAt: NOW, notBefore: NOW })
    const group = aGroup()
    await perform(first, 'createUser', user)
    await perform(first, 'createGroup', group)
    assert.equal(await perform(first, 'removeGroupMember', aGroupMember(user.id, group)), 'unknown')
    assert.equal((await second.findUser(user.id))?.updatedAt, NOW)
    await perform(first, 'addGroupMember', aGroupMember(user.id, group))
    await perform(first, 'removeGroupMember', aGroupMember(user.id, group))
    assert.notEqual((await first.findUser(user.id))?.updatedAt, NOW)
  })
}
