import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { openMigratedDatabase } from '../../support/store/migrated-database.ts'
import { openSteppingClocks, openTestServer } from '../../support/server.ts'

/** Opens a node with a database server, and with its clock set forward. */
async function readiness(t: TestContext, stepMs: number) {
  const [clock] = openSteppingClocks(['node'])
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  const server = await openTestServer(t, { env, clock })
  clock.step(stepMs)
  const answer = await server.inject({ method: 'GET', url: '/health/ready' })
  await server.close()
  return answer
}

for (const stepMs of [0, 2000, -2000]) {
  test(`STO-13: a node whose clock is ${stepMs} ms ahead of the database's is ready`, async (t) => {
    assert.equal((await readiness(t, stepMs)).statusCode, 200)
  })
}

for (const stepMs of [2001, -2001, 60_000, -60_000]) {
  test(`STO-13: a node whose clock is ${stepMs} ms ahead is not ready, and reports by how much`, async (t) => {
    const answer = await readiness(t, stepMs)
    assert.equal(answer.statusCode, 503)
    assert.equal(answer.headers['retry-after'], '1')
    const { detail } = answer.json<{ detail: readonly { readonly ctx: unknown }[] }>()
    assert.deepEqual(detail[0]?.ctx, { reason: 'clock_differs', ahead_ms: stepMs })
  })
}

test('a node that is shutting down is not ready, but alive', async (t) => {
  const server = await openTestServer(t)
  server.drain()
  const answer = await server.inject({ method: 'GET', url: '/health/ready' })
  assert.equal(answer.statusCode, 503)
  assert.equal(answer.headers['retry-after'], '1')
  assert.equal((await server.inject({ method: 'GET', url: '/health/alive' })).statusCode, 200)
  assert.match(server.log(), /"endpoint":"ready","reason":"shutting_down"/)
  assert.doesNotMatch(server.log(), /"level":50/, 'That is no error.')
})
