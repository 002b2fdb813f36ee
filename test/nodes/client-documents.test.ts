import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentClientId } from '../../src/protocol/client/identifier.ts'
import { authorizeUrl } from '../../tools/flow.ts'
import { openDocumentHost } from '../support/hosts/document-host.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openNode, selectValue } from '../support/store/postgres-node.ts'

/** Of each node. So many are answered within the time that a request may wait for the store, also on a machine that is busy with other work. */
const REQUESTS = 100

test('CIMD-09: two hundred requests for a client that is new cause one fetch a node, and one row', async (t) => {
  const url = await openMigratedDatabase(t)
  const host = await openDocumentHost(t)
  const client = host.client()
  const nodes = await Promise.all([openNode(t, url), openNode(t, url)])
  const asked = nodes.flatMap((node) =>
    Array.from({ length: REQUESTS }, () => node.inject({ method: 'GET', url: authorizeUrl(client) })),
  )
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode)
  assert.deepEqual([new Set(statuses), statuses.length], [new Set([303]), 2 * REQUESTS])
  assert.ok(host.requests.length <= nodes.length, String(host.requests.length))
  const rows = await selectValue(url, 'select count(*) from clients where client_id = $1', [
    documentClientId(client.client_id),
  ])
  assert.equal(Number(rows), 1)
})

test('CIMD-09: a document that a node renewed is used by the other nodes', async (t) => {
  const url = await openMigratedDatabase(t)
  const host = await openDocumentHost(t)
  const client = host.client()
  const nodes = await Promise.all([openNode(t, url), openNode(t, url)])
  for (const node of nodes) {
    const answer = await node.inject({ method: 'GET', url: authorizeUrl(client) })
    assert.equal(answer.statusCode, 303)
  }
  assert.equal(host.requests.length, 1)
})
