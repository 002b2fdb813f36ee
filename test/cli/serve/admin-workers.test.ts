import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdminCredential, revokeAdminCredential } from '../../../src/admin/admin.ts'
import { openRuntime } from '../../../src/server/context.ts'
import { readConfig } from '../../../src/config/config.ts'
import { EMAIL, PASSWORD } from '../../../tools/flow.ts'
import { createAccount } from '../../support/accounts.ts'
import { giveRole } from '../../../tools/console-browser.ts'
import { openConsoleVisitor, signInAt } from '../../support/console/console-walk.ts'
import { openTestDatabase } from '../../support/store/postgres.ts'
import { perform } from '../../support/tasks.ts'
import { openPlace, serve, type RunningServer } from '../../support/process.ts'

/** The processes that answered an administrator so far. */
function answering({ stdout }: RunningServer, what = ''): ReadonlySet<number> {
  const lines = stdout()
    .split('\n')
    .filter((line) => line.includes('"event":"admin.answered"') && line.includes(what))
  return new Set(lines.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1])))
}

test('workers share the administration port, each rejects revoked credentials and a removed role, and SIGTERM ends all', async (t) => {
  const free = await openPlace(t)
  const database = { DATABASE_URL: await openTestDatabase(t), GRANTOR_SECRET: 's'.repeat(32) }
  const place = { ...free, environment: { ...free.environment, ...database } }
  const server = await serve(place, { flags: ['--workers', '2'] })
  const runtime = await openRuntime(readConfig({ ...place.environment, LOG_LEVEL: 'silent' }))
  t.after(runtime.close)
  const input = { name: 'A pipeline', access: 'read', organizationId: undefined, days: 1 } as const
  const { token, credential } = await createAdminCredential(runtime.context, input)
  const ask = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    const answer = await fetch(`http://localhost:${place.adminPort}/admin/v1/clients`, { headers })
    await answer.arrayBuffer()
    return answer.status
  }
  for (let asked = 0; answering(server).size < 2; asked += 1) {
    assert.ok(asked < 500, 'One worker alone answered.')
    assert.equal(await ask(), 200)
  }
  // The console is asked in turns too: nothing of a sign-in or a session is in one process.
  await createAccount({ context: runtime.context }, { email: EMAIL, password: PASSWORD, name: 'Ada' })
  const user_id = await giveRole(runtime)
  const visitor = openConsoleVisitor(`http://localhost:${place.adminPort}`)
  assert.equal((await visitor.enter(signInAt(place.issuer))).status, 200)
  const open = async (): Promise<string> => (await visitor.get('/console/clients')).text()
  const shown = new Set<number>()
  for (let asked = 0; shown.size < 2; asked += 1) {
    assert.ok(asked < 500, 'One worker alone showed the page.')
    assert.match(await open(), /<h1>Clients/)
    for (const pid of answering(server, '"task":"console /console/clients"')) shown.add(pid)
  }
  await perform(runtime.context, 'role.remove', { user_id })
  for (let request = 0; request < 8; request += 1) assert.match(await open(), /has no role here/)
  await revokeAdminCredential(runtime.context, credential.id)
  for (let request = 0; request < 8; request += 1) assert.equal(await ask(), 401)
  server.child.kill('SIGTERM')
  // They write to the same pipe, which closes when the last of them is gone.
  assert.equal((await server.exited).code, 0)
})
