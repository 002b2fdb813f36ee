import assert from 'node:assert/strict'
import type { Redemption } from '../../../../src/ports/operations/authorization.ts'
import type { Input } from '../../../../src/ports/operations/index.ts'
import type { GrantRecord } from '../../../../src/ports/records/grant.ts'
import { APPLICATION } from '../../../../src/protocol/sign-in/authentication.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { approved } from './authorizations.ts'
import { aGrantSlice, aSweep } from '../server/sweep.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { anIdentity } from '../../../support/provider/provider-records.ts'
import {
  A_KEY,
  aFamily,
  aGrant,
  aHash,
  anApproval,
  anAuthorization,
  anOrganization,
  ANOTHER_KEY,
  aRedemption,
  aRotation,
  aSession,
  at,
  aUser,
  HOUR,
  NOW,
} from '../../../support/records.ts'

const REUSED = { kind: 'reused', wasHeld: false, why: 'strict' } as const

export const tokenCases: Suite = (check) => {
  check('redeemCode redeems the code and stores the grant', async ({ first, second }) => {
    for (const organizationId of [undefined, anOrganization().id]) {
      const { authorization, approval } = await approved(first, { organizationId })
      const redemption = aRedemption(approval, { grant: aGrant({ organizationId }) })
      assert.equal(await perform(first, 'redeemCode', redemption), 'redeemed')
      assert.deepEqual(await second.findGrant(redemption.grant.id), redemption.grant)
      const { userId, codeHash } = approval
      const status = { kind: 'approved', userId, organizationId, codeHash, approvedAt: NOW }
      assert.deepEqual((await second.findAuthorization(authorization.id))?.status, status)
    }
  })

  check(
    'grants of several organizations that one batch redeems each keep their own organization',
    async ({ first }) => {
      const grants = [anOrganization().id, undefined, anOrganization().id].map((organizationId) =>
        aGrant({ organizationId }),
      )
      const redemptions = await Promise.all(
        grants.map(async (grant) => aRedemption((await approved(first)).approval, { grant })),
      )
      await performAll(first, 'redeemCode', redemptions)
      for (const { grant } of redemptions) assert.deepEqual(await first.findGrant(grant.id), grant)
    },
  )

  check('redeemCode stores what the ID tokens of a grant have in common', async ({ first, second }) => {
    const session = { rootId: aSession().id, methods: ['pwd', 'fed'], at: at(-5) } as const
    const openid = { session, idTokenClaims: ['email', 'name'] } as const
    const grants = [aGrant({ openid }), aGrant(), aGrant({ openid: { session, idTokenClaims: [] } })]
    const redemptions = await Promise.all(
      grants.map(async (grant) => aRedemption((await approved(first)).approval, { grant })),
    )
    await performAll(first, 'redeemCode', redemptions)
    for (const { grant } of redemptions) assert.deepEqual(await second.findGrant(grant.id), grant)
  })

  check('redeemCode stores a grant without refresh tokens', async ({ first }) => {
    const { approval } = await approved(first)
    const redemption = aRedemption(approval, { grant: aGrant({ family: undefined, resources: [] }) })
    await perform(first, 'redeemCode', redemption)
    assert.deepEqual(await first.findGrant(redemption.grant.id), redemption.grant)
  })

  check('openGrant stores grants without a code, once, which end as others do', async ({ first, second }) => {
    const openings: Input<'openGrant'>[] = []
    for (const user of times(3, () => aUser())) {
      const identity = anIdentity({ userId: user.id, providerId: APPLICATION })
      assert.equal(await perform(first, 'provisionUser', { user, identity }), 'created')
      const grant = aGrant({ userId: user.id, family: undefined, providerId: 'idp' as GrantRecord['providerId'] })
      openings.push({ grant, identity: identity.key })
    }
    const grants = openings.map(({ grant }) => grant)
    const [one, other] = grants as [GrantRecord, GrantRecord]
    const again = openings.slice(0, 1).map((opening) => ({ ...opening, grant: { ...one, scope: 'another' as Scope } }))
    await performAll(first, 'openGrant', openings)
    assert.deepEqual(await performAll(second, 'openGrant', again), ['opened'])
    for (const grant of grants) assert.deepEqual(await second.findGrant(grant.id), grant)
    const { clientId, userId, organizationId } = one
    assert.deepEqual(await first.listLiveGrants({ userId, now: at(1), limit: 9 }), [one])
    await perform(second, 'removeApp', { userId, clientId, organizationId, now: at(2), codesSince: at(0) })
    assert.deepEqual(await first.findGrant(one.id), { ...one, revokedAt: at(2) })
    assert.deepEqual(await first.findGrant(other.id), other)
  })

  check(
    'a second redemption is a replay, which revokes the first grant and stores no second one',
    async ({ first }) => {
      const { approval } = await approved(first)
      const [one, two] = [aRedemption(approval), aRedemption(approval, { now: at(5) })]
      await perform(first, 'redeemCode', one)
      assert.equal(await perform(first, 'redeemCode', two), 'replayed')
      assert.deepEqual(await first.findGrant(one.grant.id), { ...one.grant, revokedAt: at(5) })
      assert.equal(await perform(first, 'redeemCode', { ...two, now: at(9) }), 'spent')
      assert.equal((await first.findGrant(one.grant.id))?.revokedAt, at(5))
    },
  )

  check('a replay is detected however late it comes', async ({ first }) => {
    const { approval } = await approved(first)
    await perform(first, 'redeemCode', aRedemption(approval))
    assert.equal(await perform(first, 'redeemCode', aRedemption(approval, { now: at(HOUR) })), 'replayed')
  })

  check(
    'redeemCode of an unknown, pending, expired or different code returns unknown and changes nothing',
    async ({ first }) => {
      const { authorization, approval } = await approved(first)
      const before = await first.findAuthorization(authorization.id)
      const attempts = [
        aRedemption(approval, { codeHash: aHash() }),
        aRedemption(approval, { now: approval.codeExpiresAt }),
        aRedemption(anApproval(anAuthorization())),
      ]
      for (const attempt of attempts) {
        assert.equal(await perform(first, 'redeemCode', attempt), 'unknown')
        assert.equal(await first.findGrant(attempt.grant.id), undefined)
      }
      assert.deepEqual(await first.findAuthorization(authorization.id), before)
    },
  )

  check('CODE-02: of concurrent redemptions of one code exactly one succeeds, and none is lost', async (stores) => {
    const { approval } = await approved(stores.first)
    const redemptions = times(40, () => aRedemption(approval))
    const outcomes = await race(stores, 'redeemCode', redemptions)
    assert.deepEqual(tally(outcomes), { redeemed: 1, replayed: 1, spent: 38 })
    const { grant } = redemptions[outcomes.indexOf('redeemed')] as Redemption
    assert.deepEqual(await stores.first.findGrant(grant.id), { ...grant, revokedAt: at(1) })
  })

  check('of several redemptions of one code in one batch the first succeeds', async ({ first }) => {
    const { approval } = await approved(first)
    const redemptions = times(4, () => aRedemption(approval))
    const outcomes = await performAll(first, 'redeemCode', redemptions)
    assert.deepEqual(outcomes, ['redeemed', 'replayed', 'spent', 'spent'])
    assert.ok((await first.findGrant(redemptions[0]?.grant.id ?? ('' as never)))?.revokedAt)
  })

  check('a redemption whose grant cannot be stored leaves the code unredeemed', async ({ first }) => {
    const { approval } = await approved(first)
    const grant = aGrant({ scope: undefined as never })
    const results = await first.commit([{ name: 'redeemCode', input: aRedemption(approval, { grant }) }])
    assert.equal(results[0]?.kind, 'failed')
    assert.equal(await perform(first, 'redeemCode', aRedemption(approval)), 'redeemed')
  })

  check('a code is redeemed by one row: its authorization stays as it was approved', async ({ first, second }) => {
    const { authorization, approval } = await approved(first)
    const before = await first.findAuthorization(authorization.id)
    const { grant } = aRedemption(approval)
    assert.equal(await perform(first, 'redeemCode', aRedemption(approval, { grant })), 'redeemed')
    assert.equal(grant.id, authorization.id)
    assert.deepEqual(await second.findAuthorization(authorization.id), before)
  })

  check('CODE-07: of a redemption and a burn of one code exactly one succeeds', async (stores) => {
    const codes = await Promise.all(times(20, () => approved(stores.first)))
    for (const [redeeming, burning] of [
      [stores.first, stores.second],
      [stores.second, stores.first],
    ] as const) {
      const outcomes = await Promise.all(
        codes.splice(0, 10).map(({ approval }) => {
          const { id, codeHash } = approval
          return Promise.all([
            perform(redeeming, 'redeemCode', aRedemption(approval)),
            perform(burning, 'burnCode', { id, codeHash, now: at(1), about: undefined as never }),
          ])
        }),
      )
      for (const pair of outcomes)
        assert.ok(['redeemed and spent', 'unknown and burned'].includes(pair.join(' and ')), pair.join(' and '))
    }
  })

  check('neither a sweep nor the removal of another app hides a replay', async (stores) => {
    const { first, second } = stores
    const { authorization, approval } = await approved(first)
    const redemption = aRedemption(approval)
    await perform(first, 'redeemCode', redemption)
    await perform(second, 'sweepExpired', aSweep({ now: at(HOUR), authorizationsBefore: at(HOUR) }))
    await perform(second, 'sweepGrants', aGrantSlice({ now: at(HOUR), before: at(HOUR) }))
    const { userId } = approval
    const removal = {
      userId,
      clientId: authorization.clientId,
      organizationId: undefined,
      codesSince: at(-1),
      now: at(99),
    }
    await perform(second, 'removeApp', removal)
    const replay = { ...redemption, now: at(2 * HOUR) }
    assert.equal(await perform(second, 'redeemCode', replay), 'replayed')
    assert.equal((await first.findGrant(redemption.grant.id))?.revokedAt, at(2 * HOUR))
  })

  check('a sweep beside a redemption leaves the code redeemed with its evidence, or removes it', async (stores) => {
    const { first, second } = stores
    const codes = await Promise.all(times(20, () => approved(first)))
    const sweep = aSweep({ now: at(HOUR), authorizationsBefore: at(HOUR) })
    const slice = aGrantSlice({ now: at(HOUR), before: at(HOUR) })
    const redemptions = codes.map(({ approval }) => aRedemption(approval))
    const [outcomes] = await Promise.all([
      race(stores, 'redeemCode', redemptions),
      perform(second, 'sweepExpired', sweep),
      perform(second, 'sweepGrants', slice),
    ])
    const again = await performAll(first, 'redeemCode', redemptions)
    const pairs = outcomes.map((outcome, index) => `${outcome}, then ${again[index]}`)
    for (const pair of pairs) assert.ok(['redeemed, then replayed', 'unknown, then unknown'].includes(pair), pair)
  })

  check('rotateRefreshToken replaces the newest token with its successor', async ({ first }) => {
    const grant = await aLiveGrant(first)
    const rotation = aRotation(grant)
    assert.deepEqual(await perform(first, 'rotateRefreshToken', rotation), { kind: 'rotated', rotatedAt: at(1000) })
    assert.deepEqual(await first.findGrant(grant.id), {
      ...grant,
      family: {
        generation: 1,
        liveHash: rotation.successorHash,
        rotatedAt: rotation.now,
        idleExpiresAt: rotation.idleExpiresAt,
        network: rotation.network,
        heldFor: undefined,
      },
    })
  })

  check('RT-02: the previous token, within the window, returns the time of the first rotation', async ({ first }) => {
    const grant = await aLiveGrant(first)
    const rotation = aRotation(grant)
    await perform(first, 'rotateRefreshToken', rotation)
    const before = await first.findGrant(grant.id)
    const retry = { ...rotation, now: at(1000 + 29_999) }
    assert.deepEqual(await perform(first, 'rotateRefreshToken', retry), { kind: 'repeated', rotatedAt: at(1000) })
    assert.deepEqual(await first.findGrant(grant.id), before)
  })

  check('RT-04: the previous token, after the window, revokes the family', async ({ first }) => {
    const grant = await aLiveGrant(first)
    const rotation = aRotation(grant)
    await perform(first, 'rotateRefreshToken', rotation)
    const replay = { ...rotation, now: at(1000 + 30_000) }
    assert.deepEqual(await perform(first, 'rotateRefreshToken', replay), REUSED)
    assert.equal((await first.findGrant(grant.id))?.revokedAt, replay.now)
    const successor = { ...rotation, generation: 1, presentedHash: rotation.successorHash, successorHash: aHash() }
    assert.deepEqual(await perform(first, 'rotateRefreshToken', successor), { kind: 'inactive' })
  })

  check('without a retry window every second use is treated as reuse', async ({ first }) => {
    const grant = await aLiveGrant(first)
    const rotation = aRotation(grant, { retryMs: 0 })
    assert.deepEqual(tally(await performAll(first, 'rotateRefreshToken', [rotation, rotation, rotation])), {
      rotated: 1,
      reused: 1,
      inactive: 1,
    })
  })

  check('RT-05: a token two generations old revokes the family, also within the window', async ({ first }) => {
    const grant = await aLiveGrant(first)
    const one = aRotation(grant)
    const two = { ...one, generation: 1, presentedHash: one.successorHash, successorHash: aHash(), now: at(2000) }
    await performAll(first, 'rotateRefreshToken', [one, two])
    assert.deepEqual(await perform(first, 'rotateRefreshToken', { ...two, now: at(2500) }), {
      kind: 'repeated',
      rotatedAt: at(2000),
    })
    assert.deepEqual(await perform(first, 'rotateRefreshToken', { ...one, now: at(2500) }), REUSED)
  })

  check(
    'a tagged token of a future generation, or another token of this generation, revokes the family',
    async (stores) => {
      for (const odd of [{ generation: 7 }, { presentedHash: aHash() }]) {
        const grant = await aLiveGrant(stores.first)
        const outcome = await perform(stores.first, 'rotateRefreshToken', aRotation(grant, odd))
        assert.deepEqual(outcome, { ...REUSED, why: undefined })
        assert.ok((await stores.first.findGrant(grant.id))?.revokedAt)
      }
    },
  )

  check(
    'RT-10: a token that is idle or expired, revoked, without a family or unknown returns inactive and changes nothing',
    async ({ first }) => {
      const idle = await aLiveGrant(first, { family: aFamily({ idleExpiresAt: at(1000) }) })
      const expired = await aLiveGrant(first, { expiresAt: at(1000) })
      const bare = await aLiveGrant(first, { family: undefined })
      const { approval } = await approved(first)
      const replayed = aRedemption(approval)
      await performAll(first, 'redeemCode', [replayed, aRedemption(approval)])
      for (const grant of [idle, expired, bare, replayed.grant, aGrant()]) {
        const before = await first.findGrant(grant.id)
        assert.deepEqual(await perform(first, 'rotateRefreshToken', aRotation(grant)), { kind: 'inactive' })
        assert.deepEqual(await first.findGrant(grant.id), before)
      }
    },
  )

  check('a token can be rotated one millisecond before its idle expiry', async ({ first }) => {
    const grant = await aLiveGrant(first, { family: aFamily({ idleExpiresAt: at(1001) }), expiresAt: at(1001) })
    assert.equal((await perform(first, 'rotateRefreshToken', aRotation(grant))).kind, 'rotated')
  })

  check('RT-03: of concurrent refreshes with one token one rotates it and all others repeat it', async (stores) => {
    const grant = await aLiveGrant(stores.first)
    const rotation = aRotation(grant)
    const rotations = times(40, (index) => ({ ...rotation, now: at(1000 + index) }))
    const outcomes = await race(stores, 'rotateRefreshToken', rotations)
    assert.deepEqual(tally(outcomes), { rotated: 1, repeated: 39 })
    const moments = new Set(outcomes.map((outcome) => 'rotatedAt' in outcome && outcome.rotatedAt))
    assert.equal(moments.size, 1)
    assert.equal((await stores.second.findGrant(grant.id))?.family?.generation, 1)
  })

  check(
    'of several refreshes with one token in one batch the first rotates it and the others repeat it',
    async ({ first }) => {
      const grant = await aLiveGrant(first)
      const outcomes = await performAll(
        first,
        'rotateRefreshToken',
        times(3, () => aRotation(grant, { successorHash: aHash() })),
      )
      assert.deepEqual(tally(outcomes), { rotated: 1, repeated: 2 })
    },
  )

  check('DP-07: a rotation binds an unbound family to its key, and no other key rotates it then', async (stores) => {
    const { first, second } = stores
    const grant = await aLiveGrant(first, { boundKey: undefined })
    const one = aRotation(grant)
    const two = { ...one, generation: 1, presentedHash: one.successorHash, successorHash: aHash(), key: A_KEY }
    const three = { ...two, generation: 2, presentedHash: two.successorHash, successorHash: aHash() }
    await performAll(first, 'rotateRefreshToken', [one, two])
    const boundKey = { thumbprint: A_KEY, generation: 2 }
    assert.deepEqual((await second.findGrant(grant.id))?.boundKey, boundKey)
    assert.equal((await perform(second, 'rotateRefreshToken', two)).kind, 'repeated')
    assert.equal((await perform(first, 'rotateRefreshToken', three)).kind, 'rotated')
    assert.deepEqual((await second.findGrant(grant.id))?.boundKey, boundKey)
    for (const key of [undefined, ANOTHER_KEY]) {
      const bound = await aLiveGrant(first)
      const outcome = await perform(second, 'rotateRefreshToken', aRotation(bound, { key }))
      assert.deepEqual(outcome, { ...REUSED, why: 'another-key' })
      assert.ok((await first.findGrant(bound.id))?.revokedAt)
    }
  })

  check('DP-07: of concurrent refreshes with two keys one binds the family, and the other ends it', async (stores) => {
    for (const keys of [
      [A_KEY, ANOTHER_KEY],
      [A_KEY, undefined],
    ]) {
      const grant = await aLiveGrant(stores.first, { boundKey: undefined })
      const rotation = aRotation(grant)
      const rotations = times(20, (index) => ({ ...rotation, key: keys[index % 2] }))
      const counts = tally(await race(stores, 'rotateRefreshToken', rotations))
      assert.equal(counts['rotated'], 1)
      assert.ok(counts['reused'] !== undefined, JSON.stringify(counts))
      assert.ok((await stores.second.findGrant(grant.id))?.revokedAt)
    }
  })

  check('RT-18: reuse revokes its own family and no other of the same user and client', async ({ first }) => {
    const one = await aLiveGrant(first)
    const two = await aLiveGrant(first, { clientId: one.clientId, userId: one.userId })
    const reuse = aRotation(one, { presentedHash: aHash() })
    const outcomes = await performAll(first, 'rotateRefreshToken', [reuse, aRotation(two)])
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['reused', 'rotated'],
    )
    assert.equal((await first.findGrant(two.id))?.revokedAt, undefined)
  })
}

/** A grant that was created by redeeming a code. */
export async function aLiveGrant(store: StoreDriver, differing: Partial<GrantRecord> = {}): Promise<GrantRecord> {
  const grant = aGrant(differing)
  const { approval } = await approved(store, { userId: grant.userId })
  const redemption = aRedemption(approval, { grant })
  assert.equal(await perform(store, 'redeemCode', redemption), 'redeemed')
  return redemption.grant
}
