import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { RoleRecord } from '../../../../src/ports/records/role.ts'
import type { PasswordLinkUse } from '../../../../src/ports/operations/user.ts'
import type { LinkRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import { mintUserId } from '../../../../src/protocol/ids.ts'
import { perform, performAll, race, type Suite, tally, times } from '../harness.ts'
import { anAdminCredential } from '../server/administrators.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import { aPasskey } from '../../../support/sign-in/factor-records.ts'
import { aClient, aHash, aLink, anOrganization, aUser, at, HOUR, MINUTE, NOW } from '../../../support/records.ts'

export const roleCases: Suite = (check) => {
  check('setRole stores one role for each user, visible through both handles', async ({ first, second }) => {
    const [one, other] = [aUser(), aUser()]
    await performAll(first, 'createUser', [one, other])
    const { id: organizationId } = anOrganization()
    const role = aRole(one, { organizationId, isLoopbackOnly: true })
    assert.deepEqual(await performAll(first, 'setRole', [aRole(one), aRole(other), role, aRole(aUser())]), [
      'changed',
      'changed',
      'changed',
      'unknown',
    ])
    assert.deepEqual(await second.findRole(one.id), role)
    assert.deepEqual(await first.findRole(other.id), aRole(other))
    assert.equal(await second.findRole(aUser().id), undefined)
  })

  check('CON-35: of concurrent changes of the address that was read one counts', async (stores) => {
    const user = aUser()
    await perform(stores.first, 'createUser', user)
    const changes = times(3, () => {
      const { email } = aUser()
      return { id: user.id, email, emailVerifiedAt: undefined, now: at(2), previous: user }
    })
    assert.deepEqual(tally(await race(stores, 'setEmail', changes)), { changed: 1, conflict: 2 })
    const { email = assert.fail() } = (await stores.second.findUser(user.id)) ?? assert.fail()
    // The same address, which was verified meanwhile.
    const late = { id: user.id, email, emailVerifiedAt: at(4), now: at(4), previous: { email, emailVerifiedAt: at(3) } }
    assert.equal(await perform(stores.first, 'setEmail', late), 'conflict')
  })

  check('CON-35: of concurrent roles in the place of one that was read, or of none, one counts', async (stores) => {
    const user = aUser()
    await perform(stores.first, 'createUser', user)
    const { id: organizationId } = anOrganization()
    const roles = [aRole(user, { access: 'read' }), aRole(user, { organizationId }), aRole(user)]
    for (const begins of [1, 5]) {
      const previous = (await stores.second.findRole(user.id)) ?? null
      const given = roles.map((role, index) => ({ ...role, setAt: at(begins + index), previous }))
      assert.deepEqual(tally(await race(stores, 'setRole', given)), { changed: 1, conflict: 2 })
    }
  })

  check(
    'LNK-07: a role ends the link that an operator handed over, and none that the user asked for',
    async (stores) => {
      const { first, second } = stores
      const [one, other] = [aUser(), aUser()]
      await performAll(first, 'createUser', [one, other])
      const handed = aLink({ userId: one.id, createdAt: NOW })
      const own = aLink({ userId: one.id, createdAt: NOW, origin: 'user' })
      const others = aLink({ userId: other.id, createdAt: NOW })
      assert.deepEqual(tally(await performAll(first, 'createLink', [handed, own, others])), { created: 3 })
      const role = aRole(one, { setAt: at(1) })
      await perform(second, 'setRole', role)
      const found = async (user: UserRecord) => (await first.listLinks(user.id)).map(({ hash }) => hash)
      assert.deepEqual([await found(one), await found(other)], [[own.hash], [others.hash]])
      // The operator looked for a role before it was set, which may take until after the time of the role.
      for (const createdAt of [NOW, at(1), at(2)]) {
        const late = aLink({ userId: one.id, createdAt })
        assert.equal(await perform(first, 'createLink', late), 'unknown')
        const earlier = { ...late, roleSince: NOW }
        assert.equal(await perform(first, 'createLink', earlier), 'unknown')
      }
      const knowing = { ...aLink({ userId: one.id, createdAt: at(2) }), roleSince: role.setAt }
      assert.equal(await perform(first, 'createLink', knowing), 'created')
    },
  )

  check(
    'LNK-08: a link that a person with a role made works while role and account go on, with a password, a passkey or a provider',
    async ({ first, second }) => {
      const provider = aProvider()
      await perform(first, 'createProvider', provider)
      const maker = aUser()
      await perform(first, 'createUser', maker)
      const ways = {
        password: ({ userId, hash }: LinkRecord) => perform(second, 'useLink', useOf({ userId, hash })),
        passkey: ({ userId, hash }: LinkRecord) =>
          perform(second, 'addPasskey', { passkey: aPasskey({ userId }), reason: reasonOf(hash) }),
        provider: ({ userId, hash }: LinkRecord) => {
          const identity = anIdentity({ userId, providerId: provider.id })
          return perform(second, 'linkIdentity', {
            identity,
            reason: { ...reasonOf(hash), isMultiFactor: false },
            now: at(MINUTE),
          })
        },
      } as const
      const use = async (way: keyof typeof ways, differing: Partial<LinkRecord> = {}) => {
        const user = aUser()
        await perform(first, 'createUser', user)
        const madeBy = { userId: maker.id, roleSince: at(1), notBefore: maker.notBefore }
        const link = aLink({ userId: user.id, madeBy, createdAt: at(2), ...differing })
        assert.equal(await perform(first, 'createLink', link), 'created')
        assert.deepEqual(await first.listLinks(user.id), [link])
        const outcome = await ways[way](link)
        return ['used', 'added', 'linked'].includes(outcome)
      }
      const all = Object.keys(ways) as readonly (keyof typeof ways)[]
      const outcomes = async (differing?: Partial<LinkRecord>) => Promise.all(all.map((way) => use(way, differing)))
      assert.deepEqual(await outcomes(), [false, false, false], 'without a role')
      await perform(first, 'setRole', aRole(maker, { setAt: at(1) }))
      // The clock of the node that makes the link may be slow, or ahead.
      for (const createdAt of [NOW, at(2)]) assert.deepEqual(await outcomes({ createdAt }), [true, true, true])
      for (const [access, isMailed] of [
        ['users', false],
        ['users', true],
        ['support', true],
      ] as const) {
        await perform(first, 'setRole', aRole(maker, { setAt: at(1), access }))
        assert.deepEqual(await outcomes({ isMailed }), [true, true, true], access)
      }
      // The administrator of an organization mails links to its members.
      await perform(first, 'setRole', aRole(maker, { setAt: at(1), organizationId: anOrganization().id }))
      assert.deepEqual(await outcomes({ isMailed: true }), [true, true, true])
      for (const differing of [
        { setAt: at(3) },
        { setAt: NOW },
        { access: 'read' },
        { access: 'support' },
        { organizationId: anOrganization().id },
      ] as const) {
        await perform(first, 'setRole', aRole(maker, { setAt: at(1), ...differing }))
        for (const createdAt of [at(2), at(4)])
          assert.deepEqual(await outcomes({ createdAt }), [false, false, false], JSON.stringify(differing))
      }
      await perform(first, 'setRole', aRole(maker, { setAt: at(1) }))
      await perform(first, 'disableUser', { id: maker.id, now: at(3) })
      assert.deepEqual(await outcomes(), [false, false, false], 'while the account is disabled')
      await perform(first, 'enableUser', { id: maker.id, now: at(4) })
      const ends: readonly (readonly [string, () => Promise<unknown>])[] = [
        ['enabled again', async () => undefined],
        ['tokens revoked', () => perform(first, 'revokeUserTokens', { id: maker.id, now: at(5) })],
        ['new password', () => perform(first, 'setPassword', { id: maker.id, passwordHash: 'x', now: at(6) })],
      ]
      let before = maker.notBefore
      for (const [what, end] of ends) {
        await end()
        const { notBefore } = (await second.findUser(maker.id)) ?? maker
        const madeBy = { userId: maker.id, roleSince: at(1) }
        for (const createdAt of [at(2), at(9)]) {
          assert.deepEqual(
            await outcomes({ createdAt, madeBy: { ...madeBy, notBefore: before } }),
            [false, false, false],
            what,
          )
          assert.deepEqual(await outcomes({ createdAt, madeBy: { ...madeBy, notBefore } }), [true, true, true], what)
        }
        before = notBefore
      }
      await perform(first, 'removeRole', { userId: maker.id })
      assert.deepEqual(await outcomes(), [false, false, false])
      assert.deepEqual(await outcomes({ madeBy: undefined }), [true, true, true])
    },
  )

  check(
    'LNK-09: a link that was made with credentials ends when these are revoked, and not when they expire',
    async (stores) => {
      const { first, second } = stores
      const [credential, expired] = [anAdminCredential(), anAdminCredential({ expiresAt: at(1) })]
      await performAll(first, 'createAdminCredential', [credential, expired])
      const use = async ({ id: madeWith }: Pick<typeof credential, 'id'>) => {
        const user = aUser()
        await perform(first, 'createUser', user)
        const link = aLink({ userId: user.id, madeWith })
        await perform(first, 'createLink', link)
        assert.deepEqual(await second.listLinks(user.id), [link])
        return perform(second, 'useLink', useOf(link))
      }
      assert.deepEqual([await use(credential), await use(expired)], ['used', 'used'])
      await perform(first, 'revokeAdminCredential', { id: credential.id, now: at(2) })
      assert.deepEqual([await use(credential), await use(expired)], ['unknown', 'used'])
    },
  )

  check('a role ends with its organization, and other roles stay', async ({ first, second }) => {
    const [gone, kept] = [anOrganization(), anOrganization()]
    await performAll(first, 'createOrganization', [gone, kept])
    const users = times(3, () => aUser())
    await performAll(first, 'createUser', users)
    const of = [gone.id, kept.id, undefined]
    const roles = users.map((user, index) => aRole(user, { organizationId: of[index] }))
    await performAll(first, 'setRole', roles)
    assert.equal(await perform(second, 'deleteOrganization', { id: gone.id, now: NOW }), 'deleted')
    assert.deepEqual(await Promise.all(users.map(({ id }) => first.findRole(id))), [undefined, ...roles.slice(1)])
  })

  check('of concurrent removals of a role one succeeds, and other roles stay', async (stores) => {
    const [one, other] = [aUser(), aUser()]
    await performAll(stores.first, 'createUser', [one, other])
    await performAll(stores.first, 'setRole', [aRole(one), aRole(other)])
    const removals = times(10, () => ({ userId: one.id }))
    assert.deepEqual(tally(await race(stores, 'removeRole', removals)), { removed: 1, unknown: 9 })
    assert.deepEqual(
      [await stores.first.findRole(one.id), await stores.second.findRole(other.id)],
      [undefined, aRole(other)],
    )
  })

  check('a role ends with its user, also if it is set at the same time', async (stores) => {
    const users = times(10, () => aUser())
    await performAll(stores.first, 'createUser', users)
    await Promise.all([
      performAll(
        stores.first,
        'setRole',
        users.map((user) => aRole(user)),
      ),
      performAll(
        stores.second,
        'deleteUser',
        users.map(({ id }) => ({ id })),
      ),
    ])
    for (const { id } of users) assert.equal(await stores.first.findRole(id), undefined)
  })

  check(
    'findCurrent returns a client, a user and an organization as the other handle changed them just now',
    async (stores) => {
      const { first, second } = stores
      const [user, client, organization] = [aUser(), aClient(), anOrganization()]
      await performAll(first, 'createUser', [user])
      await performAll(first, 'registerClient', [client])
      await performAll(first, 'createOrganization', [organization])
      const ids = { clientId: client.id, userId: user.id, organizationId: organization.id }
      assert.deepEqual(await first.findCurrent({ ...ids, organizationId: undefined }), {
        client: await first.findClient(client.id),
        user: await first.findUser(user.id),
        organization: undefined,
      })
      await first.findOrganization(organization.id)
      const now = at(MINUTE)
      await performAll(second, 'disableUser', [{ id: user.id, now }])
      await performAll(second, 'disableClient', [{ id: client.id, now }])
      await performAll(second, 'disableOrganization', [{ id: organization.id, now }])
      const current = await first.findCurrent(ids)
      assert.deepEqual(
        [current.client?.disabledAt, current.user?.disabledAt, current.organization?.disabledAt],
        [now, now, now],
      )
      const nowhere = { clientId: aClient().id, userId: aUser().id, organizationId: anOrganization().id }
      assert.deepEqual(await first.findCurrent(nowhere), {
        client: undefined,
        user: undefined,
        organization: undefined,
      })
    },
  )

  check('listRoles pages the newest users first, `before` exclusive', async ({ first, second }) => {
    const users = times(5, (index) => aUser({ id: mintUserId(at(HOUR * (index + 1)), randomBytes) }))
    await performAll(first, 'createUser', users)
    const roles = users.map((user) => aRole(user))
    await performAll(first, 'setRole', roles)
    const page = await second.listRoles({ before: undefined, limit: 3 })
    const own = (listed: readonly RoleRecord[]) => listed.filter(({ userId }) => users.some(({ id }) => id === userId))
    assert.deepEqual(page, roles.toReversed().slice(0, 3))
    assert.deepEqual(own(await second.listRoles({ before: page[2]?.userId, limit: 1000 })), roles.toReversed().slice(3))
  })

  check('listHits returns what was counted in the window, and changes nothing', async ({ first, second }) => {
    const [bucket, other] = [`roles-${String(NOW)}`, `others-${String(NOW)}`]
    const window = { now: NOW, windowMs: MINUTE }
    const listed = async (now = NOW) => [
      ...(await second.listHits({ ...window, now, buckets: [bucket, other, 'none'] })),
    ]
    assert.deepEqual(await listed(), [])
    assert.deepEqual(await second.listHits({ ...window, buckets: [] }), new Map())
    const counted = await perform(first, 'countHit', { ...window, bucket, by: 3 })
    assert.deepEqual(await listed(at(1)), [[bucket, counted]])
    const two = await perform(first, 'countHit', { ...window, bucket: other, by: 1 })
    assert.deepEqual(
      new Map(await listed()),
      new Map([
        [bucket, { ...counted, count: 3 }],
        [other, two],
      ]),
    )
    assert.deepEqual(await listed(at(MINUTE)), [])
  })
}

function useOf({ userId, hash }: Pick<LinkRecord, 'userId' | 'hash'>): PasswordLinkUse {
  return { userId, ...reasonOf(hash), passwordHash: 'a new hash', browserHash: aHash(), mails: [] }
}

function reasonOf(hash: LinkRecord['hash']) {
  return { kind: 'link', hash, keep: [], isSecondStepRequired: false, now: at(MINUTE) } as const
}

export function aRole({ id }: Pick<UserRecord, 'id'>, differing: Partial<RoleRecord> = {}): RoleRecord {
  return { userId: id, access: 'write', organizationId: undefined, isLoopbackOnly: false, setAt: NOW, ...differing }
}
