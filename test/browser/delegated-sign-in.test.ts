import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { revocationCutoff } from '../../src/tokens/revocation-cutoff.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openApplication, redirectOf } from '../support/application.ts'
import { sharedBrowser } from '../support/browser.ts'
import { openTestServer } from '../support/server.ts'
import { openTab } from './tab.ts'
import { sentence } from '../texts/page-texts.ts'

const browser = await sharedBrowser()

test('delegated sign-in in a real browser: an account page, a form after the session has ended, and signing out', async (t) => {
  const port = await freePort()
  // Not the host of the server: the browser must see another site.
  const origin = `http://127.0.0.1:${port}`
  const env = { GRANTOR_DELEGATE_URL: `${origin}/consent`, GRANTOR_DELEGATE_SIGN_OUT_URL: `${origin}/bye` }
  const server = await openTestServer(t, { listen: true, env })
  const application = await openApplication(server)
  const site = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    if (url.pathname !== '/consent') return void response.end('Signed out of Acme')
    const accepted = application.accept(url.searchParams.get('interaction') ?? '', { subject: 'u_1', name: 'Ada' })
    void accepted.then((answer) => response.writeHead(303, { location: redirectOf(answer) }).end())
  }).listen(port, '127.0.0.1')
  t.after(() => site.close())
  const { tab, complaints } = await openTab(t, browser, [server.origin, origin], {})

  await tab.goto(`${server.origin}/account`)
  assert.match(await tab.locator('main').innerText(), /Ada/)
  await tab.goto(`${server.origin}/account/data`)
  const [session] = await server.context.store.listSessions({ before: undefined, limit: 1 })
  assert.ok(session !== undefined)
  await server.context.store.endSession({ id: session.id, ...revocationCutoff(server.context) })
  await tab.getByRole('button', { name: sentence('account.download') }).click()
  await tab.getByRole('link', { name: 'Sign in' }).click()
  await tab.getByRole('button', { name: sentence('account.download') }).waitFor()
  assert.equal(new URL(tab.url()).pathname, '/account/data')

  await tab.goto(`${server.origin}/v2/oauth/sign-out`)
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.getByText('Signed out of Acme').waitFor()
  assert.deepEqual(complaints, [])
})
