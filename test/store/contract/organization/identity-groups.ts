import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { IdentityRecord } from '../../../../src/ports/records/provider.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { sourceOfProvider } from '../../../../src/protocol/access/group.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import { aGroup, aHash, aLink, aSession, aSessionStart, aUser, at, HOUR, NOW } from '../../../support/records.ts'
import { perform, performAll, type Suite } from '../harness.ts'
import { aSweep } from '../server/sweep.ts'
import { aGroupMember } from './groups.ts'

interface Made {
  readonly user: UserRecord & { readonly email: string }
  /** Of the provider that says the groups. */
  readonly identity: IdentityRecord
}

/** What removes an identity of a user. */
const REMOVALS: Readonly<Record<string, (store: StoreDriver, made: Made) => Promise<string>>> = {
  async unlinkIdentity(store, { identity, user }) {
    const start = aSessionStart({ session: aSession({ userId: user.id }) })
    await perform(store, 'startSession', start)
    const kept = { passwordCounts: true, passkeysCount: false, factors: undefined }
    const session = coversAll(start.session)
    return perform(store, 'unlinkIdentity', { ...identity, ...kept, session, now: at(HOUR) })
  },
  async useLink(store, { user }) {
    const link = aLink({ userId: user.id })
    await perform(store, 'createLink', link)
    const chosen = { passwordHash: 'new', keep: [], isSecondStepRequired: false, browserHash: aHash(), mails: [] }
    return perform(store, 'useLink', { userId: user.id, hash: link.hash, ...chosen, now: at(HOUR) })
  },
  async 'the takeover of an account that was not used'(store, { user }) {
    const provider = aProvider()
    await perform(store, 'createProvider', provider)
    const identity = anIdentity({ userId: user.id, providerId: provider.id })
    const reason = { kind: 'unused', email: user.email } as const
    return perform(store, 'linkIdentity', { identity, reason, now: at(HOUR) })
  },
}

export const identityGroupCases: Suite = (check) => {
  for (const [what, remove] of Object.entries(REMOVALS))
    check(
      `GRP-04: ${what}: what a provider said ends with the identity, and what others say stays with the user`,
      async (stores) => {
        const { first, second } = stores
        const provider = aProvider()
        const user = aUser({ emailVerifiedAt: undefined, firstSignedInAt: undefined })
        const identity = anIdentity({ userId: user.id, providerId: provider.id })
        const groups = [aGroup(), aGroup()] as const
        await perform(first, 'createProvider', provider)
        await perform(first, 'provisionUser', { user, identity })
        await performAll(first, 'createGroup', groups)
        const source = sourceOfProvider(provider.id)
        const ids = groups.map(({ id }) => id)
        const said = { userId: user.id, expiresAt: undefined, since: NOW, now: NOW }
        await perform(first, 'setGroupsOfSource', { ...said, source, groups: ids })
        await perform(first, 'setGroupsOfSource', { ...said, source: 'application', groups: ids.slice(1) })
        const member = aGroupMember(user.id, groups[0])
        await perform(first, 'addGroupMember', member)
        assert.equal((await first.findBelonging(user.id)).groups.length, 4)
        assert.match(await remove(first, { user, identity }), /^(?:unlinked|used|linked)$/)
        // Another person may have had that account.
        const isOther = what === 'the takeover of an account that was not used'
        const left = isOther ? [] : ([member, { ...member, groupId: groups[1].id, source: 'application' }] as const)
        const inOrder = left.toSorted((one, other) => (one.groupId < other.groupId ? -1 : 1))
        assert.deepEqual(await second.listGroupsOfUser(user.id), inOrder)
        assert.equal((await first.findBelonging(user.id)).groups.length, left.length)
      },
    )

  check('sweepExpired removes members that have ended, and no others', async ({ first, second }) => {
    const user = aUser()
    const [ended, later, ever] = [aGroup(), aGroup(), aGroup()]
    await perform(first, 'createUser', user)
    await performAll(first, 'createGroup', [ended, later, ever])
    const ends = [at(-1), at(1), undefined]
    const rows = [ended, later, ever].map((group, index) => aGroupMember(user.id, group, { expiresAt: ends[index] }))
    await performAll(first, 'addGroupMember', rows)
    assert.equal((await perform(first, 'sweepExpired', aSweep())).groupMembers, 1)
    const left = (await second.listGroupsOfUser(user.id)).map(({ groupId }) => groupId)
    assert.deepEqual(left, [later.id, ever.id].toSorted())
  })
}
