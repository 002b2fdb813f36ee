import assert from 'node:assert/strict'
import { MAXIMA } from '../../../../src/base/maxima.ts'
import type { GroupMemberRecord, GroupRecord } from '../../../../src/ports/records/group.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { sourceOfProvider } from '../../../../src/protocol/access/group.ts'
import type { UserId } from '../../../../src/protocol/ids.ts'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import { aGroup, aLink, aMembership, anOrganization, aUser, at, HOUR, NOW } from '../../../support/records.ts'
import { perform, performAll, performMany, race, tally, times, type Stores, type Suite } from '../harness.ts'

const PROVIDER = sourceOfProvider('acme' as ProviderId)

export function aGroupMember(userId: UserId, { id: groupId }: GroupRecord, differing: Partial<GroupMemberRecord> = {}) {
  return { userId, groupId, source: 'operator', createdAt: NOW, expiresAt: undefined, ...differing } as const
}

/** A user of an organization with two groups, and a group of the server. */
async function aWorld({ first }: Stores) {
  const [organization, user] = [anOrganization(), aUser()]
  const { id: userId } = user
  const membership = aMembership({ userId, organizationId: organization.id })
  const [own, other] = times(2, () => aGroup({ organizationId: organization.id })) as [GroupRecord, GroupRecord]
  const group = aGroup()
  await perform(first, 'createOrganization', organization)
  await perform(first, 'createUser', user)
  await perform(first, 'addMember', membership)
  assert.deepEqual(await performAll(first, 'createGroup', [own, other, group]), ['created', 'created', 'created'])
  return { organization, user, userId, membership, own, other, group }
}

async function groupsOf(store: StoreDriver, userId: UserId): Promise<readonly string[]> {
  return (await store.findBelonging(userId)).groups.map(({ groupId }) => groupId)
}

export const groupCases: Suite = (check) => {
  check('createGroup stores the whole group, once, also in a race', async (stores) => {
    const group = aGroup({ isProtected: true })
    const outcomes = await race(
      stores,
      'createGroup',
      times(6, (index) => ({ ...group, createdAt: at(index) })),
    )
    assert.deepEqual(tally(outcomes), { created: 1, 'id-taken': 5 })
    const stored = { ...group, createdAt: at(outcomes.indexOf('created')) }
    assert.deepEqual(await stores.second.findGroup(group.id), stored)
    const page = { before: undefined, limit: 1000 }
    assert.ok((await stores.first.listGroups(page)).some(({ id }) => id === group.id))
  })

  check(
    'a group of an organization that does not exist is not created, and an organization has a maximum',
    async (stores) => {
      const { first, second } = stores
      const { organization } = await aWorld(stores)
      assert.equal(await perform(first, 'createGroup', aGroup({ organizationId: anOrganization().id })), 'unknown')
      const more = times(MAXIMA.groupsOfOrganization.most, () => aGroup({ organizationId: organization.id }))
      const outcomes = await performMany(first, 'createGroup', more)
      assert.deepEqual(tally(outcomes), { created: more.length - 2, 'too-many': 2 })
      const page = { organizationId: organization.id, before: undefined, limit: 1000 }
      assert.equal((await second.listGroupsOf(page)).length, MAXIMA.groupsOfOrganization.most)
    },
  )

  check('updateGroup changes what it read, so that of concurrent changes one succeeds', async (stores) => {
    const group = aGroup()
    await perform(stores.first, 'createGroup', group)
    const changes = times(6, (index) => ({
      id: group.id,
      name: `Name ${index}`,
      isProtected: index % 2 === 0,
      previous: group,
    }))
    const outcomes = await race(stores, 'updateGroup', changes)
    assert.deepEqual(tally(outcomes), { changed: 1, conflict: 5 })
    const { previous: _, ...changed } = changes[outcomes.indexOf('changed')] ?? assert.fail()
    assert.deepEqual(await stores.second.findGroup(group.id), { ...group, ...changed })
  })

  check(
    'addGroupMember adds a row of a source, and replaces its end; other sources have rows of their own',
    async (stores) => {
      const { first, second } = stores
      const { userId, own, group, organization } = await aWorld(stores)
      const row = aGroupMember(userId, group, { expiresAt: at(5) })
      const rows = [row, row, { ...row, createdAt: at(9), expiresAt: undefined }, { ...row, source: PROVIDER }] as const
      assert.deepEqual(await performAll(first, 'addGroupMember', rows), ['added', 'member-already', 'changed', 'added'])
      assert.equal(await perform(first, 'addGroupMember', aGroupMember(userId, own)), 'added')
      const stored = [
        { ...row, expiresAt: undefined },
        { ...row, source: PROVIDER },
        aGroupMember(userId, own),
      ].toSorted((one, other) => (`${one.groupId} ${one.source}` < `${other.groupId} ${other.source}` ? -1 : 1))
      assert.deepEqual(await second.listGroupsOfUser(userId), stored)
      assert.deepEqual(await second.findBelonging(userId), {
        userId,
        groups: (await second.findBelonging(userId)).groups,
        organizationIds: [organization.id],
      })
      assert.deepEqual(
        (await groupsOf(second, userId)).toSorted(),
        stored.map(({ groupId }) => groupId),
      )
      const page = { groupId: group.id, before: undefined, limit: 1 }
      const [last = assert.fail()] = await second.listGroupMembers(page)
      assert.deepEqual(last, { ...row, source: PROVIDER })
      const rest = await second.listGroupMembers({ ...page, before: `${last.userId} ${last.source}`, limit: 9 })
      assert.deepEqual(rest, [{ ...row, expiresAt: undefined }])
    },
  )

  check(
    'a user who is no active member is in no group of an organization, and nothing is added to what does not exist',
    async (stores) => {
      const { first } = stores
      const { userId, own, membership } = await aWorld(stores)
      const other = aUser()
      await perform(first, 'createUser', other)
      assert.equal(await perform(first, 'addGroupMember', aGroupMember(other.id, own)), 'not-member')
      await perform(first, 'disableMember', { ...membership, now: NOW })
      assert.equal(await perform(first, 'addGroupMember', aGroupMember(userId, own)), 'not-member')
      assert.equal(await perform(first, 'addGroupMember', aGroupMember(userId, aGroup())), 'unknown')
      assert.equal(await perform(first, 'addGroupMember', aGroupMember(aUser().id, own)), 'unknown')
      assert.equal(await perform(first, 'removeGroupMember', aGroupMember(userId, own)), 'unknown')
      assert.deepEqual((await first.findBelonging(userId)).organizationIds, [])
    },
  )

  check('of concurrent additions of one member one succeeds, and of removals too', async (stores) => {
    const { userId, group } = await aWorld(stores)
    const members = times(6, () => aGroupMember(userId, group))
    assert.deepEqual(tally(await race(stores, 'addGroupMember', members)), { added: 1, 'member-already': 5 })
    assert.deepEqual(tally(await race(stores, 'removeGroupMember', members)), { removed: 1, unknown: 5 })
    assert.deepEqual(await groupsOf(stores.first, userId), [])
  })

  check('a user has a maximum of rows of each place, and of what goes beyond it nothing is stored', async (stores) => {
    const { first } = stores
    const { userId, own } = await aWorld(stores)
    const groups = times(MAXIMA.groupsOfUser.most + 1, () => aGroup())
    await performMany(first, 'createGroup', groups)
    const said = { userId, source: PROVIDER, expiresAt: undefined, since: NOW, now: NOW }
    const set = (ids: readonly GroupRecord['id'][]) => perform(first, 'setGroupsOfSource', { ...said, groups: ids })
    const all = groups.map(({ id }) => id)
    assert.deepEqual(await set(all.slice(0, 1)), { kind: 'replaced', added: all.slice(0, 1), removed: [] })
    assert.deepEqual(await set(all), { kind: 'too-many' })
    assert.deepEqual(await groupsOf(first, userId), all.slice(0, 1))
    assert.deepEqual(await set(all.slice(1)), { kind: 'replaced', added: all.slice(1), removed: all.slice(0, 1) })
    const [group = assert.fail()] = groups
    const more = [aGroupMember(userId, group), aGroupMember(userId, own)]
    assert.deepEqual(await performAll(first, 'addGroupMember', more), ['too-many', 'added'])
    assert.deepEqual(await set([own.id, ...all.slice(1)]), { kind: 'replaced', added: [own.id], removed: [] })
  })

  check('setGroupsOfSource replaces what the source said, and nothing else', async (stores) => {
    const { first, second } = stores
    const { userId, own, other, group } = await aWorld(stores)
    await perform(first, 'addGroupMember', aGroupMember(userId, group))
    const said = { userId, source: PROVIDER, expiresAt: at(HOUR), since: NOW, now: NOW }
    const set = (groups: readonly GroupRecord[], differing: object = {}) =>
      perform(first, 'setGroupsOfSource', { ...said, groups: groups.map(({ id }) => id), ...differing })
    assert.deepEqual(await set([own, aGroup(), group]), { kind: 'replaced', added: [own.id, group.id], removed: [] })
    assert.deepEqual(await set([group, other]), { kind: 'replaced', added: [other.id], removed: [own.id] })
    const ends = async () =>
      (await second.listGroupsOfUser(userId))
        .map(({ expiresAt }) => expiresAt ?? Infinity)
        .toSorted((one, next) => one - next)
    const unchanged = { kind: 'replaced', added: [], removed: [] }
    assert.deepEqual(await set([group, other], { expiresAt: at(HOUR + 1) }), unchanged)
    assert.deepEqual(await ends(), [at(HOUR), at(HOUR), Infinity])
    assert.deepEqual(await set([group, other], { expiresAt: at(3 * HOUR) }), unchanged)
    assert.deepEqual(await ends(), [at(3 * HOUR), at(3 * HOUR), Infinity])
    // The rows of an earlier provider with the id, and those that have ended, are said again.
    assert.deepEqual(await set([group], { since: at(1), now: at(1) }), {
      kind: 'replaced',
      added: [group.id],
      removed: [],
    })
    assert.deepEqual(await set([group], { now: at(2 * HOUR) }), { kind: 'replaced', added: [group.id], removed: [] })
    assert.deepEqual(await set([]), { kind: 'replaced', added: [], removed: [group.id] })
    assert.deepEqual(await second.listGroupsOfUser(userId), [aGroupMember(userId, group)])
    assert.deepEqual(await set([group], { userId: aUser().id }), { kind: 'unknown' })
  })

  check('two sign-ins that say the same groups in other orders both succeed', async (stores) => {
    const { first } = stores
    const users = times(6, () => aUser())
    const groups = times(4, () => aGroup())
    await performAll(first, 'createUser', users)
    await performAll(first, 'createGroup', groups)
    const ids = groups.map(({ id }) => id)
    const said = { source: PROVIDER, expiresAt: undefined, since: NOW, now: NOW }
    const outcomes = await race(
      stores,
      'setGroupsOfSource',
      users.map(({ id: userId }, index) => ({ ...said, userId, groups: index % 2 === 0 ? ids : ids.toReversed() })),
    )
    for (const outcome of outcomes) assert.equal(outcome.kind === 'replaced' && outcome.added.length, 4)
  })

  check('GRP-03: a group with the id of a deleted one inherits no member', async (stores) => {
    const { first, second } = stores
    const { userId, group } = await aWorld(stores)
    await perform(first, 'addGroupMember', aGroupMember(userId, group))
    // It was read while it was protected.
    assert.equal(await perform(first, 'deleteGroup', { ...group, isProtected: true }), 'conflict')
    assert.deepEqual(await groupsOf(second, userId), [group.id])
    const outcomes = await race(stores, 'deleteGroup', [group, group])
    assert.deepEqual(tally(outcomes), { deleted: 1, conflict: 1 })
    assert.deepEqual(await groupsOf(first, userId), [])
    assert.equal(await perform(second, 'createGroup', group), 'created')
    assert.deepEqual(await second.listGroupsOfUser(userId), [])
  })

  check('GRP-03: a member who is added while the group is deleted is in no group afterwards', async (stores) => {
    const { first, second } = stores
    const users = times(8, () => aUser())
    const group = aGroup()
    await performAll(first, 'createUser', users)
    await perform(first, 'createGroup', group)
    const adding = race(
      stores,
      'addGroupMember',
      users.map(({ id }) => aGroupMember(id, group)),
    )
    const deleting = perform(second, 'deleteGroup', group)
    const outcomes = await adding
    assert.equal(await deleting, 'deleted')
    assert.ok(outcomes.every((outcome) => outcome === 'added' || outcome === 'unknown'))
    assert.deepEqual(await second.listGroupMembers({ groupId: group.id, before: undefined, limit: 9 }), [])
  })

  check('GRP-01: who leaves an organization leaves its groups, and its deletion ends them', async (stores) => {
    const { first, second } = stores
    const { userId, own, other, group, membership, organization } = await aWorld(stores)
    for (const one of [own, group]) await perform(first, 'addGroupMember', aGroupMember(userId, one))
    await first.findBelonging(userId)
    await perform(first, 'removeMember', { ...membership, now: NOW })
    assert.deepEqual(await first.findBelonging(userId), {
      userId,
      groups: [{ groupId: group.id, source: 'operator', createdAt: NOW, expiresAt: undefined }],
      organizationIds: [],
    })
    await perform(first, 'addMember', membership)
    assert.deepEqual(await groupsOf(first, userId), [group.id])
    await perform(first, 'addGroupMember', aGroupMember(userId, other))
    await perform(first, 'deleteOrganization', { id: organization.id, now: NOW })
    assert.deepEqual(await groupsOf(first, userId), [group.id])
    assert.deepEqual([await second.findGroup(own.id), await second.findGroup(other.id)], [undefined, undefined])
    assert.deepEqual(await second.findGroup(group.id), group)
  })

  check('a user who is deleted is in no group', async (stores) => {
    const { first, second } = stores
    const { user, userId, group } = await aWorld(stores)
    await perform(first, 'addGroupMember', aGroupMember(userId, group))
    await first.findBelonging(userId)
    await perform(first, 'deleteUser', { id: userId })
    assert.deepEqual(await first.findBelonging(userId), { userId, groups: [], organizationIds: [] })
    await perform(second, 'createUser', user)
    assert.deepEqual(await second.listGroupsOfUser(userId), [])
  })

  check('LNK-07: a link that an operator handed over ends with the first row in a protected group', async (stores) => {
    const { first, second } = stores
    const { userId, group } = await aWorld(stores)
    const guarded = aGroup({ isProtected: true })
    await perform(first, 'createGroup', guarded)
    const link = () => perform(first, 'createLink', aLink({ userId }))
    const linkAfter = async (change: () => Promise<unknown>) => {
      await link()
      await change()
      return (await second.listLinks(userId)).length
    }
    assert.equal(await linkAfter(() => perform(first, 'addGroupMember', aGroupMember(userId, group))), 1)
    assert.equal(await linkAfter(() => perform(first, 'addGroupMember', aGroupMember(userId, guarded))), 0)
    const change = { id: group.id, name: group.name, isProtected: true, previous: group }
    assert.equal(await linkAfter(() => perform(first, 'updateGroup', change)), 0)
    const { createdAt: _, ...now } = { ...group, isProtected: true }
    assert.equal(await linkAfter(() => perform(first, 'updateGroup', { ...now, name: 'Other', previous: now })), 1)
  })

  check('the number of protected groups has a maximum', async ({ first }) => {
    const groups = times(MAXIMA.protectedGroups.most + 1, () => aGroup({ isProtected: true }))
    assert.deepEqual(tally(await performMany(first, 'createGroup', groups)), {
      created: MAXIMA.protectedGroups.most,
      'too-many-protected': 1,
    })
    const plain = aGroup()
    await perform(first, 'createGroup', plain)
    const change = { id: plain.id, name: plain.name, isProtected: true, previous: plain }
    assert.equal(await perform(first, 'updateGroup', change), 'too-many-protected')
  })

  check('the cache of one process forgets what another process changed, within its time', async (stores) => {
    const { first } = stores
    const { userId, group } = await aWorld(stores)
    assert.deepEqual(await groupsOf(first, userId), [])
    await perform(first, 'setGroupsOfSource', {
      userId,
      source: 'application',
      groups: [group.id],
      expiresAt: undefined,
      since: NOW,
      now: NOW,
    })
    assert.deepEqual(await groupsOf(first, userId), [group.id])
    await perform(first, 'removeGroupMember', aGroupMember(userId, group, { source: 'application' }))
    assert.deepEqual(await groupsOf(first, userId), [])
  })
}
