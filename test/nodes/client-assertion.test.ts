import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postForm } from '../../tools/flow.ts'
import { closedFirst } from '../support/closed-first.ts'
import { authentication, registerKeyClient } from '../support/key-clients.ts'
import { openNodeSettings } from '../support/migrated-database.ts'
import { openTestServer } from '../support/server.ts'

test('CA-07: of a hundred requests with one assertion on three nodes exactly one gets a token', async (t) => {
  const closed = closedFirst(t)
  const env = { ...(await openNodeSettings(t)), GRANTOR_CLIENT_FAILURE_RATE: '1000000' }
  const first = closed(await openTestServer(t, { env }))
  const others = [closed(await openTestServer(t, { env })), closed(await openTestServer(t, { env }))]
  const nodes = [first, ...others]
  const app = await registerKeyClient(first)
  for (let round = 0; round < 3; round += 1) {
    const form = { grant_type: 'client_credentials', ...authentication(first, app) }
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => postForm(nodes[index % 3] ?? first, '/v2/oauth/token', form)),
    )
    const statuses = answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other)
    assert.deepEqual(statuses, [200, ...Array.from({ length: 99 }, () => 401)])
  }
})
