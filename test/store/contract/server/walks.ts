import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Walk } from '../../../../src/ports/walks.ts'
import { firstUserId, mintUserId } from '../../../../src/protocol/ids.ts'
import { IMPORTED } from '../../../../src/protocol/sign-in/account.ts'
import { perform, performAll, type Suite } from '../harness.ts'
import { aClient, aFamily, at, aUser, HOUR, MINUTE, NOW } from '../../../support/records.ts'
import { aLiveGrant } from '../token/tokens.ts'

export const walkCases: Suite = (check) => {
  check('a walk over an empty store ends at once', async ({ first }) => {
    assert.deepEqual(await first.walkGrants(aWalk()), { next: '', live: 0, over: 0 })
    assert.deepEqual(await first.walkClients(aWalk()), { next: '', disabled: 0, used: 0, unused: 0 })
  })

  check(
    'a walk counts live grants separately from those that are revoked, expired or idle for too long',
    async ({ first }) => {
      await aLiveGrant(first)
      await aLiveGrant(first, { family: undefined })
      await aLiveGrant(first, { expiresAt: at(-1) })
      await aLiveGrant(first, { family: aFamily({ idleExpiresAt: at(-1) }) })
      const revoked = await aLiveGrant(first)
      await perform(first, 'revokeGrant', { id: revoked.id, now: NOW })
      assert.deepEqual(await first.walkGrants(aWalk()), { next: '', live: 2, over: 3 })
    },
  )

  check('a walk counts disabled, used and unused clients, each once', async ({ first }) => {
    const clients = [aClient(), aClient(), aClient(), aClient()]
    await performAll(first, 'registerClient', clients)
    const [used, disabled, both] = clients.map(({ id }) => ({ id, now: NOW }))
    assert.ok(used !== undefined && disabled !== undefined && both !== undefined)
    await performAll(first, 'useClient', [used, both])
    await performAll(first, 'disableClient', [disabled, both])
    assert.deepEqual(await first.walkClients(aWalk()), { next: '', disabled: 2, used: 1, unused: 1 })
  })

  check(
    'a walk counts disabled, used and unused users, each once, and those between the marks of the index',
    async (stores) => {
      const { first } = stores
      assert.deepEqual(await first.walkUsers(aWalk()), { next: '', disabled: 0, used: 0, unused: 0, indexed: 0 })
      const times = [undefined, IMPORTED, NOW, NOW]
      const users = times.map((firstSignedInAt, index) =>
        aUser({ id: mintUserId(at(index * MINUTE), randomBytes), firstSignedInAt }),
      )
      await performAll(first, 'createUser', users)
      await perform(first, 'disableUser', { id: users[3]?.id ?? mintUserId(NOW, randomBytes), now: NOW })
      const counts = { disabled: 1, used: 1, unused: 2 }
      assert.deepEqual(await first.walkUsers(aWalk()), { next: '', ...counts, indexed: 0 })
      const turn = { until: firstUserId(at(4 * MINUTE)), limit: 2 }
      const { reached } = await perform(first, 'indexUsers', { ...turn, reached: undefined })
      await perform(first, 'indexUsers', { ...turn, limit: 0, reached })
      assert.deepEqual(await first.walkUsers(aWalk()), { next: '', ...counts, indexed: 2 })
      assert.deepEqual((await first.walkUsers(aWalk({ limit: 2 }))).next, users[1]?.id)
    },
  )

  check('consecutive slices count each row once', async ({ first }) => {
    await performAll(
      first,
      'registerClient',
      [-3, -2, -1, 0, 1].map((hours) => aClient({}, at(hours * HOUR))),
    )
    const seen: number[] = []
    let after = ''
    do {
      const slice = await first.walkClients(aWalk({ after, limit: 2 }))
      seen.push(slice.unused)
      after = slice.next
    } while (after !== '')
    assert.deepEqual(seen, [2, 2, 1])
  })

  check('a full last slice is followed by an empty one', async ({ first }) => {
    const grants = [await aLiveGrant(first), await aLiveGrant(first)]
    const last = grants.map(({ id }) => id).toSorted()[1]
    const slice = await first.walkGrants(aWalk({ limit: 2 }))
    assert.deepEqual(slice, { next: last, live: 2, over: 0 })
    assert.deepEqual(await first.walkGrants(aWalk({ limit: 2, after: slice.next })), { next: '', live: 0, over: 0 })
  })
}

function aWalk(differing: Partial<Walk> = {}): Walk {
  return { after: '', limit: 100, now: NOW, ...differing }
}
