import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { GrantRecord } from '../../../src/ports/records/grant.ts'
import { mintOrderedId, type AuthorizationId, type ClientId, type GrantId } from '../../../src/protocol/ids.ts'
import { slotOf } from '../../../src/store/sqlite/slot.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { approved } from '../contract/token/authorizations.ts'
import { perform, performAll } from '../contract/harness.ts'
import {
  aClient,
  aGrant,
  anAuthorization,
  aRedemption,
  aRotation,
  aSharedClient,
  at,
  NOW,
} from '../../support/records.ts'
import { temporaryFolder } from '../../support/server.ts'

/** The row numbers on SQLite: made of the id or, if that number is taken, any other. */

/** Ids of one millisecond whose first random characters are equal. */
const COLLIDING = ['A', 'B', 'C'].map((letter) => mintOrderedId(NOW, () => Buffer.alloc(16)).slice(0, -1) + letter)

test('rows whose ids give the same number are each found and changed', async (t) => {
  const { store } = openStore(t)
  assert.equal(new Set(COLLIDING.map(slotOf)).size, 1)
  const [one, two, three] = COLLIDING.map((id) => `gci_${id}` as ClientId)
  const clients = [aClient({ id: one as ClientId }), aClient({ id: two as ClientId })]
  assert.deepEqual(await performAll(store, 'registerClient', clients), ['registered', 'registered'])
  const shared = aSharedClient({ id: three as ClientId })
  await perform(store, 'registerPublicClient', { client: shared, retainUntil: at(1) })
  for (const client of [...clients, shared]) assert.deepEqual(await store.findClient(client.id), client)

  const grants: GrantRecord[] = []
  for (const id of COLLIDING) {
    const { approval } = await approved(store, {}, anAuthorization({ id: id as AuthorizationId }))
    const redemption = aRedemption(approval)
    assert.equal(await perform(store, 'redeemCode', redemption), 'redeemed')
    grants.push(redemption.grant)
  }
  for (const grant of grants) assert.deepEqual(await store.findGrant(grant.id), grant)
  for (const grant of grants) {
    const rotation = aRotation(grant)
    assert.deepEqual(await perform(store, 'rotateRefreshToken', rotation), { kind: 'rotated', rotatedAt: rotation.now })
    assert.equal((await store.findGrant(grant.id))?.family?.liveHash, rotation.successorHash)
    // Presenting the same token again at once is a retry, and much later it is reuse.
    assert.equal((await perform(store, 'rotateRefreshToken', rotation)).kind, 'repeated')
    const late = { ...rotation, now: at(60_000) }
    assert.equal((await perform(store, 'rotateRefreshToken', late)).kind, 'reused')
    assert.equal((await store.findGrant(grant.id))?.revokedAt, late.now)
  }
})

test('a text that is not an id finds nothing', async (t) => {
  const { store } = openStore(t)
  await perform(store, 'registerClient', aClient())
  for (const text of ['', 'x', 'gci_', '~'.repeat(34), 'gci_zzzzzzzzzzzzAAAAAAAAAAAAAAAAAAAAAA', 'f'.repeat(5000)]) {
    assert.equal(await store.findClient(text as ClientId), undefined, text)
    assert.equal(await store.findGrant(text as GrantId), undefined, text)
    const rotation = aRotation(aGrant({ id: text as GrantId }))
    assert.equal((await perform(store, 'rotateRefreshToken', rotation)).kind, 'inactive', text)
  }
})

function aFolder(t: TestContext) {
  const path = join(temporaryFolder(t), 'grantor.db')
  return { path, open: () => openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline' }) }
}

function openStore(t: TestContext) {
  const store = aFolder(t).open()
  t.after(() => store.close())
  return { store }
}
