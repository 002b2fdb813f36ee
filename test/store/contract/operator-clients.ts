import assert from 'node:assert/strict'
import type { EpochMs } from '../../../src/protocol/brand.ts'
import type { Scope } from '../../../src/protocol/scope.ts'
import { perform, performAll, times, type Suite } from './harness.ts'
import { aSweep } from './sweep.ts'
import { aClient, aHash, at, HOUR } from '../../support/records.ts'

export const operatorClientCases: Suite = (check) => {
  check('createClient stores all members of the client, visible through both handles', async ({ first, second }) => {
    const plain = aClient({ source: 'operator', managementHash: undefined, verifiedAt: at(1) })
    const firstParty = aClient({
      source: 'operator',
      rules: { consent: 'implied' },
      approvedScope: 'admin' as Scope,
      previousSecret: { hash: aHash(), until: at(2) },
      usedAt: at(3),
      disabledAt: at(4),
      identityFrom: at(5),
      notBefore: at(6),
      lastUsedAt: at(7),
    })
    const url = 'https://app.example/client.json'
    const document = { url, fetchedAt: at(1), freshUntil: at(HOUR), etag: '"a \'tag\'"' }
    const documented = aClient({ source: 'document', secretHash: undefined, managementHash: undefined, document })
    const untagged = aClient({ source: 'document', document: { ...document, etag: undefined } })
    const clients = [plain, firstParty, documented, untagged]
    assert.deepEqual(
      await performAll(first, 'createClient', clients),
      clients.map(() => 'created'),
    )
    for (const client of clients) {
      assert.deepEqual(await first.findClient(client.id), client)
      assert.deepEqual(await second.findClient(client.id), client)
    }
    assert.deepEqual(await second.listClients({ before: undefined, limit: 4 }), byNewest(clients))
  })

  check('a created client is never swept, whether or not it is held for an authorization', async ({ first }) => {
    const old = at(-2000 * HOUR)
    const clients = times(2, () => aClient({ source: 'operator' }, old))
    const registered = aClient({}, old)
    await performAll(first, 'createClient', clients)
    await perform(first, 'registerClient', registered)
    await perform(first, 'extendRetention', { id: clients[0]?.id ?? registered.id, until: at(-HOUR) })
    const { clients: swept } = await perform(first, 'sweepExpired', aSweep({ now: (Date.now() * 2) as EpochMs }))
    assert.equal(swept, 1)
    for (const client of clients) assert.deepEqual(await first.findClient(client.id), client)
    assert.equal(await first.findClient(registered.id), undefined)
  })
}

function byNewest<Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => (one.id < other.id ? 1 : -1))
}
