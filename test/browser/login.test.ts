import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { createAccount } from '../support/accounts.ts'
import { sharedBrowser } from '../support/browser.ts'
import { openIssuer, openTab, press, signIn, startClient } from './tab.ts'

/** Relying parties in a browser: a form that the browser posts, and a single-page application with oidc-client-ts. */

const browser = await sharedBrowser()

interface RelyingParty {
  readonly origin: string
  /** The method and the body of each request for the callback. */
  readonly callbacks: readonly { readonly method: string | undefined; readonly form: URLSearchParams }[]
}

/** A site that answers every request with the same page. */
async function openParty(t: TestContext, page: (request: IncomingMessage) => string): Promise<RelyingParty> {
  const callbacks: { method: string | undefined; form: URLSearchParams }[] = []
  const site = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => void (body += piece))
    request.on('end', () => {
      if (request.url?.startsWith('/callback') === true)
        callbacks.push({ method: request.method, form: new URLSearchParams(body) })
      response.setHeader('content-type', request.url === '/library.js' ? 'text/javascript' : 'text/html')
      response.end(page(request))
    })
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    site.closeAllConnections()
    site.close()
  })
  return { origin: `http://127.0.0.1:${(site.address() as AddressInfo).port}`, callbacks }
}

for (const javaScriptEnabled of [true, false]) {
  test(`OP-11: Chromium posts the response as a form, ${javaScriptEnabled ? 'by the script' : 'by the button'}, and nothing of it is a script`, async (t) => {
    const server = await openIssuer(t, {})
    const party = await openParty(t, () => '<!doctype html><title>Done</title>')
    const state = `"><script>alert(1)</script></form>'`
    const parameters = { scope: 'openid', response_mode: 'form_post', state }
    const { link } = await startClient(server, `${party.origin}/callback`, parameters, {})
    const { tab, complaints } = await openTab(t, browser, [server.origin, party.origin], { javaScriptEnabled })
    await tab.goto(link)
    await signIn(tab)
    await press(tab, 'Allow')
    if (!javaScriptEnabled) await press(tab, 'Continue')
    await tab.waitForURL(`${party.origin}/callback`)
    const [callback] = party.callbacks
    assert.deepEqual([callback?.method, callback?.form.get('state')], ['POST', state])
    assert.match(callback?.form.get('code') ?? '', /^gac_/)
    assert.deepEqual(complaints, [])
  })
}

const LIBRARY = readFileSync(
  new URL('../../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js', import.meta.url),
  'utf8',
)

/** The program of docs/connect/oidc-client-ts.md. */
const PROGRAM = /^```ts\n([^]*?)^```$/m.exec(readFileSync('docs/connect/oidc-client-ts.md', 'utf8'))?.[1] ?? ''

test('OpenID Connect Core 1.0: the application of docs/connect/oidc-client-ts.md signs in, reloads, reads userinfo and refreshes', async (t) => {
  const server = await openIssuer(t, {})
  let program = ''
  const party = await openParty(t, ({ url }) =>
    url === '/library.js'
      ? LIBRARY
      : `<!doctype html><title>Notes</title><script src="/library.js"></script><script type="module">${program}</script>`,
  )
  const { client } = await startClient(server, `${party.origin}/callback`, {}, { scope: 'openid profile email' })
  program = `${PROGRAM.replace(/^import .*$/m, 'const { UserManager } = oidc')
    .replace('https://auth.example.com', server.origin)
    .replace('https://notes.example.com', party.origin)
    .replace('gci_…', client.client_id)}
    const user = await manager.getUser()
    if (user !== null) Object.assign(window, { manager }).document.title = user.profile.name + ' ' + user.profile.email`
  const { tab } = await openTab(t, browser, [], {})
  const signInPage = tab.waitForURL(`${server.origin}/**`)
  await tab.goto(`${party.origin}/`)
  await signInPage
  await signIn(tab)
  await press(tab, 'Allow')
  await tab.waitForURL(`${party.origin}/`)
  for (const load of [() => undefined, () => tab.reload()]) {
    await load()
    await tab.waitForFunction(`document.title === 'Ada ada@acme.test'`)
  }
  assert.match(await tab.evaluate(`manager.signinSilent().then((user) => user.profile.sub)`), /^gus_/)
})

/** Asks in a hidden frame whether the user is signed in, as applications do at their first load, and writes the answer into the title. */
const SILENT = `
  const settings = { authority: ISSUER, client_id: CLIENT, redirect_uri: location.origin + '/callback', scope: 'openid',
    silentRequestTimeoutInSeconds: 10 }
  const manager = new oidc.UserManager({ ...settings, userStore: new oidc.WebStorageStateStore({ store: localStorage }) })
  if (location.pathname === '/callback') manager.signinSilentCallback()
  else manager.signinSilent().then((user) => { document.title = user === null ? 'nobody' : user.profile.sub },
    (error) => { document.title = String(error.error ?? error.message) })`

/** Signs in in a window that the page opens, and that reports to it. */
const POPUP = `
  const manager = new oidc.UserManager({
    authority: ISSUER, client_id: CLIENT, redirect_uri: location.origin + '/callback', scope: 'openid' })
  if (location.pathname === '/callback') manager.signinPopupCallback()
  else Object.assign(window, { signIn: () => manager.signinPopup().then((user) => { document.title = user.profile.sub },
    (error) => { document.title = String(error) }) })`

test('UI-22: oidc-client-ts signs in in a window, with a second step, which keeps its opener', async (t) => {
  const server = await openIssuer(t, {})
  const app = await addApp(server, EMAIL)
  let program = ''
  const party = await openParty(t, ({ url }) =>
    url === '/library.js'
      ? LIBRARY
      : `<!doctype html><title>Notes</title><script src="/library.js"></script><script type="module">${program}</script>`,
  )
  const { client } = await startClient(server, `${party.origin}/callback`, {}, { scope: 'openid' })
  program = POPUP.replace('ISSUER', `'${server.origin}'`).replace('CLIENT', `'${client.client_id}'`)
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(`${party.origin}/`)
  const opening = tab.context().waitForEvent('page')
  await tab.evaluate('void window.signIn()')
  const opened = await opening
  await signIn(opened)
  await opened.locator('#code').fill(app.code())
  await press(opened, 'Continue')
  await press(opened, 'Allow')
  await tab.waitForFunction(`document.title !== 'Notes'`)
  assert.match(await tab.title(), /^gus_/)
})

test('AUTH-27: oidc-client-ts gets login_required in a hidden frame, for a client that the user has not allowed', async (t) => {
  const server = await openIssuer(t, {})
  let program = ''
  const party = await openParty(t, ({ url }) =>
    url === '/library.js'
      ? LIBRARY
      : `<!doctype html><title>Notes</title><script src="/library.js"></script><script type="module">${program}</script>`,
  )
  // A page of the same site has the session of the user in its frames, and one of another site has not.
  for (const origin of [party.origin, party.origin.replace('127.0.0.1', 'localhost')]) {
    const { client, link } = await startClient(server, `${origin}/callback`, { prompt: 'none' }, { scope: 'openid' })
    program = SILENT.replace('ISSUER', `'${server.origin}'`).replace('CLIENT', `'${client.client_id}'`)
    const { tab } = await openTab(t, browser, [], {})
    await tab.goto(`${origin}/`)
    await tab.waitForFunction(`document.title !== 'Notes'`)
    assert.equal(await tab.title(), 'login_required')
    await tab.goto(`${server.origin}/account`)
    await signIn(tab)
    await tab.getByRole('heading', { name: 'Your account' }).waitFor()
    await tab.goto(`${origin}/`)
    await tab.waitForFunction(`document.title !== 'Notes'`)
    assert.equal(await tab.title(), 'login_required')
    await tab.goto(link)
    assert.equal(new URL(tab.url()).origin, server.origin)
  }
})

test('UI-21: a person types an address in Unicode, which Chromium sends as it is, signs in, and reads it in Unicode', async (t) => {
  const server = await openIssuer(t, {})
  // A field of the type `email` would send the first one as the second.
  for (const email of ['anna@faß.example', 'anna@fass.example'])
    await createAccount(server, { email, password: `${PASSWORD} of ${email}`, name: undefined })
  const { tab, complaints } = await openTab(t, browser, [server.origin], {})
  await tab.goto(`${server.origin}/account`)
  await tab.locator('#email').fill('Anna@Faß.example')
  await tab.locator('#password').fill('a wrong password')
  await press(tab, 'Sign in')
  assert.equal(await tab.locator('#email').inputValue(), 'anna@faß.example')
  await tab.locator('#password').fill(`${PASSWORD} of anna@faß.example`)
  await press(tab, 'Sign in')
  await tab.getByRole('heading', { name: 'Your account' }).waitFor()
  assert.match(await tab.locator('main').innerText(), /anna@faß\.example/)
  assert.deepEqual(complaints, [])
})
