import assert from 'node:assert/strict'
import { approved } from './authorizations.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aGrant, aHash, anApi, aRedemption, aRotation, at, HOUR, NOW } from '../../../support/records.ts'
import { aSweep } from '../server/sweep.ts'

export const revocationCases: Suite = (check) => {
  check('revokeGrant revokes the grant and its family, and the first time is kept', async ({ first, second }) => {
    const { approval } = await approved(first)
    const { grant, ...redemption } = aRedemption(approval)
    await perform(first, 'redeemCode', { ...redemption, grant })
    assert.equal(await perform(first, 'revokeGrant', { id: grant.id, now: at(5) }), 'revoked')
    assert.deepEqual(await second.findGrant(grant.id), { ...grant, revokedAt: at(5) })
    assert.deepEqual(await perform(second, 'rotateRefreshToken', aRotation(grant)), { kind: 'inactive' })
    assert.equal(await perform(second, 'revokeGrant', { id: grant.id, now: at(9) }), 'known')
    assert.equal((await first.findGrant(grant.id))?.revokedAt, at(5))
  })

  check('revokeGrant of an unknown grant returns unknown', async ({ first }) => {
    assert.equal(await perform(first, 'revokeGrant', { id: aGrant().id, now: NOW }), 'unknown')
  })

  check('of a concurrent revocation and refreshes, no refresh succeeds after the revocation', async (stores) => {
    const { approval } = await approved(stores.first)
    const { grant, ...redemption } = aRedemption(approval)
    await perform(stores.first, 'redeemCode', { ...redemption, grant })
    await Promise.all([
      race(
        stores,
        'rotateRefreshToken',
        times(10, () => aRotation(grant)),
      ),
      race(
        stores,
        'revokeGrant',
        times(4, () => ({ id: grant.id, now: at(1) })),
      ).then((outcomes) => assert.deepEqual(tally(outcomes), { revoked: 1, known: 3 })),
    ])
    const kept = await stores.first.findGrant(grant.id)
    assert.equal(kept?.revokedAt, at(1))
    assert.deepEqual(await perform(stores.second, 'rotateRefreshToken', aRotation(grant)), { kind: 'inactive' })
  })

  check('revokeToken is visible through every handle at once, however often it is called', async (stores) => {
    const tokenId = aHash()
    assert.equal(await stores.second.isTokenRevoked(tokenId), false)
    const outcomes = await race(
      stores,
      'revokeToken',
      times(10, () => ({ tokenId, expiresAt: at(HOUR) })),
    )
    assert.deepEqual(tally(outcomes), { revoked: 1, known: 9 })
    for (const store of [stores.first, stores.second]) assert.equal(await store.isTokenRevoked(tokenId), true)
    assert.equal(await stores.first.isTokenRevoked(aHash()), false)
  })

  check('two revocations of one token in one batch: the first returns revoked', async ({ first }) => {
    const revocation = { tokenId: aHash(), expiresAt: at(HOUR) }
    assert.deepEqual(await performAll(first, 'revokeToken', [revocation, revocation]), ['revoked', 'known'])
  })

  check(
    'STO-13: a sweep removes a revocation by its token’s own expiry, not by the time of other rows',
    async ({ first }) => {
      const [over, live] = [aHash(), aHash()]
      await performAll(first, 'revokeToken', [
        { tokenId: over, expiresAt: at(-1) },
        { tokenId: live, expiresAt: at(HOUR) },
      ])
      assert.equal((await perform(first, 'sweepExpired', aSweep({ revocationsBefore: at(-1) }))).revokedTokens, 0)
      assert.equal((await perform(first, 'sweepExpired', aSweep())).revokedTokens, 1)
      assert.equal(await first.isTokenRevoked(over), false)
      assert.equal(await first.isTokenRevoked(live), true)
    },
  )

  check('setApiCredentials replaces the credentials of an API', async ({ first, second }) => {
    const api = anApi()
    await perform(first, 'declareApi', api)
    for (const credentials of times(2, () => ({ id: aHash() as never, secretHash: aHash() }))) {
      assert.equal(await perform(first, 'setApiCredentials', { resource: api.resource, credentials }), 'changed')
      assert.deepEqual(await second.listApis(), [{ ...api, credentials }])
    }
    const credentials = { id: aHash() as never, secretHash: aHash() }
    assert.equal(await perform(first, 'setApiCredentials', { resource: anApi().resource, credentials }), 'unknown')
  })
}
