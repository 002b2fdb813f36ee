import assert from 'node:assert/strict'
import type { TestServer } from './server.ts'

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
