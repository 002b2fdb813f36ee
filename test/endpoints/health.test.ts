import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ready } from '../../src/endpoints/health.ts'
import type { EpochMs } from '../../src/protocol/brand.ts'
import { OAuthError } from '../../src/protocol/errors.ts'
import { openTestServer } from '../server.ts'

const NOW = 1_800_000_000_000

/** Asks a node whose store's clock is that far ahead of its own, and takes that long to answer. */
function ask({ offsetMs, roundTripMs }: { readonly offsetMs: number; readonly roundTripMs: number }) {
  let now = NOW
  return ready({
    isStopping: () => false,
    clock: () => now as EpochMs,
    store: {
      async ping() {
        now += roundTripMs
        return (NOW + roundTripMs / 2 + offsetMs) as EpochMs
      },
    } as never,
  })
}

test('a node whose clock is within two seconds of the store, or may be, is ready', async () => {
  for (const [offsetMs, roundTripMs] of [
    [0, 0],
    [2000, 0],
    [-2000, 0],
    [2500, 1000],
    [-2500, 1000],
  ] as const)
    assert.equal((await ask({ offsetMs, roundTripMs })).kind, 'json', `${offsetMs} ${roundTripMs}`)
})

test('a node whose clock is further off is not ready, and says by how much', async () => {
  for (const [offsetMs, roundTripMs, aheadMs] of [
    [2001, 0, -2001],
    [-2001, 0, 2001],
    [60_000, 200, -59_900],
    [-60_000, 200, 59_900],
  ] as const)
    await assert.rejects(ask({ offsetMs, roundTripMs }), (cause) => {
      assert.ok(cause instanceof OAuthError)
      assert.deepEqual([cause.status, cause.slug], [503, 'clock_differs'])
      assert.deepEqual(cause.problems[0]?.ctx, { reason: 'clock_differs', ahead_ms: aheadMs })
      return true
    })
})

test('a store on this machine has this machine’s clock, wherever that is moved', async (t) => {
  const server = await openTestServer(t)
  server.clock.advance(3_600_000)
  const answer = await server.inject({ method: 'GET', url: '/health/ready' })
  assert.deepEqual([answer.statusCode, answer.json()], [200, { status: 'ready' }])
})

test('a node that is about to stop is not ready, but alive', async (t) => {
  const server = await openTestServer(t)
  server.drain()
  const answer = await server.inject({ method: 'GET', url: '/health/ready' })
  assert.equal(answer.statusCode, 503)
  assert.equal(answer.headers['retry-after'], '1')
  assert.equal((await server.inject({ method: 'GET', url: '/health/alive' })).statusCode, 200)
  assert.match(server.log(), /"endpoint":"ready","reason":"shutting_down"/)
  assert.doesNotMatch(server.log(), /"level":50/, 'That is no error.')
})
