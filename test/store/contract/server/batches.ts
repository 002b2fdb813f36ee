import assert from 'node:assert/strict'
import type { Operation } from '../../../../src/ports/operations/index.ts'
import { approved } from '../token/authorizations.ts'
import { assertFailed, kindsOf, outcomesOf, perform, startSessions, times, type Suite } from '../harness.ts'
import {
  aClient,
  aHash,
  aRedemption,
  aRotation,
  aSession,
  aSessionStart,
  anAuthorization,
  aUser,
  at,
  NOW,
} from '../../../support/records.ts'

export const batchCases: Suite = (check) => {
  check('an empty batch has no results', async ({ first }) => {
    assert.deepEqual(await first.commit([]), [])
  })

  check('a batch returns its results in order, whatever the kinds of its operations', async ({ first }) => {
    const [client, user] = [aClient(), aUser()]
    const outcomes = outcomesOf(
      await first.commit([
        { name: 'useClient', input: { id: client.id, now: NOW } },
        { name: 'registerClient', input: client },
        { name: 'createUser', input: user },
        { name: 'useClient', input: { id: client.id, now: NOW } },
        { name: 'createUser', input: aUser({ email: user.email }) },
        { name: 'deleteClient', input: client.id },
        { name: 'useClient', input: { id: client.id, now: NOW } },
      ]),
    )
    assert.deepEqual(outcomes, ['unknown', 'registered', 'created', 'used', 'email-taken', 'deleted', 'unknown'])
  })

  check('a code can be approved, redeemed and its token refreshed twice in one batch', async ({ first }) => {
    const authorization = anAuthorization()
    const approval = {
      id: authorization.id,
      userId: aUser().id,
      organizationId: undefined,
      codeHash: aHash(),
      now: NOW,
      codeExpiresAt: at(1000),
      decided: undefined,
      remember: undefined,
      session: undefined,
      notified: undefined,
    }
    const redemption = aRedemption(approval)
    const rotation = aRotation(redemption.grant)
    const next = { ...rotation, generation: 1, presentedHash: rotation.successorHash, successorHash: aHash() }
    const outcomes = outcomesOf(
      await first.commit([
        { name: 'startAuthorization', input: authorization },
        { name: 'approveAuthorization', input: approval },
        { name: 'redeemCode', input: redemption },
        { name: 'rotateRefreshToken', input: rotation },
        { name: 'rotateRefreshToken', input: next },
        { name: 'rotateRefreshToken', input: next },
      ]),
    )
    const rotatedAt = rotation.now
    assert.deepEqual(outcomes, [
      'started',
      'approved',
      'redeemed',
      { kind: 'rotated', rotatedAt },
      { kind: 'rotated', rotatedAt },
      { kind: 'repeated', rotatedAt },
    ])
  })

  check('an operation that changes nothing does not affect its neighbours', async ({ first }) => {
    const { approval } = await approved(first)
    const [clients, redemption] = [times(2, () => aClient()), aRedemption(approval)]
    const operations: Operation[] = [
      { name: 'registerClient', input: clients[0] as never },
      { name: 'redeemCode', input: { ...aRedemption(approval), codeHash: aHash() } },
      { name: 'redeemCode', input: redemption },
      { name: 'deleteClient', input: aClient().id },
      { name: 'registerClient', input: clients[1] as never },
    ]
    const outcomes = outcomesOf(await first.commit(operations))
    assert.deepEqual(outcomes, ['registered', 'unknown', 'redeemed', 'unknown', 'registered'])
    for (const client of clients) assert.deepEqual(await first.findClient(client.id), client)
  })

  check('an operation that the database rejects fails alone', async ({ first, second }) => {
    const existing = aClient()
    await perform(first, 'registerClient', existing)
    const { approval } = await approved(first)
    const [before, after, redemption] = [aClient(), aClient(), aRedemption(approval)]
    const results = await first.commit([
      { name: 'registerClient', input: before },
      { name: 'registerClient', input: { ...existing, secretHash: aHash() } },
      { name: 'redeemCode', input: redemption },
      { name: 'registerClient', input: { ...existing, secretHash: undefined } },
      { name: 'registerClient', input: after },
    ])
    assert.deepEqual(kindsOf(results), ['done', 'failed', 'done', 'failed', 'done'])
    assert.deepEqual(await second.findClient(existing.id), existing)
    assert.deepEqual(await second.findClient(before.id), before)
    assert.deepEqual(await second.findClient(after.id), after)
    assert.deepEqual(await second.findGrant(redemption.grant.id), redemption.grant)
  })

  check('a text that not every store can hold is stored unchanged or rejected alone', async ({ first, second }) => {
    const [before, after] = [aClient(), aClient()]
    const odd = aUser({ name: 'a\0b' })
    const results = await first.commit([
      { name: 'registerClient', input: before },
      { name: 'createUser', input: odd },
      { name: 'registerClient', input: after },
    ])
    const [one, kept, other] = kindsOf(results)
    assert.deepEqual([one, other], ['done', 'done'])
    assert.deepEqual(await second.findUser(odd.id), kept === 'done' ? odd : undefined)
    for (const client of [before, after]) assert.deepEqual(await second.findClient(client.id), client)
  })

  check('the neighbours of a rejected operation are applied once', async ({ first }) => {
    const existing = aClient()
    await perform(first, 'registerClient', existing)
    const hit = { bucket: aHash(), now: NOW, windowMs: 60_000, by: 1 }
    const results = await first.commit([
      { name: 'countHit', input: hit },
      { name: 'registerClient', input: existing },
      { name: 'countHit', input: hit },
    ])
    assert.deepEqual(kindsOf(results), ['done', 'failed', 'done'])
    assert.equal((await perform(first, 'countHit', hit)).count, 3)
  })

  check('an operation of several statements that the database rejects changes nothing', async ({ first }) => {
    const session = aSession()
    await startSessions(first, aSessionStart({ session }))
    const browserHash = aHash()
    const [result] = await first.commit([{ name: 'startSession', input: aSessionStart({ session, browserHash }) }])
    assertFailed(result)
    assert.equal(await first.knowsBrowser(session.userId, browserHash), false)
  })

  check('a handle remains usable after a rejected batch', async ({ first }) => {
    const client = aClient()
    await perform(first, 'registerClient', client)
    assertFailed((await first.commit([{ name: 'registerClient', input: client }]))[0])
    const next = aClient()
    assert.equal(await perform(first, 'registerClient', next), 'registered')
    assert.deepEqual(await first.findClient(next.id), next)
  })

  check('concurrent batches through both handles lose nothing', async ({ first, second }) => {
    const batches = times(20, () => times(5, () => aClient()))
    await Promise.all(
      batches.map(async (clients, index) =>
        outcomesOf(
          await (index % 2 === 0 ? first : second).commit(
            clients.map((input) => ({ name: 'registerClient', input }) as const),
          ),
        ),
      ),
    )
    const found = await first.listClients({ before: undefined, limit: 1000 })
    assert.deepEqual(new Set(found.map(({ id }) => id)), new Set(batches.flat().map(({ id }) => id)))
  })
}
