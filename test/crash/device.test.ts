import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { openDeviceConsent, poll, startDevice } from '../../tools/device-flow.ts'
import { PlainBrowser } from '../../tools/flow.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { createAda } from '../support/accounts.ts'
import { assertLocalPage } from '../support/authorize-answers.ts'
import { createDeviceClient, DEVICES_ON } from '../support/sign-in/devices.ts'
import { openTestServer, temporaryFolder } from '../support/server.ts'
import { define } from '../support/store/dump.ts'
import { startChildServer } from './child-server.ts'

/** The first of the two operations is committed, and the second fails until the kill. */
const FAULT = `create trigger fault before update on authorizations begin select raise(abort, 'disk I/O error'); end`

test('DEV-13: after kill -9 between connecting a device and the approval, the same browser answers again, and no other', async (t) => {
  const folder = temporaryFolder(t)
  const before = await openTestServer(t, { folder, env: DEVICES_ON })
  await createAda(before)
  const client = await createDeviceClient(before)
  const device = await startDevice(before, client)
  const [own, other] = [new PlainBrowser(before), new PlainBrowser(before)]
  const [page, otherPage] = [await openDeviceConsent(own, device), await openDeviceConsent(other, device)]
  define(before, FAULT)
  await before.close()

  const child = await startChildServer(t, folder, { ...DEVICES_ON, GRANTOR_ISSUER: before.origin })
  const agent = new Agent()
  t.after(() => agent.destroy())
  const remote = openRemoteServer({ port: Number(new URL(child.origin).port), agent, limitMs: 20_000 })
  const interrupted = await browserAt(own, remote).submit(page, { decision: 'allow' })
  assert.ok(interrupted.statusCode >= 500, interrupted.body)
  await child.kill()
  define(before, 'drop trigger fault')

  const after = await openTestServer(t, { folder, env: DEVICES_ON })
  assert.equal((await poll(after, client, device)).json().error, 'authorization_pending')
  assertLocalPage(await browserAt(other, after).submit(otherPage, { decision: 'allow' }), 409)
  assert.match((await browserAt(own, after).submit(page, { decision: 'allow' })).body, /Connected/)
  assert.equal((await poll(after, client, device)).statusCode, 200)
})

/** The same browser at another server. */
function browserAt(browser: PlainBrowser, server: ConstructorParameters<typeof PlainBrowser>[0]): PlainBrowser {
  const same = new PlainBrowser(server)
  for (const [name, value] of browser.cookies) same.cookies.set(name, value)
  return same
}
