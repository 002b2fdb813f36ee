import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { test, type TestContext } from 'node:test'
import { freePort } from '../../tools/process/free-ports.ts'
import { EMAIL } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openPostgresPlace, serve } from '../support/process.ts'
import { openTestServer } from '../support/server.ts'
import { perform } from '../support/tasks.ts'
import { openOwner } from '../endpoints/account/owner.ts'

test('if the next port is taken, the server starts and reports that the administration is not available', async (t) => {
  const { port, adminPort } = await openPortBesideATakenOne(t)
  const server = await openTestServer(t, { env: { PORT: String(port), GRANTOR_ADMIN_PORT: '' } })
  await server.start()
  const answer = await fetch(`http://localhost:${port}/health/ready`)
  assert.equal(answer.status, 200)
  const line = server
    .log()
    .split('\n')
    .find((text) => text.includes('"admin.not-listening"'))
  assert.match(line ?? '', new RegExp(`"port":${adminPort},.*"setting":"GRANTOR_ADMIN_PORT"`))
  await createAda(server)
  const user_id = (await server.context.store.findUserByEmail(EMAIL))?.id
  const { console_url } = await perform(server.context, 'role.set', { user_id, access: 'write' })
  assert.equal(console_url, null)
  const page = await openOwner(server).open('/account')
  assert.equal(page.statusCode, 200)
  assert.ok(!page.body.includes(`:${adminPort}`), 'the page of a person with a role')
})

test('if the next port is taken, server.ready does not name it, nor do workers', async (t) => {
  const place = await openPostgresPlace(t)
  const { port, adminPort } = await openPortBesideATakenOne(t)
  const environment = { PORT: String(port), GRANTOR_ADMIN_PORT: '' }
  const { child, exited } = await serve(place, { environment, flags: ['--workers', '2'] })
  child.kill('SIGTERM')
  const { stdout } = await exited
  const ready = stdout.split('\n').find((line) => line.includes('"server.ready"')) ?? ''
  assert.match(ready, new RegExp(`"port":${port}[,}]`))
  assert.doesNotMatch(ready, new RegExp(`:${adminPort}|admin_port|"console"`))
})

test('if the configured port of the administration is taken, the server does not start', async (t) => {
  const { port, adminPort } = await openPortBesideATakenOne(t)
  const env = { PORT: String(port), GRANTOR_ADMIN_PORT: String(adminPort) }
  const server = await openTestServer(t, { env })
  await assert.rejects(server.start(), { code: 'EADDRINUSE' })
})

/** A free port whose next port is taken. */
async function openPortBesideATakenOne(t: TestContext): Promise<{ port: number; adminPort: number }> {
  for (;;) {
    const port = await freePort()
    const squatter = await occupy(port + 1)
    if (squatter === undefined) continue
    t.after(() => squatter.close())
    return { port, adminPort: port + 1 }
  }
}

/** Returns undefined if the port is already taken. */
async function occupy(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1')
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  )
}
