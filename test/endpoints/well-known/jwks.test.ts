import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jwks } from '../../../src/endpoints/well-known/jwks.ts'

test('the document of the same keys is the same object, so that it is serialized once', async () => {
  let published: readonly object[] = [{ kid: 'a' }]
  const keys = {
    published: () => Promise.resolve(published),
    create: () => assert.fail('nobody asked for a key'),
    ensureIdTokenKey: () => assert.fail('nobody asked for a key'),
  }
  const bodyOf = async () => {
    const reply = await jwks({ keys })
    assert.equal(reply.kind, 'json')
    return reply.body
  }
  const first = await bodyOf()
  assert.equal(await bodyOf(), first)
  published = [{ kid: 'a' }, { kid: 'b' }]
  assert.deepEqual(await bodyOf(), { keys: published })
})
