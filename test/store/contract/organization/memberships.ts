import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { MEMBERSHIP_LIMIT } from '../../../../src/ports/store.ts'
import { mintOrganizationId, mintUserId } from '../../../../src/protocol/ids.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aMembership, at, NOW } from '../../../support/records.ts'

export const membershipCases: Suite = (check) => {
  check('addMember stores the whole membership, for this user and this organization only', async (stores) => {
    const { first, second } = stores
    const [member, disabled] = [aMembership(), aMembership({ disabledAt: at(1), notBefore: at(2) })]
    assert.deepEqual(await performAll(first, 'addMember', [member, disabled]), ['added', 'added'])
    assert.deepEqual(await second.findMembership(member), member)
    assert.deepEqual(await second.findMembership(disabled), disabled)
    assert.equal(await second.findMembership({ ...member, userId: disabled.userId }), undefined)
    assert.equal(await second.findMembership({ ...member, organizationId: disabled.organizationId }), undefined)
  })

  check('many memberships that are read in one turn are each found', async ({ first }) => {
    const [users, organizations] = [times(4, () => aMembership().userId), times(4, () => aMembership().organizationId)]
    const members = users.flatMap((userId, row) =>
      organizations
        .filter((_, column) => (row + column) % 2 === 0)
        .map((organizationId) => aMembership({ userId, organizationId })),
    )
    await performAll(first, 'addMember', members)
    const keys = users.flatMap((userId) => organizations.map((organizationId) => ({ userId, organizationId })))
    const found = await Promise.all([...keys, ...keys].map(first.findMembership))
    const expected = keys.map(({ userId, organizationId }) =>
      members.find((member) => member.userId === userId && member.organizationId === organizationId),
    )
    assert.equal(members.length, 8)
    assert.deepEqual(found, [...expected, ...expected])
  })

  check(
    'of concurrent addMember calls for one member exactly one succeeds, and the others change nothing',
    async (stores) => {
      const member = aMembership()
      const members = times(20, (index) => ({ ...member, createdAt: at(index), notBefore: at(index) }))
      const outcomes = await race(stores, 'addMember', members)
      assert.deepEqual(tally(outcomes), { added: 1, 'member-already': 19 })
      assert.deepEqual(await stores.first.findMembership(member), members[outcomes.indexOf('added')])
    },
  )

  check('of several addMember calls for one member in one batch the first counts', async ({ first }) => {
    const member = aMembership()
    const members = times(3, (index) => ({ ...member, createdAt: at(index) }))
    assert.deepEqual(await performAll(first, 'addMember', members), ['added', 'member-already', 'member-already'])
    assert.deepEqual(await first.findMembership(member), member)
  })

  check('a user can belong to MEMBERSHIP_LIMIT organizations, and to another one after leaving one', async (stores) => {
    const { first, second } = stores
    const { userId } = aMembership()
    const members = times(MEMBERSHIP_LIMIT + 2, () => aMembership({ userId }))
    const outcomes = await performAll(first, 'addMember', members)
    assert.deepEqual(tally(outcomes), { added: MEMBERSHIP_LIMIT, 'too-many': 2 })
    const one = members[outcomes.indexOf('added')] ?? aMembership()
    const [refused, someone] = [members[outcomes.indexOf('too-many')] ?? aMembership(), aMembership()]
    assert.equal(await perform(second, 'addMember', refused), 'too-many')
    assert.equal(await perform(second, 'addMember', one), 'member-already')
    assert.equal(await perform(second, 'addMember', someone), 'added')
    assert.equal(await second.findMembership(refused), undefined)
    assert.equal((await second.listMemberships(userId)).length, MEMBERSHIP_LIMIT)
    await perform(first, 'removeMember', { ...one, now: NOW })
    assert.equal(await perform(first, 'addMember', refused), 'added')
  })

  check('a second disableMember keeps the first time and moves the not-before time', async ({ first }) => {
    const member = aMembership()
    const neighbours = [aMembership({ userId: member.userId }), aMembership({ organizationId: member.organizationId })]
    await performAll(first, 'addMember', [member, ...neighbours])
    await Promise.all([member, ...neighbours].map(first.findMembership))
    const moments = [at(5), at(9), at(7)].map((now) => ({ ...member, now }))
    assert.deepEqual(await performAll(first, 'disableMember', moments), ['changed', 'changed', 'changed'])
    assert.deepEqual(await first.findMembership(member), { ...member, disabledAt: at(5), notBefore: at(9) })
    assert.equal(await perform(first, 'enableMember', { ...member, now: at(8) }), 'changed')
    assert.deepEqual(await first.findMembership(member), { ...member, notBefore: at(9) })
    assert.deepEqual(await Promise.all(neighbours.map(first.findMembership)), neighbours)
  })

  check('a token that a node issued for a disabled member stays invalid after enableMember', async ({ first }) => {
    const member = aMembership()
    const neighbours = [aMembership({ userId: member.userId }), aMembership({ organizationId: member.organizationId })]
    await performAll(first, 'addMember', [member, ...neighbours])
    await perform(first, 'disableMember', { ...member, now: at(5) })
    const moments = [at(9), at(12)].map((now) => ({ ...member, now }))
    // The second call enables a membership that is enabled already, which revokes nothing.
    assert.deepEqual(await performAll(first, 'enableMember', moments), ['changed', 'changed'])
    assert.deepEqual(await first.findMembership(member), { ...member, notBefore: at(9) })
    assert.deepEqual(await Promise.all(neighbours.map(first.findMembership)), neighbours)
  })

  check('a member who is removed and added again has a new membership', async ({ first }) => {
    const member = aMembership()
    await perform(first, 'addMember', member)
    await perform(first, 'disableMember', { ...member, now: at(50) })
    await first.findMembership(member)
    assert.equal(await perform(first, 'removeMember', { ...member, now: NOW }), 'removed')
    assert.equal(await first.findMembership(member), undefined)
    const again = { ...member, createdAt: at(20), notBefore: at(20) }
    assert.equal(await perform(first, 'addMember', again), 'added')
    assert.deepEqual(await first.findMembership(member), again)
  })

  check('of concurrent removals of one member exactly one succeeds', async (stores) => {
    const [member, other] = [aMembership(), aMembership()]
    await performAll(stores.first, 'addMember', [member, other])
    const outcomes = await race(
      stores,
      'removeMember',
      times(10, () => ({ ...member, now: NOW })),
    )
    assert.deepEqual(tally(outcomes), { removed: 1, unknown: 9 })
    assert.deepEqual(await stores.second.findMembership(other), other)
  })

  check('a change of a membership that does not exist returns unknown and creates none', async ({ first }) => {
    const member = aMembership()
    assert.equal(await perform(first, 'disableMember', { ...member, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'enableMember', { ...member, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'removeMember', { ...member, now: NOW }), 'unknown')
    assert.equal(await first.findMembership(member), undefined)
  })

  check('listMemberships lists the user’s own memberships, ordered by organization id', async ({ first }) => {
    const { userId } = aMembership()
    const members = times(3, (index) =>
      aMembership({ userId, organizationId: mintOrganizationId(at(index), randomBytes) }),
    )
    const others = members.map(({ organizationId }) => aMembership({ organizationId }))
    await performAll(first, 'addMember', [...members.toReversed(), ...others])
    assert.deepEqual(await first.listMemberships(userId), members)
  })

  check(
    'listMembers pages through an organization’s members, newest users first, `before` exclusive',
    async ({ first }) => {
      const { organizationId } = aMembership()
      const members = times(4, (index) => aMembership({ organizationId, userId: mintUserId(at(index), randomBytes) }))
      const elsewhere = members.map(({ userId }) => aMembership({ userId }))
      await performAll(first, 'addMember', [...members, ...elsewhere])
      const expected = members.toReversed()
      assert.deepEqual(await first.listMembers({ organizationId, before: undefined, limit: 3 }), expected.slice(0, 3))
      const before = expected[2]?.userId
      assert.deepEqual(await first.listMembers({ organizationId, before, limit: 3 }), expected.slice(3))
    },
  )

  check(
    'two handles that add and remove the same members in different orders do not deadlock, and every outcome is true',
    async (stores) => {
      const { userId } = aMembership()
      const members = times(20, () => aMembership({ userId }))
      const removals = members.map((member) => ({ ...member, now: NOW }))
      const added = await Promise.all([
        performAll(stores.first, 'addMember', members),
        performAll(stores.second, 'addMember', members.toReversed()),
      ])
      assert.deepEqual(tally(added.flat()), { added: 20, 'member-already': 20 })
      const removed = await Promise.all([
        performAll(stores.first, 'removeMember', removals.toReversed()),
        performAll(stores.second, 'removeMember', removals),
      ])
      assert.deepEqual(tally(removed.flat()), { removed: 20, unknown: 20 })
      assert.deepEqual(await stores.first.listMemberships(userId), [])
    },
  )
}
