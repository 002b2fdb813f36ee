import assert from 'node:assert/strict'
import type { DocumentClient, DocumentRenewal } from '../../../../src/ports/operations/client.ts'
import type { ClientRecord } from '../../../../src/ports/records/client.ts'
import { documentClientId } from '../../../../src/protocol/client/identifier.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aSweep } from '../server/sweep.ts'
import { aClient, at, HOUR, NOW } from '../../../support/records.ts'

const URL_OF_ONE = 'https://app.example/client.json'
const client = aDocumentClient(URL_OF_ONE, { identityFrom: at(0), notBefore: at(0) })
const { id, document, metadata } = client
const RENEWAL: DocumentRenewal = {
  id,
  previous: { metadata, fetchedAt: document.fetchedAt },
  metadata,
  document: { fetchedAt: at(HOUR), freshUntil: at(2 * HOUR) },
  identityFrom: undefined,
  notBefore: undefined,
}

export const documentClientCases: Suite = (check) => {
  check('addDocumentClient stores all members of the client, visible through both handles', async (stores) => {
    const { first, second } = stores
    const other = aDocumentClient('https://app.example/other.json', { usedAt: at(1) })
    assert.equal(await perform(first, 'addDocumentClient', { client, retainUntil: at(1) }), 'added')
    assert.equal(await perform(second, 'addDocumentClient', { client: other, retainUntil: at(1) }), 'added')
    for (const store of [first, second])
      for (const one of [client, other]) assert.deepEqual(await store.findClient(one.id), one)
  })

  check('addDocumentClient: of concurrent callers one adds the client', async (stores) => {
    const inputs = times(20, (index) => ({ client: { ...client, verifiedAt: at(index) }, retainUntil: at(1) }))
    assert.deepEqual(tally(await race(stores, 'addDocumentClient', inputs)), { added: 1, known: 19 })
    assert.deepEqual(tally(await performAll(stores.first, 'addDocumentClient', inputs)), { known: 20 })
    const page = { before: undefined, limit: 10 }
    assert.equal((await stores.second.listClients(page)).length, 1)
  })

  check('renewDocument replaces the metadata and the document, and nothing else', async ({ first, second }) => {
    await perform(first, 'addDocumentClient', { client, retainUntil: at(1) })
    await perform(first, 'verifyClient', { id, now: at(1) })
    await perform(first, 'approveClientScope', { id, scope: 'admin' as Scope })
    const changed = { ...metadata, scope: 'read' as Scope }
    assert.equal(await perform(second, 'renewDocument', { ...RENEWAL, metadata: changed }), 'renewed')
    assert.deepEqual(await second.findClient(id), {
      ...client,
      metadata: changed,
      document: { url: URL_OF_ONE, ...RENEWAL.document },
      verifiedAt: at(1),
      approvedScope: 'admin',
    })
  })

  check('renewDocument with another identity clears the verification and the approved scopes', async ({ first }) => {
    await perform(first, 'addDocumentClient', { client, retainUntil: at(1) })
    await perform(first, 'verifyClient', { id, now: at(1) })
    await perform(first, 'approveClientScope', { id, scope: 'admin' as Scope })
    await perform(first, 'renewDocument', { ...RENEWAL, identityFrom: at(2) })
    const { verifiedAt, approvedScope, identityFrom, notBefore } = (await first.findClient(id)) ?? client
    assert.deepEqual([verifiedAt, approvedScope, identityFrom, notBefore], [undefined, '', at(2), at(0)])
  })

  check('renewDocument revokes the tokens of a client that no longer authenticates', async ({ first }) => {
    await perform(first, 'addDocumentClient', { client, retainUntil: at(1) })
    await perform(first, 'renewDocument', { ...RENEWAL, notBefore: at(5) })
    assert.equal((await first.findClient(id))?.notBefore, at(5))
    const again = { ...RENEWAL, previous: { metadata, fetchedAt: at(HOUR) }, notBefore: at(4) }
    assert.equal(await perform(first, 'renewDocument', again), 'renewed')
    assert.equal((await first.findClient(id))?.notBefore, at(5), 'the later time stays')
  })

  check(
    'renewDocument: of concurrent callers with one copy one renews it, and the others change nothing',
    async (stores) => {
      await perform(stores.first, 'addDocumentClient', { client, retainUntil: at(1) })
      const renewals = times(20, (index) => ({
        ...RENEWAL,
        document: { fetchedAt: at(HOUR + index + 1), freshUntil: at(2 * HOUR + index + 1) },
      }))
      assert.deepEqual(tally(await race(stores, 'renewDocument', renewals)), { renewed: 1, conflict: 19 })
      const { freshUntil, fetchedAt } = (await stores.second.findClient(id))?.document ?? document
      assert.ok(renewals.some(({ document: one }) => one.fetchedAt === fetchedAt && one.freshUntil === freshUntil))
    },
  )

  check('renewDocument of a client that was deleted is a conflict, and does not restore it', async ({ first }) => {
    assert.equal(await perform(first, 'renewDocument', RENEWAL), 'conflict')
    assert.equal(await first.findClient(id), undefined)
  })

  check('a client that was never used is swept after its retention, wherever its id sorts', async ({ first }) => {
    const held = aDocumentClient('https://app.example/held.json')
    const used = aDocumentClient('https://app.example/used.json')
    const inputs = [client, held, used].map((one) => ({ client: one, retainUntil: at(one === held ? 3 : 1) }))
    await performAll(first, 'addDocumentClient', inputs)
    await perform(first, 'useClient', { id: used.id, now: at(1) })
    const { clients } = await perform(first, 'sweepExpired', aSweep({ now: at(2) }))
    assert.equal(clients, 1)
    const left = await Promise.all([client, held, used].map((one) => first.findClient(one.id)))
    assert.deepEqual(
      left.map((one) => one !== undefined),
      [false, true, true],
    )
  })

  check(
    'a disabled client with a document is not swept, because its document could bring it back',
    async ({ first }) => {
      const registered = aClient({}, at(-2000 * HOUR))
      await perform(first, 'addDocumentClient', { client, retainUntil: at(1) })
      await perform(first, 'registerClient', registered)
      for (const one of [client, registered]) await perform(first, 'disableClient', { id: one.id, now: at(1) })
      const { clients } = await perform(first, 'sweepExpired', aSweep({ now: at(2) }))
      assert.equal(clients, 1)
      assert.equal((await first.findClient(id))?.disabledAt, at(1))
    },
  )
}

/** A public client with a metadata document. Its id follows from the URL. */
function aDocumentClient(url: string, differing: Partial<ClientRecord> = {}): DocumentClient {
  const bare = { source: 'document', secretHash: undefined, managementHash: undefined } as const
  return {
    ...aClient({ ...bare, id: documentClientId(url), ...differing }),
    document: { url, fetchedAt: NOW, freshUntil: at(HOUR) },
  }
}
