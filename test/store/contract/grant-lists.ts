import assert from 'node:assert/strict'
import type { GrantRecord } from '../../../src/ports/records/grant.ts'
import type { GrantFilter, StoreDriver } from '../../../src/ports/store.ts'
import { approved } from './authorizations.ts'
import { perform, performAll, times, type Suite } from './harness.ts'
import { aGrant, anOrganization, aRedemption, at } from '../../support/records.ts'

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
        [undefined, here].map((organizationId) => ({ userId, clientId, organizationId })),
      ),
    )
    const sizes: number[] = []
    for (const filter of filters) {
      const expected = grants.filter((grant) => fits(grant, filter)).toReversed()
      assert.deepEqual(await second.listGrants({ before: undefined, limit: 50, ...filter }), expected)
      sizes.push(expected.length)
    }
    assert.deepEqual(sizes, [12, 4, 6, 2, 6, 2, 3, 1])
  })

  check('listGrants pages by id, `before` exclusive, with every filter', async ({ first }) => {
    const { userId, clientId } = aGrant()
    const organizationId = anOrganization().id
    const own = times(5, () => ({ userId, clientId, organizationId }))
    const expected = (await redeemed(first, own)).toReversed()
    for (const filter of [{ userId }, { clientId }, { organizationId }, { userId, clientId, organizationId }]) {
      const page = await first.listGrants({ before: undefined, limit: 2, ...filter })
      assert.deepEqual(page, expected.slice(0, 2))
      const next = await first.listGrants({ before: page[1]?.id, limit: 50, ...filter })
      assert.deepEqual(next, expected.slice(2))
      assert.deepEqual(await first.listGrants({ before: next.at(-1)?.id, limit: 50, ...filter }), [])
    }
  })

  check('listGrants includes revoked grants, and returns none for a user without grants', async ({ first }) => {
    const [grant] = await redeemed(first, [{}])
    assert.ok(grant)
    await perform(first, 'revokeGrant', { id: grant.id, now: at(9) })
    const { userId } = grant
    const listed = await first.listGrants({ before: undefined, limit: 5, userId })
    assert.deepEqual(listed, [{ ...grant, revokedAt: at(9) }])
    const nobody = aGrant()
    for (const filter of [
      { userId: nobody.userId },
      { clientId: nobody.clientId },
      { userId, clientId: nobody.clientId },
    ])
      assert.deepEqual(await first.listGrants({ before: undefined, limit: 5, ...filter }), [])
  })
}

/** Creates grants, each a millisecond after the previous one. */
async function redeemed(store: StoreDriver, some: readonly Partial<GrantRecord>[]): Promise<readonly GrantRecord[]> {
  const grants = some.map((differing, index) => aGrant(differing, at(index)))
  const redemptions = await Promise.all(
    grants.map(async (grant) => aRedemption((await approved(store)).approval, { grant })),
  )
  await performAll(store, 'redeemCode', redemptions)
  return grants
}

function fits(grant: GrantRecord, { userId, clientId, organizationId }: GrantFilter): boolean {
  return (
    (userId === undefined || grant.userId === userId) &&
    (clientId === undefined || grant.clientId === clientId) &&
    (organizationId === undefined || grant.organizationId === organizationId)
  )
}
