import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { isOneNetwork } from '../../../src/base/networks-around.ts'
import { DEVICE_CODE } from '../../../src/protocol/token/grant-types.ts'
import { connectDevice, from, openDeviceConsent, poll, startDevice, typeCode } from '../../../tools/device-flow.ts'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  postForm,
  signInAndAllow,
} from '../../../tools/flow.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openStillClock } from '../../support/clocks.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { assertError } from '../../support/error-answer.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { pageSays } from '../../texts/page-texts.ts'

const server = await openTestServer(WHOLE_FILE, {
  clock: openStillClock(),
  env: { ...DEVICES_ON, GRANTOR_NAME: 'Acme Cloud' },
})
await createAda(server)
const cli = await createDeviceClient(server)
const signedIn = new PlainBrowser(server)
await connectDevice(server, await startDevice(server, cli), signedIn)

function headingOf({ body }: LightMyRequestResponse): string {
  return /<h1>([^]*?)<\/h1>/.exec(body)?.[1]?.replaceAll(/<[^>]*>/g, '') ?? ''
}

test('DEV-04: a device in another network is named with a warning and a box, without which nothing is allowed', async () => {
  const device = await startDevice(from(server, '203.0.113.3'), cli)
  const page = await openDeviceConsent(signedIn, device)
  assert.match(
    page.body,
    /<p class="notice">[^]*from another network: [^]*203\.0\.113\.3[^]*that person would get access/,
  )
  assert.deepEqual(hiddenFields(page)['own_device'], undefined, 'the box is not checked')
  const refused = await signedIn.submit(page, { decision: 'allow' })
  assert.equal(refused.statusCode, 400)
  assert.match(refused.body, /aria-invalid="true" aria-describedby="device-problem"/)
  assertError(await poll(server, cli, device), 400, 'authorization_pending')
  const ofOther = await signedIn.submit(refused, { decision: 'allow', own_device: 'on' })
  assert.equal(headingOf(ofOther), 'Connected')
  tokensOf(await poll(server, cli, device))

  const near = await openDeviceConsent(signedIn, await startDevice(server, cli))
  assert.match(near.body, pageSays('device.askedHere'))
  assert.doesNotMatch(near.body, /own_device|another network/)
})

test('DEV-04: the page reads no code from its address, and shows none', async () => {
  const { user_code: code } = await startDevice(server, cli)
  for (const name of ['user_code', 'code', 'userCode']) {
    const page = await new PlainBrowser(server).get(`/device?${name}=${code}`)
    assert.equal(page.statusCode, 200)
    assert.doesNotMatch(page.body, new RegExp(code))
    assert.doesNotMatch(page.body, /<input[^>]*name="code"[^>]*value=/)
  }
  const started = await startDevice(server, cli)
  assert.doesNotMatch(JSON.stringify(started), /complete/)
})

test('DEV-05: no page gives a public client a mark of trust, in both languages, and its name is inert', async () => {
  const name = '<script>alert(1)</script>"Acme Verified'
  const client = await createDeviceClient(server, { client_name: name })
  for (const language of ['en', 'de']) {
    const browser = new PlainBrowser(server)
    const device = await startDevice(server, client)
    const typed = await browser.submit(await browser.get(`/device?ui_locales=${language}`), { code: device.user_code })
    const signIn = await browser.get(locationOf(typed))
    const consent = await browser.get(locationOf(await browser.submit(signIn, { email: EMAIL, password: PASSWORD })))
    const done = await browser.submit(consent, { decision: 'allow' })
    tokensOf(await poll(server, client, device))
    const apps = await browser.get(`/account/apps?ui_locales=${language}`)
    for (const page of [signIn, consent, done, apps]) {
      assert.match(page.body, new RegExp(`<html lang="${language}"`))
      assert.doesNotMatch(page.body, /<script>alert|"Acme Verified|Verified by|Geprüft von/)
    }
    assert.doesNotMatch(signIn.body + done.body, /Acme Verified/)
    assert.match(consent.body, language === 'en' ? pageSays('device.saysItIs') : /Das Gerät gibt sich als/)
    assert.match(apps.body, language === 'en' ? /<strong>Unverified/ : /<strong>Nicht geprüft/)
  }
  const without = { redirect_uris: ['https://app.example/cb'], grant_types: ['authorization_code'] }
  await perform(server.context, 'client.update', { client_id: client.client_id, ...without })
  const later = await signedIn.get('/account/apps')
  assert.doesNotMatch(later.body, /Verified by/, 'nor after it lost the grant')
  const board = await createDeviceClient(server, {
    client_name: 'Board',
    token_endpoint_auth_method: 'client_secret_basic',
  })
  const secret = { ...board, client_secret: String(board.client_secret) }
  const consent = await openDeviceConsent(signedIn, await startDevice(server, secret))
  assert.match(consent.body, /The device is <strong><bdi>Board[^]*Verified by <bdi>Acme Cloud/)
})

test('DEV-18: what was connected is removed on the account page before the device fetches its tokens', async () => {
  for (const [language, waits] of [
    ['en', 'a device fetches its access now'],
    ['de', 'ein Gerät holt gerade seinen Zugriff ab'],
  ]) {
    const client = await createDeviceClient(server, { client_name: 'Waiting' })
    const device = await startDevice(server, client, { scope: 'openid' })
    const done = await connectDevice(server, device, signedIn)
    assert.match(done.body, /href="[^"]*\/account\/apps"/)
    const apps = await signedIn.get(`/account/apps?ui_locales=${language}`)
    assert.ok(apps.body.includes(String(waits)), apps.body)
    const question = await signedIn.get(`/account/apps/remove?client=${client.client_id}`)
    assert.match(locationOf(await signedIn.submit(question, {})), /done=app-removed$/)
    assertError(await poll(server, client, device), 400, 'expired_token')
    const left = await signedIn.get('/account/apps')
    assert.doesNotMatch(left.body, /Waiting/)
  }
})

test('DEV-06: 20 wrong codes of a network are followed by 429, and other networks are unaffected', async () => {
  const [device, expired, used] = [
    await startDevice(server, cli),
    await startDevice(server, cli),
    await startDevice(server, cli),
  ]
  await connectDevice(server, used, signedIn)
  const guessing = new PlainBrowser(from(server, '203.0.113.4'))
  const page = await guessing.get('/device')
  const type = (code: string) => guessing.submit(page, { code })
  assert.equal((await type('')).statusCode, 400)
  assert.equal((await type('abc')).statusCode, 400, 'what is no code is not counted')
  const right = await type(device.user_code.toLowerCase().replace('-', ' '))
  assert.match(locationOf(right), /sign-in/)
  server.clock.advance(10 * 60_000)
  await assertStoreUnchanged(server, async () => {
    const bodies = new Set<string>()
    for (const code of [expired.user_code, used.user_code, ...Array<string>(18).fill('BCDFGHJK')]) {
      const answer = await type(code)
      assert.equal(answer.statusCode, 400)
      bodies.add(answer.body)
    }
    assert.equal(bodies.size, 1, 'wrong, expired and used codes look the same')
    const late = await type(device.user_code)
    assert.equal(late.statusCode, 429)
    assert.ok(Number(late.headers['retry-after']) > 0)
  })
  const other = new PlainBrowser(from(server, '203.0.113.5'))
  assert.match(locationOf(await typeCode(other, await startDevice(server, cli))), /sign-in/)
})

test('DEV-06: right codes take nothing from the sign-ins of a network, and are limited as authorization requests', async () => {
  const network = '203.0.113.6'
  const use = (budget: 'sign-in' | 'authorization') => {
    const take = () => server.context.budgets.take(budget, network, server.context.clock()).isWithin
    while (take());
  }
  const browser = new PlainBrowser(from(server, network))
  use('sign-in')
  assert.match(locationOf(await typeCode(browser, await startDevice(server, cli))), /sign-in/)
  use('authorization')
  const device = await startDevice(server, cli)
  const page = await browser.get('/device')
  for (let typed = 0; typed < 20; typed += 1)
    assertLocalPage(await browser.submit(page, { code: device.user_code }), 429)
  const refused = await browser.get('/v2/oauth/authorize')
  assert.deepEqual([refused.statusCode, refused.headers['ratelimit-policy']], [429, '"authorization";q=1000000;w=60'])
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.match(server.log(), /"detail":"authorization: 1000000 a minute \(GRANTOR_AUTHORIZATION_RATE\)"/)
  server.clock.advance(60_000)
  const counted = await browser.submit(page, { code: device.user_code })
  assert.ok(Number(counted.headers['retry-after']) > 60, 'codes beyond the rate stay counted')
})

test('DEV-06: a code of a client that lost the grant or was disabled is a wrong one', async () => {
  const client = await createDeviceClient(server, { client_name: 'Gone' })
  const device = await startDevice(server, client)
  const page = await openDeviceConsent(signedIn, device)
  await perform(server.context, 'client.disable', { client_id: client.client_id })
  assert.equal((await typeCode(signedIn, device)).statusCode, 400)
  assertLocalPage(await signedIn.submit(page, { decision: 'allow' }))
  await perform(server.context, 'client.enable', { client_id: client.client_id })
  const without = { redirect_uris: ['https://app.example/cb'], grant_types: ['authorization_code'] }
  await perform(server.context, 'client.update', { client_id: client.client_id, ...without })
  assert.equal((await typeCode(signedIn, device)).statusCode, 400)
  assertLocalPage(await signedIn.submit(page, { decision: 'allow' }), 403)
})

test('DEV-07: of two browsers with one code one connects, and the other sees that it is completed', async () => {
  await createAccount(server, { email: 'eve@acme.test', password: PASSWORD, name: 'Eve' })
  const device = await startDevice(server, cli)
  const [ada, eve] = [signedIn, new PlainBrowser(server)]
  const [own, others] = [await openDeviceConsent(ada, device), await openDeviceConsent(eve, device, 'eve@acme.test')]
  assert.equal(headingOf(await ada.submit(own, { decision: 'allow' })), 'Connected')
  for (const decision of ['allow', 'deny']) assertLocalPage(await eve.submit(others, { decision }), 409)
  const authorization = hiddenFields(others)['authorization']
  assertLocalPage(await eve.get(`/v2/oauth/consent?authorization=${authorization}`), 409)
  assert.equal(headingOf(await ada.submit(own, { decision: 'allow' })), 'Connected')
  tokensOf(await poll(server, cli, device))
  assert.equal(headingOf(await ada.submit(own, { decision: 'allow' })), 'Connected', 'the device was faster')
  assertLocalPage(await ada.submit(own, { decision: 'deny' }), 409)
})

test('DEV-07: who denies ends the request of the device for all browsers', async () => {
  const device = await startDevice(server, cli)
  const [one, other] = [await openDeviceConsent(signedIn, device), await openDeviceConsent(signedIn, device)]
  const denied = await signedIn.submit(one, { decision: 'deny' })
  assert.deepEqual([denied.statusCode, headingOf(denied)], [200, 'Denied'])
  assertLocalPage(await signedIn.submit(other, { decision: 'allow' }), 409)
  assertError(await poll(server, cli, device), 400, 'access_denied')
})

test('DEV-08: the page is shown although the client is first-party, or the user has allowed the same before', async () => {
  const metadata = {
    grant_types: [DEVICE_CODE, 'authorization_code', 'refresh_token'],
    redirect_uris: ['https://app.example/callback'],
    scope: 'openid',
    token_endpoint_auth_method: 'client_secret_post',
    rules: { consent: 'implied' },
  }
  const own = await createDeviceClient(server, metadata)
  const request = { scope: 'openid', redirect_uri: 'https://app.example/callback' }
  await signInAndAllow(signedIn, authorizeUrl(own, { ...request, prompt: 'consent' }))
  const silent = await signedIn.get(authorizeUrl(own, { ...request, prompt: 'none' }))
  assert.match(locationOf(silent), /code=/, 'in a browser the consent is remembered')
  for (let times = 0; times < 2; times += 1) {
    const device = await startDevice(server, own, { scope: 'openid', prompt: 'none' })
    const page = await openDeviceConsent(signedIn, device)
    assert.match(page.body, pageSays('device.isShown'))
    await signedIn.submit(page, { decision: 'allow' })
    tokensOf(await poll(server, own, device))
  }
})

test('DEV-10: a form of another site or browser, or of no browser, does nothing, and no page is framed', async () => {
  const device = await startDevice(server, cli)
  const page = await signedIn.get('/device')
  assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/)
  assert.match(String(page.headers['content-security-policy']), /form-action 'self';/)
  const form = { ...hiddenFields(page), code: device.user_code }
  const other = new PlainBrowser(server)
  await other.get('/device')
  await assertStoreUnchanged(server, async () => {
    assertLocalPage(await signedIn.post('/device', form, { 'sec-fetch-site': 'cross-site' }), 403)
    assertLocalPage(await signedIn.post('/device', { ...form, csrf: 'x' }), 403)
    assertLocalPage(await other.post('/device', form), 403)
    assertLocalPage(await postForm(server, '/device', form), 403)
  })
  const consent = await openDeviceConsent(signedIn, device)
  const answer = { ...hiddenFields(consent), decision: 'allow' }
  await assertStoreUnchanged(server, async () => {
    assertLocalPage(await other.post('/v2/oauth/consent', answer), 403)
    assertLocalPage(await signedIn.post('/v2/oauth/consent', answer, { 'sec-fetch-site': 'same-site' }), 403)
  })
})

test('DEV-10: after the back button the same code is typed again, and either page connects the device once', async () => {
  const device = await startDevice(server, cli)
  const first = await openDeviceConsent(signedIn, device)
  const second = await openDeviceConsent(signedIn, device)
  assert.notEqual(hiddenFields(first)['authorization'], hiddenFields(second)['authorization'])
  assert.equal(headingOf(await signedIn.submit(first, { decision: 'allow' })), 'Connected')
  assertLocalPage(await signedIn.submit(second, { decision: 'allow' }), 409)
  tokensOf(await poll(server, cli, device))
})

test('DEV-02: a page that is left open until the device has expired says so', async () => {
  const device = await startDevice(server, cli)
  const page = await openDeviceConsent(signedIn, device)
  server.clock.advance(10 * 60_000)
  assertLocalPage(await signedIn.submit(page, { decision: 'allow' }))
  assertError(await poll(server, cli, device), 400, 'expired_token')
})

test('DEV-16: an approval that can still be redeemed ends with the app, and with the session of its user', async () => {
  const elsewhere = from(server, '203.0.113.9')
  const browsers = [new PlainBrowser(server), new PlainBrowser(server)]
  for (const [index, browser] of browsers.entries()) {
    await connectDevice(server, await startDevice(server, cli), browser)
    const device = await startDevice(elsewhere, cli, { scope: 'openid' })
    const page = await openDeviceConsent(browser, device)
    server.clock.advance(590_000)
    await browser.submit(page, { decision: 'allow', own_device: 'on' })
    server.clock.advance(250_000)
    const uri = index === 0 ? `/account/apps/remove?client=${cli.client_id}` : '/v2/oauth/sign-out'
    await browser.submit(await browser.get(uri), {})
    assertError(await poll(elsewhere, cli, device), 400, 'expired_token')
  }
})

test('DEV-17: a device of a clock that was ahead, or from before its client was renamed, is not answered', async () => {
  const typed = async (device: Awaited<ReturnType<typeof startDevice>>): Promise<number> =>
    (await typeCode(signedIn, device)).statusCode
  server.clock.advance(3_600_000)
  const ahead = await startDevice(server, cli)
  server.clock.advance(-3_600_000)
  assertError(await poll(server, cli, ahead), 400, 'expired_token')
  assert.equal(await typed(ahead), 400)

  const before = await startDevice(server, cli)
  server.clock.advance(1000)
  await perform(server.context, 'client.update', { client_id: cli.client_id, client_name: 'Other CLI' })
  assert.equal(await typed(before), 400)
})

test('RFC 8628 §3.3: the audit says that an approval or a denial was that of a device', async () => {
  const audit = JSON.stringify(selectAll(server, 'select events from audit_links'))
  for (const event of ['authorization.approved', 'authorization.denied'])
    assert.match(audit, new RegExp(`${event.replace('.', '\\.')}[^}]*details[^}]*device[\\\\"]*:true`))
})

test('DEV-04: an address that cannot be read is in no network, and all addresses of this machine are in one', () => {
  for (const [one, other, isSame] of [
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['2001:db8:0:1::/64', '2001:db8:0:1::/64', true],
    ['unreadable', 'unreadable', false],
    ['127.0.0.1', '0:0:0:0::/64', true],
    ['127.0.0.1', '203.0.113.7', false],
  ] as const)
    assert.equal(isOneNetwork(one, other), isSame, `${one} ${other}`)
})
