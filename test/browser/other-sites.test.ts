import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { sharedBrowser } from '../support/browser.ts'
import { EMAIL, PASSWORD, redeem, registerClient } from '../../tools/flow.ts'
import { openOwner } from '../endpoints/account/owner.ts'
import { createAccount } from '../support/accounts.ts'
import { openIssuer, openListener, openTab, press, signIn, startClient } from './tab.ts'
import { selectAll } from '../support/store/dump.ts'
import { perform } from '../support/tasks.ts'
import { sentence } from '../texts/page-texts.ts'

/** Pages of other sites cannot use the server's pages in the browser of a signed-in user. */

const browser = await sharedBrowser()

test("AUTH-18: no other site can put the server's pages into a frame", async (t) => {
  const server = await openIssuer(t, {})
  const { link } = await startClient(server, 'https://app.example/callback', {}, {})
  const site = await openSite(t, `<iframe src="${link.replaceAll('&', '&amp;')}"></iframe>`)
  const { tab, complaints } = await openTab(t, browser, [site, server.origin], {})
  await tab.goto(site)
  assert.equal(await tab.frameLocator('iframe').getByLabel('Email', { exact: true }).count(), 0)
  assert.match(complaints.join(), /frame-ancestors 'none'/)
})

test('UI-01: a form of another site cannot sign the user out or allow access', async (t) => {
  const server = await openIssuer(t, {})
  const { port } = await openListener(t)
  const { link } = await startClient(server, `http://127.0.0.1:${port}/callback`, {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await signIn(tab)
  await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  // The worst case: the other site somehow knows every field of the form.
  const fields = await tab.evaluate<string>(
    `[...document.querySelectorAll('input[type=hidden]')].map((one) => one.outerHTML).join('')`,
  )
  for (const path of ['consent', 'sign-out']) {
    const site = await openSite(
      t,
      `<form method=post action="${server.origin}/v2/oauth/${path}">${fields}
        <input type=hidden name=decision value=allow><button>Win a prize</button></form>`,
    )
    const other = await tab.context().newPage()
    await other.goto(site)
    const answer = other.waitForResponse((response) => response.url().startsWith(server.origin))
    await press(other, 'Win a prize')
    assert.equal((await answer).status(), 403, path)
    assert.equal(await other.getByRole('heading', { level: 1 }).innerText(), sentence('errors.forged.heading'))
  }
  await tab.goto(`${server.origin}/v2/oauth/sign-out`)
  assert.ok((await tab.locator('main').innerText()).includes(EMAIL), 'Still signed in.')
})

test('AUTH-25: an authorization request that another site posts does not change the browser, its session and its open pages', async (t) => {
  const server = await openIssuer(t, {})
  const { port } = await openListener(t)
  const { link } = await startClient(server, `http://127.0.0.1:${port}/callback`, {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await signIn(tab)
  const allow = tab.getByRole('button', { name: 'Allow', exact: true })
  await allow.waitFor()
  const cookies = await tab.context().cookies()

  const site = await openSite(t, postForm(link))
  const other = await tab.context().newPage()
  await other.goto(site)
  await press(other, 'Win a prize')
  // The user is signed in there too, and is asked for consent.
  await other.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  assert.deepEqual(await tab.context().cookies(), cookies)

  await allow.click()
  await tab.waitForURL(/\/callback\?code=/)
})

test('AUTH-25: a posted request with prompt=none gets a code, because its redirect sends the cookies', async (t) => {
  const server = await openIssuer(t, {})
  const { port } = await openListener(t)
  const { client, link } = await startClient(server, `http://127.0.0.1:${port}/callback`, {}, {})
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await signIn(tab)
  await press(tab, 'Allow')
  await tab.waitForURL(/\/callback\?code=/)
  await tab.goto(await openSite(t, postForm(link.replace('?', '?prompt=none&'))))
  await press(tab, 'Win a prize')
  await tab.waitForURL(/\/callback\?code=/)
})

test('LO-04, LO-08: a link of another site needs a confirmation to sign the user out, and an application’s form does not', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const uri = `http://127.0.0.1:${port}/callback`
  const metadata = { post_logout_redirect_uris: [uri] }
  const { client, link } = await startClient(server, uri, { scope: 'openid' }, metadata)
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await signIn(tab)
  await press(tab, 'Allow')
  const code = (await next()).searchParams.get('code') ?? ''
  const tokens = await redeem(server, client, code, { redirect_uri: uri })
  const { id_token: hint } = tokens.json<{ id_token: string }>()

  const end = `${server.origin}/v2/oauth/end-session?client_id=${client.client_id}&post_logout_redirect_uri=${uri}&state=out`
  await tab.goto(await openSite(t, `<a href="${end.replaceAll('&', '&amp;')}">Win a prize</a>`))
  await tab.getByRole('link', { name: 'Win a prize' }).click()
  await tab.getByRole('button', { name: 'Sign out' }).waitFor()
  assert.ok((await tab.locator('main').innerText()).includes(EMAIL), 'Still signed in.')

  await tab.goto(await openSite(t, postForm(`${end}&id_token_hint=${hint}`)))
  await press(tab, 'Win a prize')
  assert.equal((await next()).searchParams.get('state'), 'out')
  await tab.goto(`${server.origin}/account`)
  await tab.getByLabel('Password', { exact: true }).waitFor()
})

test('UI-06: scripts cannot read the cookies, and posts of other sites do not send them', async (t) => {
  const server = await openIssuer(t, {})
  const { link } = await startClient(server, 'https://app.example/callback', {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await signIn(tab)
  await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  assert.equal(await tab.evaluate('document.cookie'), '')
  const cookies = await tab.context().cookies()
  assert.equal(cookies.length, 2)
  for (const { name, httpOnly, sameSite } of cookies) {
    assert.equal(httpOnly, true, name)
    assert.equal(sameSite, 'Lax', name)
  }
})

test('UI-05: every sign-in creates a new session, so a planted cookie is of no use', async (t) => {
  const server = await openIssuer(t, {})
  const { link } = await startClient(server, 'https://app.example/callback', {}, {})
  const { tab } = await openTab(t, browser, [], {})
  const sessions = new Set<string>()
  for (let round = 0; round < 2; round++) {
    await tab.goto(link.replace('?', '?prompt=login&'))
    await signIn(tab)
    await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor()
    const cookies = await tab.context().cookies()
    sessions.add(cookies.find(({ name }) => name.includes('session'))?.value ?? '')
  }
  assert.equal(sessions.size, 2)
})

test('BND-07: what a page of another site loads and posts uses up nothing of the network of its reader', async (t) => {
  const server = await openIssuer(t, { GRANTOR_AUTHORIZATION_RATE: '5', GRANTOR_REGISTRATION_RATE: '4' })
  const { link } = await startClient(server, 'https://app.example/callback', {}, {})
  const site = await openSite(
    t,
    `<script>
      const load = (index) => new Promise((done) => {
        const image = new Image()
        image.onload = image.onerror = done
        image.src = '${link}&image=' + index
      })
      const register = async (index) => {
        const body = JSON.stringify({ redirect_uris: ['http://127.0.0.1/' + index] })
        const headers = { 'content-type': 'application/json' }
        return (await fetch('${server.origin}/v2/oauth/register', { method: 'POST', headers, body })).status
      }
      const numbers = [0, 1, 2, 3, 4, 5]
      window.loaded = Promise.all([...numbers.map(load), fetch('${link}', { mode: 'no-cors' }).catch(() => undefined)])
      window.registered = Promise.all(numbers.map(register))
    </script>`,
  )
  const { tab } = await openTab(t, browser, [site, server.origin], {})
  await tab.goto(site)
  await tab.evaluate('window.loaded')
  assert.deepEqual(selectAll(server, 'select * from authorizations'), [])
  const statuses = await tab.evaluate<readonly number[]>('window.registered')
  assert.deepEqual(
    statuses.toSorted((one, other) => one - other),
    [201, 201, 201, 201, 429, 429],
  )
  await registerClient(server)
  await tab.goto(link)
  await tab.getByLabel('Email', { exact: true }).waitFor()
})

test('UI-22: a site that opens pages of the account in a window does not see whether its reader is signed in', async (t) => {
  const server = await openIssuer(t, { GRANTOR_DEVICE_GRANT: 'on' })
  const site = await openSite(t, '')
  const { tab } = await openTab(t, browser, [], {})
  const seen = async (path: string): Promise<unknown> => {
    await tab.goto(site)
    const opening = tab.context().waitForEvent('page')
    await tab.evaluate(`void (window.opened = window.open('${server.origin}${path}'))`)
    const opened = await opening
    await opened.getByRole('heading', { level: 1 }).waitFor()
    const state = await tab.evaluate('[window.opened.closed, window.opened.length]')
    await opened.close()
    return state
  }
  const paths = ['/account', '/account/security/password', '/v2/oauth/sign-in?page=overview', '/device']
  for (const isSignedIn of [false, true]) {
    if (isSignedIn) {
      await tab.goto(`${server.origin}/account`)
      await signIn(tab)
      await tab.getByRole('heading', { name: 'Your account' }).waitFor()
    }
    for (const path of paths) assert.deepEqual(await seen(path), [true, 0], `${path} ${isSignedIn}`)
  }
})

test('AUTH-28: a cookie that another port of the computer sets for a longer path signs the person neither out nor in as another', async (t) => {
  const server = await openIssuer(t, {})
  const { tab } = await openTab(t, browser, [], {})
  const signedIn = async () => (await tab.locator('main').innerText()).includes(EMAIL)
  await tab.goto(`${server.origin}/account`)
  await signIn(tab)
  await tab.getByRole('heading', { name: 'Your account' }).waitFor()
  const own = (await tab.context().cookies()).find(({ name }) => name.startsWith('grantor-session'))
  const eve = openOwner(server, 'eve@acme.test')
  await createAccount(server, { email: 'eve@acme.test', password: PASSWORD, name: undefined })
  await eve.open('/account')
  const [stolen = ''] = [...eve.browser.cookies]
    .filter(([name]) => name.startsWith('grantor-session'))
    .map(([, value]) => value)
  const site = (await openSite(t, '')).replace('127.0.0.1', 'localhost')
  for (const planted of ['x', stolen]) {
    await tab.goto(site)
    await tab.evaluate(`document.cookie = '${own?.name}=${planted}; path=/account'`)
    await tab.goto(`${server.origin}/account`)
    assert.ok(await signedIn(), planted)
  }
  const sent = await tab.context().cookies(`${server.origin}/account`)
  assert.equal(sent.filter(({ name }) => name === own?.name).length, 2)
})

/** A form that posts the query parameters of a link. */
function postForm(link: string): string {
  const { origin, pathname, searchParams } = new URL(link)
  const fields = [...searchParams].map(([name, value]) => `<input type=hidden name="${name}" value="${value}">`)
  return `<form method=post action="${origin}${pathname}">${fields.join('')}<button>Win a prize</button></form>`
}

/** A site with one page. It is a different site from `localhost`, not only a different origin. */
async function openSite(t: TestContext, body: string): Promise<string> {
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Prizes</title>${body}`)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    site.closeAllConnections()
    site.close()
  })
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
}
