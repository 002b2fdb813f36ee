import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeProof } from '../../tools/dpop-proof.ts'
import { postForm } from '../../tools/flow.ts'
import { closedFirst } from '../support/closed-first.ts'
import { authentication, registerKeyClient } from '../support/key-clients.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'
import { openTestServer } from '../support/server.ts'

test('CA-07: of a hundred requests with one assertion on three nodes exactly one gets a token', async (t) => {
  const closed = closedFirst(t)
  const env = { ...(await openNodeSettings(t)), GRANTOR_CLIENT_FAILURE_RATE: '1000000' }
  const first = closed(await openTestServer(t, { env }))
  const nodes = [first, closed(await openTestServer(t, { env })), closed(await openTestServer(t, { env }))]
  const form = { grant_type: 'client_credentials', ...authentication(first, await registerKeyClient(first)) }
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => postForm(nodes[index % 3] ?? first, '/v2/oauth/token', form)),
  )
  const refused = answers.filter(({ statusCode }) => statusCode !== 200)
  assert.equal(refused.length, 99)
  // A busy database may refuse some of them with 503.
  for (const { statusCode, body } of refused) assert.ok([401, 503].includes(statusCode), body)
})

test('RFC 9449 §8: a node accepts the nonce of another one, and the assertion that came with the refused request', async (t) => {
  const closed = closedFirst(t)
  const env = await openNodeSettings(t)
  const a = closed(await openTestServer(t, { env }))
  const b = closed(await openTestServer(t, { env, clock: a.clock }))
  const client = await registerKeyClient(a)
  const form = { grant_type: 'client_credentials', ...authentication(a, client) }
  const address = `${a.origin}/v2/oauth/token`
  const prove = (claims: object) =>
    makeProof(client.key, { method: 'POST', address, nowMs: a.clock.now() }, { claims: { iat: 0, ...claims } })
  const refused = await postForm(a, '/v2/oauth/token', form, { dpop: prove({}) })
  assert.deepEqual([refused.statusCode, refused.json().error], [400, 'use_dpop_nonce'])
  const nonce = refused.headers['dpop-nonce']
  const wrong = await postForm(b, '/v2/oauth/token', form, { dpop: prove({ nonce: `${String(nonce)}x` }) })
  assert.equal(wrong.json().error, 'use_dpop_nonce')
  const answer = await postForm(b, '/v2/oauth/token', form, { dpop: prove({ nonce }) })
  assert.equal(answer.json().token_type, 'DPoP', answer.body)
})
