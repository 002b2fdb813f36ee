import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentClientId, parseClientIdentifier } from '../../../src/protocol/client/identifier.ts'

/** Stored clients have these ids, so a URL keeps its id in every release. */
const IDS: readonly (readonly [url: string, id: string])[] = [
  ['https://app.example/client.json', 'gcd_001cfc0cddf5x0Jg55HxLCfw6itVv1iAQk'],
  ['https://app.example/ü', 'gcd_007344dc33ecZ1hSMfhOIBBqQBAbQDDt4A'],
]

for (const [url, id] of IDS) {
  test(`the client with the document ${url} has the id ${id}`, () => {
    assert.equal(documentClientId(url), id)
    assert.deepEqual(parseClientIdentifier(url), { id, documentUrl: url })
    assert.equal(parseClientIdentifier(id), undefined)
  })
}
