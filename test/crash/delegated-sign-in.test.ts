import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDelegateCredentials } from '../../src/admin/delegate.ts'
import { authorizeUrl, locationOf, PlainBrowser, redeem, registerClient } from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { temporaryFolder } from '../support/server.ts'

const PAGE = 'https://app.acme.test/oauth/consent'

test('DEL-09: after kill -9 between the answer and the return, the browser gets its code', async (t) => {
  const folder = temporaryFolder(t)
  const [port = 0, adminPort = 0] = await freePorts(2)
  const server = openServerProcess({
    port,
    folder,
    settings: {
      DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`,
      GRANTOR_DELEGATE_URL: PAGE,
      GRANTOR_ADMIN_PORT: String(adminPort),
    },
  })
  t.after(() => server.kill())
  await server.start()
  const { context, close } = await openStoreOf(server.settings)
  const { token } = await createDelegateCredentials(context, 1)
  await close()
  const agent = new Agent()
  t.after(() => agent.destroy())
  const remote = openRemoteServer({ port, agent, limitMs: 20_000 })
  const client = await registerClient(remote)
  const browser = new PlainBrowser(remote)
  let address = authorizeUrl(client)
  while (!address.startsWith(PAGE)) address = locationOf(await browser.get(address))
  const interaction = new URL(address).searchParams.get('interaction') ?? ''
  const accepted = await fetch(`http://localhost:${adminPort}/admin/v1/interactions/${interaction}/accept`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ subject: 'u_4711', decision: 'allow' }),
  })
  const { redirect_to: back } = (await accepted.json()) as { readonly redirect_to: string }

  server.kill()
  await server.start()
  const code = new URL(locationOf(await browser.get(back))).searchParams.get('code') ?? ''
  const tokens = await redeem(remote, client, code)
  assert.equal(tokens.statusCode, 200, tokens.body)
})
