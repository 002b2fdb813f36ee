import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestServer } from './server.ts'

const PATIENCE_MS = 30_000
const PAUSE_MS = 100

/** Asserts that a server is not ready, and names the reason. */
export async function assertNotReady(server: Pick<TestServer, 'inject'>, reason: string): Promise<void> {
  const answer = await server.inject({ url: '/health/ready' })
  assert.equal(answer.statusCode, 503, answer.body)
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
  const { error, detail } = answer.json<{
    readonly error: string
    readonly detail?: readonly { readonly loc: unknown; readonly ctx: unknown }[]
  }>()
  const [problem] = detail ?? []
  assert.deepEqual([error, problem?.loc, problem?.ctx], ['temporarily_unavailable', ['store'], { reason }])
}

export async function assertReady(server: Pick<TestServer, 'inject'>): Promise<void> {
  const { statusCode, body } = await server.inject({ url: '/health/ready' })
  assert.equal(statusCode, 200, body)
}

/** Waits until a server is ready, or is not for this reason, without any other request. */
export async function untilReadiness(server: Pick<TestServer, 'inject'>, reason: string | undefined): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const { statusCode, body } = await server.inject({ url: '/health/ready' })
    const [problem] = (JSON.parse(body) as { detail?: readonly { ctx: { reason?: string } }[] }).detail ?? []
    if (statusCode === (reason === undefined ? 200 : 503) && problem?.ctx.reason === reason) return
    assert.ok(performance.now() < deadline, `not yet ${reason ?? 'ready'}: ${body}`)
    await delay(PAUSE_MS)
  }
}
