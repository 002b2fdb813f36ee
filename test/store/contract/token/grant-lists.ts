import assert from 'node:assert/strict'
import { NEVER_REVOKED } from '../never-revoked.ts'
import type { GrantRecord } from '../../../../src/ports/records/grant.ts'
import type { GrantFilter, StoreDriver } from '../../../../src/ports/store.ts'
import { approved } from './authorizations.ts'
import { perform, performAll, race, times, type Suite } from '../harness.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import type { GrantId } from '../../../../src/protocol/ids.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { APPLICATION } from '../../../../src/protocol/sign-in/authentication.ts'
import { anIdentity } from '../../../support/provider/provider-records.ts'
import {
  aFamily,
  aGrant,
  anAuthorization,
  anOrganization,
  aRedemption,
  at,
  aUser,
  MINUTE,
  NOW,
} from '../../../support/records.ts'

export const grantListCases: Suite = (check) => {
  check('listGrants lists the grants that match all given filters, newest first', async ({ first, second }) => {
    const [mine, yours] = [aGrant(), aGrant()]
    const [here, there] = [anOrganization().id, anOrganization().id]
    const grants = await redeemed(
      first,
      [mine.userId, yours.userId].flatMap((userId) =>
        [mine.clientId, yours.clientId].flatMap((clientId) =>
          [here, there, undefined].map((organizationId) => ({ userId, clientId, organizationId })),
        ),
      ),
    )
    const filters = [undefined, mine.userId].flatMap((userId) =>
      [undefined, yours.clientId].flatMap((clientId) =>
        [undefined, here].flatMap((organizationId): readonly GrantFilter[] => {
          if (userId !== undefined) return [{ userId, clientId, organizationId }]
          if (organizationId !== undefined) return [{ clientId, organizationId }]
          return clientId === undefined ? [{}] : []
        }),
      ),
    )
    const sizes: number[] = []
    for (const filter of filters) {
      const expected = grants.filter((grant) => fits(grant, filter)).toReversed()
      assert.deepEqual(await second.listGrants({ before: undefined, limit: 50, ...filter }), expected)
      sizes.push(expected.length)
    }
    assert.deepEqual(sizes, [12, 4, 2, 6, 2, 3, 1])
  })

  check('listGrants pages by id, `before` exclusive, with every filter', async ({ first }) => {
    const { userId, clientId } = aGrant()
    const organizationId = anOrganization().id
    const own = times(5, () => ({ userId, clientId, organizationId }))
    const expected = (await redeemed(first, own)).toReversed()
    for (const filter of [
      { userId },
      { organizationId },
      { organizationId, clientId },
      { userId, clientId, organizationId },
    ]) {
      const page = await first.listGrants({ before: undefined, limit: 2, ...filter })
      assert.deepEqual(page, expected.slice(0, 2))
      const next = await first.listGrants({ before: page[1]?.id, limit: 50, ...filter })
      assert.deepEqual(next, expected.slice(2))
      assert.deepEqual(await first.listGrants({ before: next.at(-1)?.id, limit: 50, ...filter }), [])
    }
  })

  check('listGrants finds the grants of a client in a slice, from its last grant on', async ({ first, second }) => {
    const { clientId } = aGrant()
    const grants = (await redeemed(first, [{ clientId }, {}, { clientId }, {}])).toReversed()
    const [newest, , third, oldest] = grants.map(({ id }) => id)
    const end = (before: GrantId | undefined, size: number) => second.findListEnd({ list: 'grants', before, size })
    assert.deepEqual([await end(undefined, 3), await end(third, 3), await end(oldest, 1)], [third, oldest, undefined])
    for (const [from, expected] of [
      [third, grants.slice(1, 2)],
      [oldest, [grants[1], grants[3]]],
    ] as const) {
      assert.ok(from)
      assert.deepEqual(await second.listGrants({ before: newest, from, clientId, limit: 5 }), expected)
    }
    assert.ok(oldest)
    const page = { before: newest, from: oldest, clientId }
    assert.deepEqual(await second.listGrants({ ...page, limit: 1 }), grants.slice(1, 2))
  })

  check('listGrants includes revoked grants, and returns none for a user without grants', async ({ first }) => {
    const [grant] = await redeemed(first, [{}])
    assert.ok(grant)
    await perform(first, 'revokeGrant', { id: grant.id, now: at(9) })
    const { userId } = grant
    const listed = await first.listGrants({ before: undefined, limit: 5, userId })
    assert.deepEqual(listed, [{ ...grant, revokedAt: at(9) }])
    const nobody = aGrant()
    for (const filter of [{ userId: nobody.userId }, { userId, clientId: nobody.clientId }])
      assert.deepEqual(await first.listGrants({ before: undefined, limit: 5, ...filter }), [])
  })

  check(
    'listLiveGrants lists the grants of a user that are neither revoked nor expired, newest first',
    async ({ first, second }) => {
      const { userId } = aGrant()
      const grants = await redeemed(first, [
        { userId },
        { userId, expiresAt: at(50) },
        { userId, family: aFamily({ idleExpiresAt: at(50) }) },
        { userId },
        { userId, family: undefined },
        {},
      ])
      const [old, , , revoked, bare] = grants as GrantRecord[]
      await perform(first, 'revokeGrant', { id: (revoked as GrantRecord).id, now: at(9) })
      assert.deepEqual(await second.listLiveGrants({ userId, now: at(50), limit: 5 }), [bare, old])
      assert.deepEqual(await second.listLiveGrants({ userId, now: at(50), limit: 1 }), [bare])
    },
  )

  check(
    'listLiveGrants finds the grants of a client, with a redirect host, and none without a host',
    async ({ first, second }) => {
      const { userId, clientId } = aGrant()
      const [one, other, , foreign] = await redeemed(first, [
        { userId, clientId },
        { userId, clientId, redirectHost: 'app.example:8443' },
        { userId, clientId, redirectHost: undefined },
        { userId },
      ])
      const asked = { userId, now: at(1), limit: 5 }
      const find = (filter: object) => second.listLiveGrants({ ...asked, ...filter })
      assert.deepEqual(await find({ clientId, redirectHost: 'app.example' }), [one])
      assert.deepEqual(await find({ clientId, redirectHost: 'app.example:8443' }), [other])
      assert.deepEqual(await find({ clientId, redirectHost: 'other.example' }), [])
      assert.deepEqual(await find({ redirectHost: 'app.example' }), [foreign, one])
      assert.equal((await find({ clientId })).length, 3)
    },
  )

  check(
    'JAG-16: an app with over 200 grants hides no other in listGrantsByApp, and removeApp ends all of them',
    async ({ first, second }) => {
      const user = aUser()
      const identity = anIdentity({ userId: user.id, providerId: APPLICATION })
      await perform(first, 'provisionUser', { user, identity })
      const [many, few] = [aGrant().clientId, aGrant().clientId]
      const { id: organizationId } = anOrganization()
      const openingOf = (differing: Partial<GrantRecord>, madeAt: number) => ({
        grant: aGrant({ userId: user.id, family: undefined, ...differing }, at(madeAt)),
        identity: identity.key,
      })
      const rare = [{ clientId: few }, { clientId: many, organizationId }].map((one, index) => openingOf(one, index))
      const ended = openingOf({ clientId: few, expiresAt: at(MINUTE) }, 2)
      const often = times(250, (index) => openingOf({ clientId: many }, 10 + index))
      // Citus has 4 s for a batch, and takes some milliseconds for each.
      for (let start = 0; start < often.length; start += 25)
        await performAll(first, 'openGrant', often.slice(start, start + 25))
      await performAll(first, 'openGrant', [...rare, ended])
      const list = async (limit: number) =>
        (await second.listGrantsByApp({ userId: user.id, now: at(MINUTE), limit })).map(({ id }) => id)
      const [oldest, foreign] = rare.map(({ grant }) => grant.id)
      const newest = often.map(({ grant }) => grant.id).toReversed()
      assert.deepEqual(await list(200), [newest[0], foreign, oldest, ...newest.slice(1, 198)])
      assert.deepEqual(await list(2), [newest[0], foreign])
      const removal = {
        userId: user.id,
        clientId: many,
        organizationId: undefined,
        codesSince: at(-1),
        now: at(MINUTE),
      }
      assert.deepEqual(await perform(first, 'removeApp', removal), { grants: 250 })
      assert.deepEqual(await list(200), [foreign, oldest])
    },
  )

  check(
    'ACC-07: removeApp revokes what the user allowed the client there, and forgets the consents',
    async (stores) => {
      const { first, second } = stores
      const { userId, clientId } = aGrant()
      const [organizationId, other] = [anOrganization().id, aGrant()]
      const grants = await redeemed(first, [
        { userId, clientId, organizationId: undefined },
        { userId, clientId, organizationId: undefined },
        { userId, clientId, organizationId },
        { userId, clientId: other.clientId, organizationId: undefined },
        { userId: other.userId, clientId, organizationId: undefined },
      ])
      const consent = {
        userId,
        clientId,
        organizationId,
        redirectHost: 'app.example',
        resources: '',
        since: EVER,
        under: NEVER_REVOKED,
      }
      for (const remember of [
        { ...consent, scope: 'read' as Scope },
        { ...consent, userId: other.userId, scope: 'read' as Scope },
      ])
        await approved(first, { userId: remember.userId, organizationId, remember })
      assert.equal((await second.listConsents(userId, 10)).length, 1)
      const removal = { userId, clientId, organizationId: undefined, codesSince: at(-1), now: at(99) }
      const outcomes = await race(
        stores,
        'removeApp',
        times(4, () => removal),
      )
      assert.deepEqual(
        outcomes.map((outcome) => outcome.grants).toSorted((left, right) => left - right),
        [0, 0, 0, 2],
      )
      const found = await Promise.all(grants.map(({ id }) => second.findGrant(id)))
      assert.deepEqual(
        found.map((grant) => grant?.revokedAt),
        [at(99), at(99), undefined, undefined, undefined],
      )
      assert.deepEqual(await second.listConsents(userId, 10), [])
      assert.equal((await second.listConsents(other.userId, 10)).length, 1)
      assert.deepEqual(await perform(first, 'removeApp', { ...removal, organizationId }), { grants: 1 })
    },
  )

  check(
    'ACC-07: removeApp burns the codes of the client there that are not redeemed yet',
    async ({ first, second }) => {
      const { id: organizationId } = anOrganization()
      const [code, other, elsewhere] = await Promise.all(
        [{}, {}, { organizationId }].map((differing) => approved(first, { organizationId: undefined, ...differing })),
      )
      assert.ok(code && other && elsewhere)
      const { userId } = code.approval
      const { clientId } = code.authorization
      assert.notEqual(other.approval.userId, userId)
      const removal = { userId, clientId, organizationId: undefined, codesSince: at(1), now: at(99) }
      await perform(first, 'removeApp', removal)
      assert.equal((await second.findAuthorization(code.authorization.id))?.status.kind, 'approved', 'It is older.')
      await perform(first, 'removeApp', { ...removal, codesSince: at(-1) })
      await perform(first, 'removeApp', { ...removal, userId: elsewhere.approval.userId, codesSince: at(-1) })
      const found = await Promise.all(
        [code, other, elsewhere].map(({ authorization }) => second.findAuthorization(authorization.id)),
      )
      assert.deepEqual(
        found.map((one) => one?.status.kind),
        ['burned', 'approved', 'approved'],
      )
      assert.equal(await perform(first, 'redeemCode', aRedemption(code.approval)), 'unknown')
    },
  )

  check('listConsents lists the consents of a user as the user gave them', async ({ first }) => {
    const { userId, clientId } = aGrant()
    const consent = {
      userId,
      clientId,
      organizationId: undefined,
      resources: 'https://api.example',
      since: EVER,
      under: NEVER_REVOKED,
    }
    for (const redirectHost of ['b.example', 'a.example'])
      await approved(first, { userId, remember: { ...consent, redirectHost, scope: 'read write' as Scope } })
    const expected = ['a.example', 'b.example'].map((redirectHost) => ({
      clientId,
      redirectHost,
      target: { organizationId: undefined, resources: ['https://api.example'] },
      scope: 'read write',
      givenAt: NOW,
      under: NEVER_REVOKED,
    }))
    assert.deepEqual(await first.listConsents(userId, 5), expected)
    assert.deepEqual(await first.listConsents(userId, 1), expected.slice(0, 1))
  })
}

const EVER = 0 as EpochMs

/** Creates grants, each a millisecond after the previous one. */
export async function redeemed(
  store: StoreDriver,
  some: readonly Partial<GrantRecord>[],
): Promise<readonly GrantRecord[]> {
  const redemptions = await Promise.all(
    some.map(async (differing, index) => {
      const grant = aGrant(differing, at(index))
      const { approval } = await approved(store, { userId: grant.userId }, anAuthorization({}, at(index)))
      return aRedemption(approval, { grant })
    }),
  )
  await performAll(store, 'redeemCode', redemptions)
  return redemptions.map(({ grant }) => grant)
}

function fits(grant: GrantRecord, { userId, clientId, organizationId }: GrantFilter): boolean {
  return (
    (userId === undefined || grant.userId === userId) &&
    (clientId === undefined || grant.clientId === clientId) &&
    (organizationId === undefined || grant.organizationId === organizationId)
  )
}
