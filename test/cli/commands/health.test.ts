import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServerForCommands, command } from '../../support/command.ts'

test('health: a ready server gives one line and exit code 0; one that stops or does not run gives exit code 1', async (t) => {
  const server = await openServerForCommands(t)
  const address = `http://127.0.0.1:${new URL(server.origin).port}/health/ready`
  const ready = await command(['health'])
  assert.deepEqual([ready.code, ready.stdout, ready.stderr], [0, `${address}: ready\n`, ''])
  const named = await command(['health', '--url', server.origin, '--json'])
  assert.deepEqual(JSON.parse(named.stdout), { address: `${server.origin}/health/ready`, ready: true, problem: null })
  server.drain()
  const stopping = await command(['health'])
  assert.deepEqual([stopping.code, stopping.stderr], [1, `grantor: ${address}: not ready (status 503)\n`])
  await server.close()
  const gone = await command(['health'])
  assert.deepEqual([gone.code, gone.stderr], [1, `grantor: ${address}: no answer (ECONNREFUSED)\n`])
  const silent = await command(['health', '--json'])
  assert.deepEqual((JSON.parse(silent.stdout) as { readonly ready: boolean }).ready, false)
})
