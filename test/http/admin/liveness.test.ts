import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { parseAdminCredentialId } from '../../../src/protocol/ids.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { adminServerOf } from '../../support/admin-server.ts'

/** Sends everything but the end of a body, so that the server has let the request in; the answer is to its end. */
async function beginRequest(
  { adminOrigin }: TestServer,
  token: string,
  body: string,
): Promise<() => Promise<number | undefined>> {
  const { port } = new URL(adminOrigin)
  const sent = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/admin/v1/admin-credentials',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  })
  const answer = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.write(body.slice(0, -1))
  await once(sent, 'continue')
  return async () => {
    sent.end(body.slice(-1))
    const [response] = await answer
    response.resume()
    return response.statusCode
  }
}

test('ADM-02: credentials that are revoked before the end of their request change nothing', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const stage = adminServerOf(server)
  const { token, id } = await stage.issue('write')
  const finish = await beginRequest(server, token, JSON.stringify({ name: 'A way back in', access: 'write' }))
  // What came first was let in first.
  assert.equal((await stage.performByName('client.list', {}, token)).statusCode, 200)
  const own = parseAdminCredentialId(id)
  assert.ok(own)
  await server.context.store.revokeAdminCredential({ id: own, now: server.clock.now() })
  assert.equal(await finish(), 401)
  const kept = await server.context.store.listAdminCredentials({ before: undefined, limit: 10 })
  assert.deepEqual(
    kept.map((one) => one.id),
    [id],
  )
})
