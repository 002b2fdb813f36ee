import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Operation } from '../../src/ports/operations/index.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { outcomesOf, perform, type Stores } from './contract/harness.ts'
import { aMembership, anInstallation, anOrganization, at } from '../support/records.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { temporaryFolder } from '../support/server.ts'

/** One node's cached records of an organization, its members and its installations, while another node changes them. */

test('sqlite: another process’s change of an organization is visible in the next turn', async (t) => {
  const options = { path: join(temporaryFolder(t), 'grantor.db'), patienceMs: 10_000, checkpoints: 'inline' } as const
  const stores = { first: openSqliteStore(options), second: openSqliteStore(options) }
  t.after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
  await checkKept(stores, () => nextTurn())
})

test('postgres: another node’s change of an organization is visible within a second', async (t) => {
  const options = { url: await openMigratedDatabase(t), connections: 2 }
  const stores = { first: await openPostgresStore(options), second: await openPostgresStore(options) }
  t.after(async () => void (await Promise.all([stores.first.close(), stores.second.close()])))
  await checkKept(stores, () => delay(1000))
})

async function checkKept({ first, second }: Stores, untilSeen: () => Promise<void>): Promise<void> {
  const [organization, dying] = [anOrganization(), anOrganization()]
  const member = aMembership({ organizationId: organization.id })
  const orphan = aMembership({ organizationId: dying.id })
  const installation = anInstallation({ organizationId: organization.id })
  for (const one of [organization, dying]) await perform(first, 'createOrganization', one)
  for (const one of [member, orphan]) await perform(first, 'addMember', one)
  await perform(first, 'install', installation)
  const readAll = (store: typeof first) =>
    Promise.all([
      store.findOrganization(organization.id),
      store.findMembership(member),
      store.findInstallation(installation),
      store.findOrganization(dying.id),
      store.findMembership(orphan),
    ])
  await untilSeen()
  for (const store of [first, second])
    assert.deepEqual(await readAll(store), [organization, member, installation, dying, orphan])

  const changes: readonly Operation[] = [
    { name: 'disableOrganization', input: { id: organization.id, now: at(1) } },
    { name: 'disableMember', input: { ...member, now: at(2) } },
    { name: 'install', input: { ...installation, actsForMembers: true, notBefore: at(3) } },
    { name: 'deleteOrganization', input: { id: dying.id, now: at(4) } },
  ]
  assert.deepEqual(outcomesOf(await first.commit(changes)), ['changed', 'changed', 'replaced', 'deleted'])
  const changed = [
    { ...organization, disabledAt: at(1), notBefore: at(1) },
    { ...member, disabledAt: at(2), notBefore: at(2) },
    { ...installation, actsForMembers: true, notBefore: at(3) },
    undefined,
    undefined,
  ]
  assert.deepEqual(await readAll(first), changed)
  await untilSeen()
  assert.deepEqual(await readAll(second), changed)
}
