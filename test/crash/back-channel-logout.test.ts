import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { createClient } from '../../src/admin/client/metadata.ts'
import { DEFAULT_RULES } from '../../src/protocol/client/policy.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { authorizeUrl, PlainBrowser, REDIRECT_URI, signInAndAllow } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { signOut } from '../../tools/sign-out.ts'
import { createAda } from '../support/accounts.ts'
import { openNotifiedHost } from '../support/hosts/notified-host.ts'
import { temporaryFolder } from '../support/server.ts'

test('LO-12: after kill -9 between a sign-out and its notice, the notice is delivered', async (t) => {
  const host = await openNotifiedHost(t)
  // No notice is delivered before the process is killed.
  host.answer(() => undefined)
  const folder = temporaryFolder(t)
  const port = await freePort()
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`, GRANTOR_ADMIN_PORT: 'off' }
  const server = openServerProcess({ port, folder, settings })
  t.after(() => server.kill())
  await server.start()
  const { context, close } = await openStoreOf(server.settings)
  await createAda({ context })
  const { client } = await createClient(context, {
    metadata: { client_name: 'Board', redirect_uris: [REDIRECT_URI], backchannel_logout_uri: host.uri() },
    rules: DEFAULT_RULES,
    approvedScope: NO_SCOPE,
  })
  await close()
  const agent = new Agent()
  t.after(() => agent.destroy())
  const browser = new PlainBrowser(openRemoteServer({ port, agent, limitMs: 20_000 }))
  await signInAndAllow(browser, authorizeUrl({ client_id: client.id }, { scope: 'openid' }))
  assert.equal((await signOut(browser)).statusCode, 200)

  server.kill()
  const earlier = host.notices.length
  const delivered = new Promise<void>((resolve) => {
    host.answer((_request, response) => {
      response.end()
      resolve()
    })
  })
  await server.start()
  await delivered
  assert.equal(host.notices.length, earlier + 1)
})
