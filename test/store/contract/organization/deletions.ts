import assert from 'node:assert/strict'
import { NEVER_REVOKED } from '../never-revoked.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { approved } from '../token/authorizations.ts'
import { perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import {
  aClient,
  aGrant,
  aHash,
  aMembership,
  anInstallation,
  aSession,
  aSessionStart,
  aUser,
  at,
  NOW,
} from '../../../support/records.ts'
import { aLiveGrant } from '../token/tokens.ts'

const EVER = 0 as EpochMs

/** Operations that delete a user or a client, or revoke all tokens of the server. */
export const deletionCases: Suite = (check) => {
  check(
    'deleteUser removes the user’s sessions, memberships, browsers and consents, and nothing of other users',
    async (stores) => {
      const { first, second } = stores
      const [gone, kept] = [await aUserWithEverything(first), await aUserWithEverything(first)]
      assert.deepEqual(await traces(second, gone), { sessions: 2, memberships: 2, browser: true, consent: true })
      assert.equal(await perform(first, 'deleteUser', { id: gone.user.id }), 'deleted')
      assert.equal(await first.findUser(gone.user.id), undefined)
      assert.equal(await first.findUserByEmail(gone.user.email), undefined)
      assert.deepEqual(await traces(first, gone), { sessions: 0, memberships: 0, browser: false, consent: false })
      assert.deepEqual(await traces(first, kept), { sessions: 2, memberships: 2, browser: true, consent: true })
      assert.deepEqual(await first.findUser(kept.user.id), kept.user)
    },
  )

  check('deleteClient removes the client’s installations and no others', async ({ first, second }) => {
    const [gone, kept] = [aClient(), aClient()]
    await performAll(first, 'registerClient', [gone, kept])
    const installations = [gone, gone, kept].map(({ id }) => anInstallation({ clientId: id }))
    await performAll(first, 'install', installations)
    for (const store of [first, second]) await Promise.all(installations.map(store.findInstallation))
    assert.deepEqual(await performAll(first, 'deleteClient', [gone.id, aClient().id]), ['deleted', 'unknown'])
    assert.deepEqual(await Promise.all(installations.map(first.findInstallation)), [
      undefined,
      undefined,
      installations[2],
    ])
    for (const { organizationId } of installations.slice(0, 2)) {
      assert.deepEqual(await second.listInstallations({ organizationId, before: undefined, limit: 10 }), [])
    }
  })

  check('deleteUser revokes the grants, and keeps them as a record of what was issued', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    const grant = await aLiveGrant(first, aGrant({ userId: user.id }))
    await perform(first, 'deleteUser', { id: user.id })
    assert.deepEqual(await first.findGrant(grant.id), { ...grant, revokedAt: grant.createdAt })
  })

  check('of concurrent deletions of one user exactly one succeeds, and the email is free again', async (stores) => {
    const user = aUser()
    await perform(stores.first, 'createUser', user)
    const outcomes = await race(
      stores,
      'deleteUser',
      times(10, () => ({ id: user.id })),
    )
    assert.deepEqual(tally(outcomes), { deleted: 1, unknown: 9 })
    const next = aUser({ email: user.email })
    assert.equal(await perform(stores.second, 'createUser', next), 'created')
    assert.deepEqual(await stores.first.findUserByEmail(user.email), next)
  })

  check('a user who is deleted between two changes of one batch is unknown to the second', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    const results = await first.commit([
      { name: 'disableUser', input: { id: user.id, now: at(1) } },
      { name: 'deleteUser', input: { id: user.id } },
      { name: 'enableUser', input: { id: user.id, now: at(2) } },
      { name: 'deleteUser', input: { id: user.id } },
    ])
    assert.deepEqual(
      results.map((result) => result.kind === 'done' && result.outcome),
      ['changed', 'deleted', 'unknown', 'unknown'],
    )
  })

  check('without revokeAllTokens the server has no not-before time', async ({ first }) => {
    assert.equal(await first.findNotBefore(), 0)
  })

  check('of several not-before times of the server the latest is kept', async (stores) => {
    const moments = times(20, (index) => ({ now: at(((index * 7) % 20) + 1) }))
    assert.deepEqual(tally(await race(stores, 'revokeAllTokens', moments)), { expired: 20 })
    const raced = await stores.first.findNotBefore()
    assert.ok(raced >= at(20) && raced < at(40), 'each one moves it, by a millisecond if it is later already')
    assert.equal(await stores.second.findNotBefore(), raced)
    await performAll(stores.first, 'revokeAllTokens', [{ now: NOW }, { now: at(50) }, { now: at(45) }])
    assert.equal(await stores.second.findNotBefore(), at(51))
    // The values are compared as numbers, not as texts.
    await perform(stores.first, 'revokeAllTokens', { now: 9_000_000 as EpochMs })
    assert.equal(await stores.second.findNotBefore(), at(52))
    await perform(stores.first, 'revokeAllTokens', { now: 10_000_000_000_000 as EpochMs })
    assert.equal(await stores.second.findNotBefore(), 10_000_000_000_000)
  })
}

interface Traced {
  readonly user: ReturnType<typeof aUser>
  readonly sessions: readonly ReturnType<typeof aSession>[]
  readonly browserHash: ReturnType<typeof aHash>
  readonly clientId: ReturnType<typeof aGrant>['clientId']
}

async function aUserWithEverything(store: StoreDriver): Promise<Traced> {
  const [user, browserHash] = [aUser(), aHash()]
  await perform(store, 'createUser', user)
  const sessions = times(2, () => aSession({ userId: user.id }))
  await startSessions(store, ...sessions.map((session) => aSessionStart({ session, browserHash })))
  await performAll(
    store,
    'addMember',
    times(2, () => aMembership({ userId: user.id })),
  )
  const { clientId } = aGrant()
  const key = { userId: user.id, clientId, organizationId: undefined, redirectHost: 'app.example', resources: '' }
  await approved(store, {
    userId: user.id,
    remember: { ...key, since: EVER, under: NEVER_REVOKED, scope: 'read' as never },
  })
  return { user, sessions, browserHash, clientId }
}

/** The rows that the store still has for a user. */
async function traces(store: StoreDriver, { user, sessions, browserHash, clientId }: Traced) {
  const found = await Promise.all(sessions.map(({ id }) => store.findSession(id)))
  return {
    sessions: found.filter((session) => session !== undefined).length,
    memberships: (await store.listMemberships(user.id)).length,
    browser: await store.knowsBrowser(user.id, browserHash),
    consent: await store.hasConsented({
      userId: user.id,
      clientId,
      redirectHost: 'app.example',
      since: EVER,
      under: NEVER_REVOKED,
    }),
  }
}
