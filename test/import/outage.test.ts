import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { StoreUnavailable } from '../../src/ports/store.ts'
import { chosenClientId } from '../../src/protocol/client/identifier.ts'
import { matchesSecretHash } from '../../src/protocol/client/authentication.ts'
import type { ClientId, UserId } from '../../src/protocol/ids.ts'
import { base32 } from '../../src/protocol/sign-in/totp.ts'
import { openChaosProxy } from '../support/store/chaos-proxy.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openNode } from '../support/store/postgres-node.ts'
import { temporaryFolder } from '../support/server.ts'
import { aUserLine, importFile, outcomesOf, writeRecords } from './importing.ts'

const file = { after: (end: unknown): void => after(end as () => unknown) }
const proxy = await openChaosProxy(file, await openMigratedDatabase(file))
const server = await openNode(file, proxy.url)
const { store, secrets } = server.context
const patient = { patienceMs: 60_000 }

/** A file of each kind of record. */
function filesOf(name: string): readonly (readonly object[])[] {
  const totp = { secret: base32(Buffer.from('a secret of an app, 24 b')) }
  return [
    [{ type: 'organization', id: name, name: 'Acme' }],
    [aUserLine(`${name}-1`, { organizations: [name] }), aUserLine(`${name}-2`, { totp })],
  ]
}

for (const [when, outcome] of [
  ['before', 'created'],
  ['after', 'same'],
] as const) {
  test(`IMP-06: records whose connection is cut ${when} the commit are stored once, and are reported as ${outcome}`, async (t) => {
    for (const records of filesOf(`cut-${when}`)) {
      const path = writeRecords(t, records)
      const happened = proxy.cutAtCommit(when)
      const { report } = await importFile(t, server, path, patient)
      await happened
      assert.deepEqual(new Set(report.map((one) => one.outcome)), new Set([outcome]))
      const again = await importFile(t, server, path)
      assert.deepEqual(new Set(again.report.map((one) => one.outcome)), new Set(['same']))
    }
  })

  test(`a client whose connection is cut ${when} the commit has the secret that the file of secrets has`, async (t) => {
    const name = `app-${when}`
    const record = { type: 'client', client_id: name, client_name: 'Board', client_secret: 'guess', redirect_uris: [] }
    const kept = join(temporaryFolder(t), 'secrets')
    const happened = proxy.cutAtCommit(when)
    const imported = await importFile(t, server, writeRecords(t, [record]), { ...patient, secrets: kept })
    await happened
    assert.deepEqual(outcomesOf(imported), [`${outcome} secret_guessable`])
    const client = await store.findClient(chosenClientId(name) as ClientId)
    const { client_secret: secret } = JSON.parse(readFileSync(kept, 'utf8')) as { readonly client_secret: string }
    assert.ok(client?.secretHash !== undefined && matchesSecretHash(secrets, client.id, secret, client.secretHash))
  })
}

test('an import waits while the database refuses connections, says so once, and stores everything', async (t) => {
  const records = Array.from({ length: 150 }, (_, index) => aUserLine(`waits-${index}`))
  const outages: unknown[] = []
  await proxy.refuse()
  const imported = await importFile(t, server, writeRecords(t, records), {
    ...patient,
    onOutage(cause) {
      outages.push(cause?.constructor)
      if (cause !== undefined) void proxy.accept()
    },
  })
  assert.deepEqual(imported.counts.kinds.user, { created: 150 })
  assert.deepEqual(outages, [StoreUnavailable, undefined])
})

test('an import ends if the database is away for too long, and the same command completes it', async (t) => {
  const records = Array.from({ length: 150 }, (_, index) => aUserLine(`ends-${index}`))
  const path = writeRecords(t, records)
  await proxy.refuse()
  await assert.rejects(importFile(t, server, path), StoreUnavailable)
  await proxy.accept()
  assert.equal(await store.findUser('ends-0' as UserId), undefined)
  assert.deepEqual((await importFile(t, server, path)).counts.kinds.user, { created: 150 })
})
