import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedBrowser } from '../support/browser.ts'
import { EMAIL, PASSWORD, pushedUrl, redeem, type Tokens } from '../../tools/flow.ts'
import { openIssuer, openListener, openTab, press, signIn, startClient } from './tab.ts'
import { sentence } from '../texts/page-texts.ts'

/** A user in a real browser, from a client's link to its tokens. */

const browser = await sharedBrowser()

test('a user signs in, sees the client and the permissions, allows access, and the client gets its tokens', async (t) => {
  const server = await openIssuer(t, { GRANTOR_NAME: 'Acme Cloud' })
  const { port, next } = await openListener(t)
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { client, link } = await startClient(server, redirectUri, { scope: 'notes:read notes:write' }, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin, new URL(redirectUri).origin], {})

  await tab.goto(link)
  assert.equal(await tab.getByRole('heading', { level: 1 }).innerText(), 'Sign in')
  await signIn(tab)

  assert.match(await tab.getByRole('heading', { level: 1 }).innerText(), /Cursor.? wants to use your account/)
  const text = await tab.locator('main').innerText()
  for (const part of ['Unverified', sentence('momentsAgo'), 'this computer', `127.0.0.1:${port}`, EMAIL])
    assert.ok(text.includes(part), `${part} in ${text}`)
  assert.deepEqual(
    (await tab.getByRole('list').getByRole('listitem').allInnerTexts()).map((line) =>
      line.replaceAll(/\P{ASCII}/gu, ''),
    ),
    ['notes:read', 'notes:write'],
  )
  await press(tab, 'Allow')

  const { searchParams: answer } = await next()
  assert.equal(answer.get('state'), 'the-state')
  assert.equal(answer.get('iss'), server.origin)
  const response = await redeem(server, client, answer.get('code') ?? '', { redirect_uri: redirectUri })
  assert.equal(response.statusCode, 200, response.body)
  assert.equal(response.json<Tokens>().scope, 'notes:read notes:write')
  assert.deepEqual(complaints, [])
})

test('UI-04, PAR-05: after Deny the client gets access_denied and nothing else; Chromium reloads a pushed request, and allows it once', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { client, link } = await startClient(server, redirectUri, {}, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin, new URL(redirectUri).origin], {})
  await tab.goto(link)
  await signIn(tab)
  await press(tab, 'Deny')
  const { searchParams: answer } = await next()
  assert.deepEqual(Object.fromEntries(answer), {
    error: 'access_denied',
    error_description: 'The person denied the request.',
    state: 'the-state',
    iss: server.origin,
  })

  const pushed = server.origin + (await pushedUrl(server, client, { redirect_uri: redirectUri, ui_locales: 'de' }))
  await tab.goto(pushed)
  await tab.goto(pushed)
  await press(tab, 'Erlauben')
  const { searchParams: allowed } = await next()
  const response = await redeem(server, client, allowed.get('code') ?? '', { redirect_uri: redirectUri })
  assert.equal(response.statusCode, 200, response.body)
  assert.equal((await tab.goto(pushed))?.status(), 400)
  assert.equal(await tab.locator('html').getAttribute('lang'), 'de')
  assert.deepEqual(complaints, [])
})

test('after a wrong password the page shows the problem and keeps the email, and the right password continues', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { link } = await startClient(server, redirectUri, {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await tab.getByLabel('Email', { exact: true }).fill(EMAIL)
  await tab.getByLabel('Password', { exact: true }).fill('wrong')
  await press(tab, 'Sign in')
  assert.match(await tab.getByRole('alert').innerText(), /do not match/)
  assert.equal(await tab.getByLabel('Email', { exact: true }).inputValue(), EMAIL)
  assert.equal(await tab.getByLabel('Password', { exact: true }).inputValue(), '')
  assert.equal(await tab.evaluate<string>('document.activeElement.id'), 'password')
  await tab.keyboard.type(PASSWORD)
  await tab.keyboard.press('Enter')
  await press(tab, 'Allow')
  assert.ok((await next()).searchParams.has('code'))
})

test('an invalid email is kept in its field, so that the user can correct it', async (t) => {
  const server = await openIssuer(t, {})
  const { link } = await startClient(server, 'https://app.example/callback', {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await tab.getByLabel('Email', { exact: true }).fill('Ada.acme.test')
  await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await press(tab, 'Sign in')
  assert.equal(await tab.getByRole('alert').innerText(), sentence('emailMissing'))
  assert.equal(await tab.getByLabel('Email', { exact: true }).inputValue(), 'Ada.acme.test')
})

test('the whole flow works with the keyboard, from the empty form to the answer', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { link } = await startClient(server, redirectUri, {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await tab.locator('#email:focus').waitFor()
  await tab.keyboard.type(EMAIL)
  await tab.keyboard.press('Tab')
  await tab.keyboard.type(PASSWORD)
  await tab.keyboard.press('Enter')
  await tab.waitForURL('**/consent?*')
  const reached: string[] = []
  while (reached.at(-1) !== 'Allow' && reached.length < 10) {
    await tab.keyboard.press('Tab')
    reached.push(await tab.evaluate<string>('document.activeElement.textContent.trim()'))
  }
  assert.deepEqual(reached, ['Switch', 'Deny', 'Allow'])
  await tab.keyboard.press('Enter')
  assert.ok((await next()).searchParams.has('code'))
})

test('the whole flow works in a browser without scripts', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const { link } = await startClient(server, `http://127.0.0.1:${port}/callback`, {}, {})
  const { tab } = await openTab(t, browser, [], { javaScriptEnabled: false })
  await tab.goto(link)
  await signIn(tab)
  await press(tab, 'Allow')
  assert.ok((await next()).searchParams.has('code'))
})

test('two tabs that were opened before the user signed in can both be completed', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { link } = await startClient(server, redirectUri, { state: 'first' }, {})
  const { tab } = await openTab(t, browser, [], {})
  const other = await tab.context().newPage()
  await tab.goto(link)
  await other.goto(link.replace('state=first', 'state=second'))
  await signIn(tab)
  await signIn(other)
  await press(other, 'Allow')
  assert.equal((await next()).searchParams.get('state'), 'second')
  await press(tab, 'Allow')
  assert.equal((await next()).searchParams.get('state'), 'first')
})

test('a signed-in user is asked for consent at once, and may switch to another account', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const { link } = await startClient(server, `http://127.0.0.1:${port}/callback`, {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link)
  await signIn(tab)
  await press(tab, 'Allow')
  await next()
  await tab.goto(link)
  assert.ok(tab.url().startsWith(`${server.origin}/v2/oauth/consent?`))
  await tab.getByRole('link', { name: 'Switch', exact: true }).click()
  await signIn(tab)
  await press(tab, 'Allow')
  assert.ok((await next()).searchParams.has('code'))
})

test('after signing out on the page the next client needs the password again', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const { link } = await startClient(server, `http://127.0.0.1:${port}/callback`, {}, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin, `http://127.0.0.1:${port}`], {})
  await tab.goto(link)
  await signIn(tab)
  await press(tab, 'Allow')
  await next()
  await tab.goto(`${server.origin}/v2/oauth/sign-out`)
  assert.ok((await tab.locator('main').innerText()).includes(EMAIL))
  await press(tab, 'Sign out')
  assert.equal(await tab.getByRole('heading', { level: 1 }).innerText(), sentence('signedOutHeading'))
  await tab.goto(link)
  assert.ok(tab.url().startsWith(`${server.origin}/v2/oauth/sign-in?`))
  assert.deepEqual(complaints, [])
})

test('a link to 127.0.0.1 redirects to the name of the issuer, and the flow completes', async (t) => {
  const server = await openIssuer(t, {})
  const { port, next } = await openListener(t)
  const { link } = await startClient(server, `http://127.0.0.1:${port}/callback`, {}, {})
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(link.replace('//localhost:', '//127.0.0.1:'))
  assert.equal(new URL(tab.url()).origin, server.origin)
  await signIn(tab)
  await press(tab, 'Allow')
  assert.equal((await next()).searchParams.get('iss'), server.origin)
})
