import assert from 'node:assert/strict'
import type { UserList } from '../../../../src/ports/records/account.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { UserId } from '../../../../src/protocol/ids.ts'
import { IMPORTED } from '../../../../src/protocol/sign-in/account.ts'
import { GUESS_LIMIT } from '../../../../src/protocol/sign-in/totp.ts'
import { aGroup, aLink, aMembership, anOrganization, aUser, at, HOUR, NOW } from '../../../support/records.ts'
import { perform, performAll, times, type Suite } from '../harness.ts'
import { aGroupMember } from '../organization/groups.ts'
import { aRole } from './roles.ts'
import { aUserOfApp } from './second-factors.ts'

/** The ids of a list among some users, from all of its pages. */
async function listed(
  store: StoreDriver,
  list: UserList,
  among: readonly UserRecord[],
  limit: number,
): Promise<readonly UserId[]> {
  const found: UserId[] = []
  let before: UserId | undefined
  do {
    const page = await store.listUsersIn({ list, now: NOW, before, limit })
    assert.ok(page.users.length <= limit)
    found.push(...page.users.map(({ id }) => id))
    before = page.next
  } while (before !== undefined)
  assert.deepEqual(found, found.toSorted().toReversed(), 'newest first')
  assert.equal(new Set(found).size, found.length, 'each once')
  return found.filter((id) => among.some((user) => user.id === id))
}

function newestFirst(users: readonly (UserRecord | undefined)[]): readonly UserId[] {
  const ids = users.flatMap((user) => (user === undefined ? [] : [user.id]))
  return ids.toSorted().toReversed()
}

/** What the console lists of users, and what accounts have. */
export const userListCases: Suite = (check) => {
  check('listUsersIn pages through the users of a list, newest first, and no others', async ({ first, second }) => {
    const users = [
      ...times(4, () => aUser({ firstSignedInAt: NOW })),
      ...times(3, () => aUser({ firstSignedInAt: undefined })),
      aUser({ firstSignedInAt: IMPORTED }),
    ]
    const [one, two, three, four, five, six] = users
    await performAll(first, 'createUser', users)
    await performAll(
      first,
      'disableUser',
      [one, five].flatMap((user) => (user === undefined ? [] : [{ id: user.id, now: NOW }])),
    )
    const invitation = { purpose: 'invitation', createdAt: at(-HOUR), expiresAt: at(HOUR) } as const
    const links = [
      [two, {}],
      [two, { origin: 'user' }],
      [three, { expiresAt: NOW }],
      [four, { purpose: 'reset' }],
      [six, {}],
    ] as const
    const made = links.map(([user, own]) => aLink({ ...invitation, ...own, ...(user && { userId: user.id }) }))
    await performAll(first, 'createLink', made)
    const guessed = await aUserOfApp(first, { failures: GUESS_LIMIT })
    const tried = await aUserOfApp(first, { failures: GUESS_LIMIT - 1 })
    const all = [...users, guessed.user, tried.user]
    for (const limit of [1, 2, 1000]) {
      assert.deepEqual(await listed(second, 'disabled', users, limit), newestFirst([one, five]))
      assert.deepEqual(await listed(second, 'never-signed-in', users, limit), newestFirst(users.slice(4)))
      assert.deepEqual(await listed(second, 'invited', users, limit), newestFirst([two, six]))
      assert.deepEqual(await listed(second, 'guessed', all, limit), newestFirst([guessed.user]))
    }
  })

  check(
    'listAccounts returns of each user what the single reads do, in the order of the ids',
    async ({ first, second }) => {
      const { user, factor } = await aUserOfApp(first)
      const [other, unused] = [aUser(), aUser({ firstSignedInAt: undefined })]
      await performAll(first, 'createUser', [other, unused])
      const organizations = [anOrganization(), anOrganization()]
      await performAll(first, 'createOrganization', organizations)
      const memberships = organizations.flatMap(({ id: organizationId }) =>
        [user, unused].map(({ id: userId }) => aMembership({ userId, organizationId })),
      )
      await performAll(first, 'addMember', memberships)
      await perform(first, 'setRole', aRole(other))
      const links = [aLink({ userId: other.id, roleSince: NOW } as never), aLink({ userId: other.id, origin: 'user' })]
      await performAll(first, 'createLink', links)
      const group = aGroup({ isProtected: true })
      await performAll(first, 'createGroup', [group, aGroup()])
      await perform(first, 'addGroupMember', aGroupMember(unused.id, group))
      const ids = [other.id, user.id, aUser().id, unused.id]
      const accounts = await second.listAccounts(ids)
      assert.deepEqual(
        accounts.map(({ userId }) => userId),
        ids,
      )
      for (const { userId, memberships: joined, ...account } of accounts) {
        assert.deepEqual(account, {
          identities: await second.listIdentities(userId),
          passkeys: await second.listPasskeys(userId),
          app: await second.findSecondFactor(userId),
          role: await second.findRole(userId),
          links: await second.listLinks(userId),
          protectedGroups: userId === unused.id ? [group.id] : [],
        })
        const isJoinedUnused = userId === unused.id
        const own = (await second.listMemberships(userId)).map((one) => ({ ...one, isJoinedUnused }))
        assert.deepEqual(joined, own)
      }
      const [withRole, withApp] = accounts
      assert.deepEqual([withRole?.links.length, withRole?.role?.userId, withApp?.app], [2, other.id, factor])
      assert.deepEqual(await second.listAccounts([]), [])
    },
  )
}
