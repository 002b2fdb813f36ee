import assert from 'node:assert/strict'
import { normalizeEmail } from '../../../../src/protocol/sign-in/email-address.ts'
import type { UserImport } from '../../../../src/ports/operations/user.ts'
import { chosenClientId } from '../../../../src/protocol/client/identifier.ts'
import type { OrganizationId, UserId } from '../../../../src/protocol/ids.ts'
import { IMPORTED } from '../../../../src/protocol/sign-in/account.ts'
import { perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import {
  aClient,
  aGrant,
  aHash,
  aLink,
  aMembership,
  aRedemption,
  aSession,
  aSessionStart,
  aUser,
  at,
  NOW,
} from '../../../support/records.ts'
import { approved } from '../token/authorizations.ts'
import { aPasskey, aSecondFactor, aSignInBasis } from '../../../support/sign-in/factor-records.ts'

/** An account with everything. `id`: one that the user had elsewhere. */
export function anImport(differing: Partial<UserImport['user']> = {}, id = `u-${aHash()}` as UserId): UserImport {
  const user = aUser({
    id,
    email: `${id}@acme.test`,
    firstSignedInAt: IMPORTED,
    lastSignedInAt: undefined,
    updatedAt: NOW,
    ...(differing as object),
  })
  return {
    user,
    identities: [anIdentity({ userId: id }), anIdentity({ userId: id })],
    memberships: [aMembership({ userId: id })],
    groups: [],
    secondFactor: aSecondFactor({ userId: id }),
    clientId: chosenClientId(id),
    source: 'users',
    replaces: undefined,
  }
}

/** The account as the newer export has it. */
export function changed(account: UserImport, replaced = account.user.passwordHash): UserImport {
  const { id } = account.user
  return {
    ...account,
    user: {
      ...account.user,
      email: normalizeEmail(`new-${id}@acme.test`),
      name: 'Grace',
      passwordHash: 'newer',
      updatedAt: at(9),
      notBefore: at(9),
    },
    identities: [...account.identities, anIdentity({ userId: id })],
    memberships: [...account.memberships, aMembership({ userId: id })],
    secondFactor: aSecondFactor({ userId: id }),
    replaces: { passwordHash: replaced },
  }
}

/** An account of which the organization is known. */
function importOf(): UserImport {
  const account = anImport()
  const { id: userId } = account.user
  return { ...account, memberships: [aMembership({ userId, organizationId: organizationOf(userId) })] }
}

function organizationOf(userId: UserId): OrganizationId {
  return `of-${userId}` as OrganizationId
}

export const importedUserCases: Suite = (check) => {
  check('importUser stores an account with all that belongs to it, and finds it again', async ({ first, second }) => {
    const account = anImport()
    assert.equal(await perform(first, 'importUser', account), 'created')
    const { id } = account.user
    assert.deepEqual(await second.findUser(id), account.user)
    assert.deepEqual(
      new Set((await second.listIdentities(id)).map(({ key }) => key)),
      new Set(account.identities.map(({ key }) => key)),
    )
    assert.deepEqual(await second.listMemberships(id), account.memberships)
    assert.deepEqual(await second.findSecondFactor(id), account.secondFactor)
    // IMP-06: later times are those of the second run.
    const again = { ...account, user: { ...account.user, createdAt: at(5), updatedAt: at(5), notBefore: at(5) } }
    assert.equal(await perform(second, 'importUser', again), 'same')
    assert.deepEqual(await first.findUser(id), account.user)
  })

  check('importUser changes an account only if it may, and adds what is new', async ({ first, second }) => {
    const account = anImport()
    await perform(first, 'importUser', account)
    const newer = changed(account)
    const { id, email } = newer.user
    await perform(first, 'createLink', aLink({ userId: id }))
    assert.equal(await perform(second, 'importUser', { ...newer, replaces: undefined }), 'differs')
    assert.deepEqual(await second.findUser(id), account.user)
    assert.equal(await perform(second, 'importUser', newer), 'updated')
    assert.deepEqual(await second.findUser(id), newer.user)
    assert.deepEqual(await first.findUserByEmail(String(email)), newer.user)
    assert.equal((await first.listIdentities(id)).length, 3)
    assert.equal((await first.listMemberships(id)).length, 2)
    assert.deepEqual(await first.findSecondFactor(id), newer.secondFactor)
    // It may have been sent to the previous address.
    assert.deepEqual(await first.listLinks(id), [])
    assert.equal(await perform(first, 'importUser', newer), 'same')
    // The previous address is free.
    assert.equal(await perform(first, 'createUser', aUser({ email: String(account.user.email) })), 'created')
  })

  check(
    'IMP-07: importUser leaves an account alone that was used, disabled, changed or given another password or a role here',
    async ({ first, second }) => {
      const touched: readonly ((account: UserImport) => Promise<unknown>)[] = [
        ({ user: { id: userId } }) => startSessions(first, aSessionStart({ session: aSession({ userId }) })),
        ({ user: { id } }) => perform(first, 'disableUser', { id, now: at(1) }),
        ({ user: { id } }) => perform(first, 'renameUser', { id, name: 'Ours', now: at(1) }),
        async ({ user: { id } }) => {
          await perform(first, 'renameUser', { id, name: 'Ours', now: at(1) })
          await perform(first, 'revokeUserTokens', { id, now: at(2) })
        },
        ({ user: { id } }) => perform(first, 'setPassword', { id, passwordHash: 'ours', now: at(1) }),
        ({ user: { id: userId } }) =>
          perform(first, 'setRole', {
            userId,
            access: 'write',
            organizationId: undefined,
            isLoopbackOnly: false,
            setAt: at(1),
          }),
      ]
      for (const touch of touched) {
        const account = { ...anImport(), secondFactor: undefined }
        await perform(first, 'importUser', account)
        await touch(account)
        const before = await first.findUser(account.user.id)
        assert.equal(await perform(second, 'importUser', changed(account)), 'differs')
        assert.deepEqual(await second.findUser(account.user.id), before)
        assert.equal((await second.listIdentities(account.user.id)).length, 2)
        assert.equal(await second.findUserByEmail(`new-${account.user.id}@acme.test`), undefined)
        // The address that the account keeps is still its own.
        const thief = aUser({ email: String(account.user.email) })
        assert.equal(await perform(second, 'createUser', thief), 'email-taken')
      }
    },
  )

  check(
    'IMP-07: importUser leaves an account alone to which its user added an app, a passkey or an identity before the first session',
    async ({ first, second }) => {
      const provider = aProvider()
      await perform(first, 'createProvider', provider)
      const additions: Readonly<Record<string, (user: UserImport['user']) => Promise<unknown>>> = {
        app: ({ id: userId }) =>
          perform(first, 'enableTotp', {
            factor: aSecondFactor({ userId }),
            recoveryDigests: [],
            replaces: undefined,
            reason: { kind: 'sign-in', ...aSignInBasis() },
            mails: [],
          }),
        passkey: ({ id: userId }) =>
          perform(first, 'addPasskey', {
            passkey: aPasskey({ userId }),
            reason: { kind: 'sign-in', ...aSignInBasis() },
            mails: [],
          }),
        identity: ({ id: userId, email }) =>
          perform(first, 'linkIdentity', {
            identity: anIdentity({ userId, providerId: provider.id }),
            reason: { kind: 'address', email: String(email) },
            now: at(1),
            mails: [],
          }),
      }
      for (const [what, add] of Object.entries(additions)) {
        const account = { ...anImport({ emailVerifiedAt: NOW }), identities: [], secondFactor: undefined }
        const { user } = account
        await perform(first, 'importUser', account)
        assert.ok(['enabled', 'added', 'linked'].includes(String(await add(user))), what)
        const before = await first.findUser(user.id)
        const app = await first.findSecondFactor(user.id)
        const newer = { ...changed(account), identities: [], secondFactor: undefined }
        assert.equal(await perform(second, 'importUser', newer), 'differs', what)
        assert.deepEqual(await second.findUser(user.id), before)
        assert.deepEqual(await second.findSecondFactor(user.id), app)
      }
      // Of an account that no import made it is no change.
      const user = aUser({ emailVerifiedAt: NOW })
      await perform(first, 'createUser', user)
      for (const add of Object.values(additions)) await add(user)
      assert.deepEqual(await second.findUser(user.id), user)
    },
  )

  check(
    'STO-13: a user who was deleted and is imported again has no grant, code or session of before, also of a clock ahead',
    async ({ first, second }) => {
      const account = anImport()
      const { id: userId } = account.user
      await perform(first, 'importUser', account)
      const [session, grant, later] = [aSession({ userId }), aGrant({ userId }, at(50)), aGrant({ userId }, at(50))]
      await startSessions(first, aSessionStart({ session }))
      const [{ approval }, { approval: other }] = [await approved(first, { userId }), await approved(first, { userId })]
      const redemption = aRedemption(approval, { grant })
      assert.equal(await perform(first, 'redeemCode', redemption), 'redeemed')
      await perform(first, 'deleteUser', { id: userId })
      assert.equal(
        await perform(second, 'importUser', { ...account, user: { ...account.user, notBefore: at(1) } }),
        'created',
      )
      assert.notEqual((await second.findGrant(redemption.grant.id))?.revokedAt, undefined)
      assert.equal(await perform(second, 'redeemCode', aRedemption(other, { grant: later })), 'unknown')
      assert.equal(await second.findSession(session.id), undefined)
      assert.deepEqual(await second.listMemberships(userId), account.memberships)
    },
  )

  check('IMP-14: importUser adds no membership or app again that an administrator removed', async (stores) => {
    const { first, second } = stores
    const removals = {
      membership: ({ user: { id: userId } }: UserImport) =>
        perform(first, 'removeMember', { userId, organizationId: organizationOf(userId), now: at(1) }),
      app: ({ user: { id: userId } }: UserImport) => perform(first, 'resetSecondFactor', { userId }),
    }
    for (const [what, remove] of Object.entries(removals)) {
      const account = importOf()
      const { id } = account.user
      await perform(first, 'importUser', account)
      assert.notEqual(await remove(account), 'unknown')
      assert.equal(await perform(second, 'importUser', changed(account)), 'differs')
      assert.equal((await second.listMemberships(id)).length, what === 'membership' ? 0 : 1)
      assert.equal((await second.findSecondFactor(id)) === undefined, what === 'app')
      // What there is not changes nothing.
      const other = { ...importOf(), memberships: [], secondFactor: undefined }
      await perform(first, 'importUser', other)
      assert.equal(await remove(other), 'unknown')
      assert.equal(await perform(second, 'importUser', changed(other)), 'updated')
    }
    // Of an account that no import made, or that was used, it is no change.
    const user = aUser()
    await perform(first, 'createUser', user)
    await perform(first, 'addMember', aMembership({ userId: user.id, organizationId: organizationOf(user.id) }))
    assert.equal(await removals.membership({ ...anImport(), user }), 'removed')
    assert.deepEqual(await second.findUser(user.id), user)
  })

  check(
    'IMP-14: a membership that is removed during an update of an import stays removed',
    async ({ first, second }) => {
      for (const _ of times(6, () => undefined)) {
        const account = importOf()
        const { id: userId } = account.user
        await perform(first, 'importUser', account)
        const organizationId = organizationOf(userId)
        await Promise.all([
          perform(first, 'importUser', { ...changed(account), memberships: account.memberships }),
          perform(second, 'removeMember', { userId, organizationId, now: at(1) }),
        ])
        assert.deepEqual(await second.listMemberships(userId), [])
      }
    },
  )

  check('importUser: an address, an identity or an id of another is refused, and nothing is left', async (stores) => {
    const { first, second } = stores
    const [owner, known] = [aUser(), anImport()]
    await perform(first, 'createUser', owner)
    await perform(first, 'importUser', known)
    const client = aClient({ chosenId: 'taken' })
    await perform(first, 'createClient', { ...client, id: chosenClientId('taken') ?? client.id, source: 'operator' })
    const identity = known.identities[0] as UserImport['identities'][number]
    const fresh = anImport()
    const cases = [
      ['email-taken', anImport({ email: owner.email })],
      ['identity-taken', { ...fresh, identities: [...fresh.identities, { ...identity, userId: fresh.user.id }] }],
      ['id-taken', anImport({}, 'taken' as UserId)],
    ] as const
    for (const [outcome, account] of cases) {
      assert.equal(await perform(second, 'importUser', account), outcome)
      assert.equal(await second.findUser(account.user.id), undefined)
      assert.deepEqual(await second.listIdentities(account.user.id), [])
      assert.deepEqual(await second.listMemberships(account.user.id), [])
      assert.equal(await second.findSecondFactor(account.user.id), undefined)
    }
    // The address of the second is free again.
    assert.equal(await perform(first, 'createUser', aUser({ email: String(fresh.user.email) })), 'created')
    // Also where the account exists.
    const mine = anImport()
    await perform(first, 'importUser', mine)
    const replaces = { passwordHash: mine.user.passwordHash }
    const takes = [
      ['email-taken', { ...mine, user: { ...mine.user, email: owner.email }, replaces }],
      ['identity-taken', { ...mine, identities: [{ ...identity, userId: mine.user.id }], replaces }],
    ] as const
    for (const [outcome, account] of takes) assert.equal(await perform(second, 'importUser', account), outcome)
    assert.deepEqual(await first.findUser(mine.user.id), mine.user)
    assert.deepEqual(await first.findIdentity(identity.key), identity)
  })

  check('IMP-06: of concurrent imports of one account exactly one creates it, and no half of it', async (stores) => {
    const account = anImport()
    const outcomes = await race(
      stores,
      'importUser',
      times(10, () => account),
    )
    assert.deepEqual(tally(outcomes), { created: 1, same: 9 })
    assert.equal((await stores.second.listIdentities(account.user.id)).length, 2)
    assert.deepEqual(await stores.second.listMemberships(account.user.id), account.memberships)
  })

  check('of concurrent imports of accounts with one address, or one identity, exactly one succeeds', async (stores) => {
    const email = normalizeEmail(`${aHash()}@acme.test`)
    const addresses = await race(
      stores,
      'importUser',
      times(6, () => anImport({ email })),
    )
    assert.deepEqual(tally(addresses), { created: 1, 'email-taken': 5 })
    const identity = anIdentity()
    const accounts = times(6, () => {
      const account = anImport()
      return { ...account, identities: [{ ...identity, userId: account.user.id }] }
    })
    const outcomes = await race(stores, 'importUser', accounts)
    assert.deepEqual(tally(outcomes), { created: 1, 'identity-taken': 5 })
    const winner = accounts[outcomes.indexOf('created')]?.user.id
    assert.equal((await stores.first.findIdentity(identity.key))?.userId, winner)
    for (const { user } of accounts)
      assert.equal((await stores.first.findUser(user.id)) !== undefined, user.id === winner)
  })

  check('IMP-11: a password that is set during an update of an import stays', async ({ first, second }) => {
    for (const _ of times(6, () => undefined)) {
      const account = { ...anImport(), secondFactor: undefined }
      await perform(first, 'importUser', account)
      const { id } = account.user
      const [outcome] = await Promise.all([
        perform(first, 'importUser', changed(account)),
        perform(second, 'setPassword', { id, passwordHash: 'ours', now: at(5) }),
      ])
      assert.ok(['updated', 'differs'].includes(outcome))
      assert.equal((await second.findUserByEmail(String((await second.findUser(id))?.email)))?.passwordHash, 'ours')
    }
  })

  check('importUser: a batch of a hundred shares a commit', async ({ first, second }) => {
    const accounts = times(100, () => anImport())
    assert.deepEqual(tally(await performAll(first, 'importUser', accounts)), { created: 100 })
    assert.deepEqual(tally(await performAll(second, 'importUser', accounts)), { same: 100 })
  })
}
