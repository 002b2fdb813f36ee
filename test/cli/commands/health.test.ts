import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkReadiness } from '../../../src/checks/readiness.ts'
import { WRITE_FAULT_TEXTS } from '../../../src/base/write-fault.ts'
import { openServerForCommands, command, findingsAbout } from '../../support/command.ts'

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
  const { host } = new URL(address)
  const refused = `grantor: ${address}: no answer (connect ECONNREFUSED ${host})\n`
  assert.deepEqual([gone.code, gone.stderr], [1, refused])
  const silent = await command(['health', '--json'])
  assert.deepEqual((JSON.parse(silent.stdout) as { readonly ready: boolean }).ready, false)
})

test('health: a server that accepts connections but does not answer is reported with the time limit', async (t) => {
  await openServerForCommands(t)
  t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort(new DOMException('The time is over.', 'TimeoutError')))
  const { code, stderr } = await command(['health'])
  assert.equal(code, 1)
  assert.match(stderr, /: no answer \(no response within 5 s\)\n$/)
})

test('STO-07: health and doctor say why the server on this machine is not ready', async (t) => {
  const server = await openServerForCommands(t)
  const address = `http://127.0.0.1:${new URL(server.origin).port}/health/ready`
  assert.deepEqual(await findingsAbout('readiness'), [['ok', `${address}: ready.`]])
  rmSync(join(server.folder, 'grantor.db-wal'))
  const { code, stderr } = await command(['health'])
  assert.deepEqual([code, stderr], [1, `grantor: ${address}: not ready (The database cannot be reached or used)\n`])
  assert.deepEqual(await findingsAbout('readiness'), [
    ['failed', `${address}: not ready: The database cannot be reached or used.`],
  ])
  for (const [reason, message] of [...Object.entries(WRITE_FAULT_TEXTS), ['clock_differs', 'The clock differs.']]) {
    const [finding] = checkReadiness({
      readiness: { kind: 'not-ready', address, status: 503, reason, message: message ?? '' },
    })
    assert.equal(finding?.message, `${address}: not ready: ${message}`)
    assert.equal(finding?.remedy === 'See the log of the server.', reason === 'clock_differs')
  }
})
