import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createUser, setPassword } from '../../src/admin/user/user.ts'
import {
  authorizeUrl,
  EMAIL,
  PASSWORD,
  hiddenFields,
  locationOf,
  obtainCode,
  PlainBrowser,
  postForm,
  redeem,
  refresh,
  registerClient,
  requestToken,
  VERIFIER,
  type Tokens,
} from '../../tools/flow.ts'
import { signOut } from '../../tools/sign-out.ts'
import { createAccount } from '../support/accounts.ts'
import { openTestServer, STRICT, type TestServer } from '../support/server.ts'
import { appOfPage, codesOfPage, doFirstStep, submitTo } from '../support/sign-in/apps.ts'
import { openOwner } from '../endpoints/account/owner.ts'
import { Secret } from 'otpauth'

test('STO-01, OTP-06: no secret of any flow is in the database, its write-ahead log, or the server’s log', async (t) => {
  const server = await openTestServer(t, { env: STRICT })
  const secrets = await runEverything(server)
  const places = placesOf(server)
  for (const [name, secret] of secrets) {
    assert.ok(secret.length >= 12, `${name} is too short to look for`)
    for (const [place, bytes] of places) assert.equal(bytes.includes(secret), false, `${name} is in ${place}`)
  }
  // These must be found, to show that the search works.
  const all = Buffer.concat([...places.values()])
  for (const marker of [EMAIL, 'Marked client', 'argon2id', 'refresh-token.reused'])
    assert.ok(all.includes(marker), marker)
  assert.ok(places.has('grantor.db-wal') && places.has('the log'))
})

test('STO-01: no secret is in the file after a restart, which moves the write-ahead log into it', async (t) => {
  const first = await openTestServer(t, { env: STRICT })
  const secrets = await runEverything(first)
  const server = await first.reopen()
  const places = placesOf(server)
  for (const [name, secret] of secrets)
    for (const [place, bytes] of places) assert.equal(bytes.includes(secret), false, `${name} is in ${place}`)
  assert.ok(places.get('grantor.db')?.includes('Marked client'))
})

/** Runs every flow with its refusals, and returns all secrets that were handed out. */
async function runEverything(server: TestServer): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map<string, string>([
    ['the password', PASSWORD],
    ['the verifier', VERIFIER],
  ])
  const keep = (name: string, secret: string | undefined): string => {
    assert.ok(secret, name)
    secrets.set(name, secret)
    // The random part, in case a shortened credential is stored.
    if (/^g[a-z]{2}_/.test(secret)) secrets.set(`the middle of ${name}`, secret.slice(-60, -22))
    return secret
  }
  await createUser(server.context, {
    email: EMAIL,
    password: keep('the first password', 'a first pass phrase'),
    name: 'Ada',
  })
  await setPassword(server.context, EMAIL, PASSWORD)

  const client = await registerClient(server, { client_name: 'Marked client' })
  const other = await registerClient(server)
  keep('the secret of a client', client.client_secret)
  keep('the secret of another client', other.client_secret)

  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  keep('the token of a form', hiddenFields(page)['csrf'])
  await browser.submit(page, { email: EMAIL, password: keep('a wrong password', 'not the pass phrase') })
  const signedIn = await browser.submit(page, { email: EMAIL, password: PASSWORD })
  for (const [name, value] of browser.cookies) keep(`the cookie ${name}`, value)
  const consent = await browser.get(locationOf(signedIn))
  keep('the token of the consent', hiddenFields(consent)['csrf'])
  const allowed = await browser.submit(consent, { decision: 'allow' })
  const code = keep('a code', new URL(locationOf(allowed)).searchParams.get('code') ?? '')

  await redeem(server, other, code)
  await redeem(server, client, code, { redirect_uri: 'https://evil.test' })
  const first = (await redeem(server, client, code)).json<Tokens>()
  const token = keep('a refresh token', first.refresh_token)
  keep('an access token', first.access_token.split('.')[2])
  const second = (await refresh(server, client, token)).json<Tokens>()
  keep('the successor', second.refresh_token)
  keep('the access token of a refresh', second.access_token.split('.')[2])
  await refresh(server, client, token)
  await refresh(server, other, token)
  await refresh(server, client, token, { scope: 'admin"' })
  await redeem(server, client, code)
  await refresh(server, client, token)

  const again = await obtainCode(server, client, { prompt: 'consent' })
  const third = (await redeem(server, client, keep('another code', again))).json<Tokens>()
  await refresh(server, client, keep('another refresh token', third.refresh_token))
  server.clock.advance(31_000)
  await refresh(server, client, third.refresh_token ?? '')
  const burned = await obtainCode(server, client, { prompt: 'consent' })
  await redeem(server, client, keep('a burned code', burned), {
    code_verifier: keep('a wrong verifier', 'wrong'.repeat(10)),
  })

  const machine = await requestToken(server, client, { grant_type: 'client_credentials' })
  keep('a machine’s access token', machine.json<Tokens>().access_token.split('.')[2])
  await misplaceThem(server, client.client_id, client.client_secret ?? '', token)
  await signOut(browser)
  await setUpApp(server, client, keep)
  return secrets
}

/** Two-step sign-in of another user, with wrong and right codes (OTP-06). */
async function setUpApp(
  server: TestServer,
  client: Awaited<ReturnType<typeof registerClient>>,
  keep: (name: string, secret: string | undefined) => string,
): Promise<void> {
  const email = 'grace@acme.test'
  await createAccount(server, { email, password: PASSWORD, name: 'Grace' })
  const owner = openOwner(server, email)
  const page = await owner.open('/account/security/app')
  const app = appOfPage(server, page)
  const key = keep('the key of an app', /<code class="key">([^<]+)/.exec(page.body)?.[1])
  const secret = Buffer.from(Secret.fromBase32(keep('the key in one piece', key.replaceAll(' ', ''))).bytes)
  for (const form of ['base64url', 'hex', 'latin1'] as const) keep(`the key as ${form}`, secret.toString(form))
  await owner.submit(page, 'code', { code: app.wrongCode() })
  const codes = codesOfPage(await owner.submit(page, 'code', { code: app.code() }))
  assert.equal(codes.length, 10)
  for (const code of codes) keep('a recovery code without hyphens', keep('a recovery code', code).replaceAll('-', ''))
  const exported = await owner.submit(await owner.open('/account/data'), 'csrf', {})
  assert.match(exported.body, /"authenticator_app": {\s+"added_at": "2[^}]+"recovery_codes": 10/)
  for (const hidden of [key.replaceAll(' ', ''), ...codes]) assert.equal(exported.body.includes(hidden), false)
  const browser = new PlainBrowser(server)
  const step = await doFirstStep(browser, client, email)
  await submitTo(browser, step, '/recovery-code', { code: codes[0] ?? '' })
  await submitTo(browser, step, '/recovery-code', { code: codes[0] ?? '' })
}

/** Sends credentials in the wrong parameters. */
async function misplaceThem(server: TestServer, id: string, secret: string, token: string): Promise<void> {
  const form = { grant_type: 'refresh_token', client_id: id, client_secret: secret, refresh_token: token }
  const query = new URLSearchParams(form).toString()
  const basic = Buffer.from(`${id}:${secret}`).toString('base64')
  await postForm(server, `/v2/oauth/token?${query}`, {})
  await postForm(server, '/v2/oauth/token', { ...form, grant_type: token, client_id: secret })
  await postForm(server, '/v2/oauth/token', form, { authorization: `Basic ${basic}` })
  await postForm(server, '/v2/oauth/token', form, { authorization: `Bearer ${token}` })
  await server.inject({ url: `/${token}?${query}` })
  await server.inject({ url: `/v2/oauth/authorize?${query}&redirect_uri=https://app.example/${secret}` })
  await server.inject({
    method: 'POST',
    url: '/v2/oauth/register',
    headers: { 'content-type': 'text/plain' },
    payload: query,
  })
  await server.inject({
    method: 'POST',
    url: '/v2/oauth/register',
    headers: { 'content-type': 'application/json' },
    payload: query,
  })
}

/** All files beside the root secret, and the log. */
function placesOf(server: TestServer): ReadonlyMap<string, Buffer> {
  const files = readdirSync(server.folder).filter((name) => name !== 'grantor.secret')
  const places = new Map(files.map((name) => [name, readFileSync(join(server.folder, name))]))
  return places.set('the log', Buffer.from(server.log()))
}
