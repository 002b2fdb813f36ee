import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdminCredential, revokeAdminCredential } from '../../../src/admin/admin.ts'
import { openRuntime } from '../../../src/server/context.ts'
import { readConfig } from '../../../src/config/config.ts'
import { openTestDatabase } from '../../support/store/postgres.ts'
import { openPlace, serve, type RunningServer } from '../../support/process.ts'

/** The processes that answered an administrator so far. */
function answering({ stdout }: RunningServer): ReadonlySet<number> {
  return new Set([...stdout().matchAll(/"pid":(\d+),"event":"admin\.answered"/g)].map(([, pid]) => Number(pid)))
}

test('workers share the administration port, and every worker rejects revoked credentials', async (t) => {
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
  while (answering(server).size < 2) assert.equal(await ask(), 200)
  await revokeAdminCredential(runtime.context, credential.id)
  for (let request = 0; request < 8; request += 1) assert.equal(await ask(), 401)
  server.child.kill('SIGTERM')
  assert.equal((await server.exited).code, 0)
})
