import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import { connectDevice, from, openDeviceConsent, poll, startDevice, typeCode } from '../../../tools/device-flow.ts'
import { EMAIL, locationOf, PASSWORD, PlainBrowser, type RegisteredClient, type Tokens } from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { givePasskey, passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount, createAda } from '../../support/accounts.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { APPLICATION_URL, interactionIn, openApplication, redirectOf } from '../../support/application.ts'
import { assertLocalPage } from '../../support/authorize-answers.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { addMember, createOrganization } from '../../support/organizations.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider, freshClaims, signInAt } from '../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { submitTo } from '../../support/sign-in/apps.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { pageSays } from '../../texts/page-texts.ts'

/** Devices with what meets them: each way to sign in, second steps, organizations, and the operator's application. */

async function open(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const server = await openTestServer(t, { env: { ...DEVICES_ON, ...env } })
  return { server, cli: await createDeviceClient(server) }
}

/** Types the code in a browser that the application signs in. Returns the interaction. */
async function leaveWith(browser: PlainBrowser, device: { readonly user_code: string }): Promise<string> {
  const page = await browser.get(locationOf(await typeCode(browser, device)), { 'sec-fetch-site': 'same-origin' })
  const [, link = ''] = /<a class="button main" href="([^"]*)"/.exec(page.body) ?? []
  return interactionIn(await browser.get(link.replaceAll('&amp;', '&')))
}

async function errorOf(server: TestServer, client: RegisteredClient, device: { readonly device_code: string }) {
  return (await poll(server, client, device)).json<{ readonly error?: string }>().error
}

test('DEV-12: an application that asks for everything sees the device, and answers for it', async (t) => {
  const { server, cli } = await open(t, { GRANTOR_DELEGATE_URL: APPLICATION_URL })
  const application = await openApplication(server)
  const device = await startDevice(server, cli)
  const browser = new PlainBrowser(server)
  const interaction = await leaveWith(browser, device)
  const shown = (await application.show(interaction)).json<Record<string, Record<string, unknown>>>()
  const { asked_at: askedAt, ...rest } = shown['device'] ?? {}
  assert.ok(!Number.isNaN(Date.parse(String(askedAt))))
  assert.deepEqual(rest, { user_code: device.user_code, network: '127.0.0.1', is_same_network: true })
  assert.deepEqual(shown['client']?.['destination'], { kind: 'device', host: null, scheme: null })
  assert.deepEqual([shown['client']?.['trust_level'], shown['prompt']], ['unverified', ['consent']])
  const address = await application.signIn(interaction, { own_device: true })
  for (const _ of [1, 2]) assert.match((await browser.get(address)).body, /Connected/)
  tokensOf(await poll(server, cli, device))

  const refused = await startDevice(server, cli)
  const other = new PlainBrowser(server)
  const rejected = await application.reject(await leaveWith(other, refused))
  assert.match((await other.get(redirectOf(rejected))).body, /Denied/)
  assert.equal(await errorOf(server, cli, refused), 'access_denied')
  const failed = await startDevice(server, cli)
  const answer = await application.reject(await leaveWith(other, failed), 'temporarily_unavailable')
  assert.match((await other.get(redirectOf(answer))).body, pageSays('device.refused'))
  assert.equal(await errorOf(server, cli, failed), 'access_denied')
})

test('DEV-12: the page of this server follows for a device, unless the application says that it was confirmed', async (t) => {
  const { server, cli } = await open(t, { GRANTOR_DELEGATE_URL: APPLICATION_URL })
  const application = await openApplication(server)
  const far = from(server, '203.0.113.6')
  for (const [origin, answer] of [
    [server, {}],
    [far, {}],
    [far, { own_device: true }],
  ] as const) {
    const device = await startDevice(origin, cli)
    const browser = new PlainBrowser(server)
    const interaction = await leaveWith(browser, device)
    assert.equal((await application.show(interaction)).json().device.is_same_network, origin === server)
    let page = await browser.get(await application.signIn(interaction, answer))
    if (!('own_device' in answer)) {
      page = await browser.get(locationOf(page))
      assert.match(page.body, origin === server ? pageSays('device.askedHere') : /another network/)
      page = await browser.submit(page, { decision: 'allow', own_device: 'on' })
    }
    assert.match(page.body, /Connected/)
    tokensOf(await poll(server, cli, device))
  }
})

test('DEV-12: an application that only signs users in leaves the consent page to this server, each time', async (t) => {
  const { server, cli } = await open(t, { GRANTOR_DELEGATE_URL: APPLICATION_URL, GRANTOR_DELEGATE: 'sign-in' })
  const application = await openApplication(server)
  const browser = new PlainBrowser(server)
  const device = await startDevice(server, cli)
  const answer = { decision: 'ask', remember_seconds: 3600 }
  const back = await browser.get(await application.signIn(await leaveWith(browser, device), answer))
  const page = await browser.get(locationOf(back))
  assert.match((await browser.submit(page, { decision: 'allow' })).body, /Connected/)
  tokensOf(await poll(server, cli, device))
  const next = await startDevice(server, cli)
  assert.match((await openDeviceConsent(browser, next)).body, pageSays('device.isShown'))
})

test('DEV-12: a device waits while its user signs in at a provider', async (t) => {
  const host = await openProviderHost(t)
  const { server, cli } = await open(t)
  await addProvider(server, host, { signUp: 'anybody' })
  const device = await startDevice(server, cli)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await typeCode(browser, device)))
  assert.match(page.body, pageSays('device.signIn'))
  const back = await signInAt({ browser, page, host }, freshClaims(server))
  const consent = await browser.get(locationOf(back))
  assert.match((await browser.submit(consent, { decision: 'allow' })).body, /Connected/)
  tokensOf(await poll(server, cli, device))
})

test('DEV-12: a second step and a passkey are done on the way, and a scope that needs one is asked for', async (t) => {
  const { server, cli } = await open(t)
  await createAda(server)
  const API = 'https://bank.example'
  await declareApi(server, API, {}, [
    { name: 'read', sentence: 'Read', grantedTo: 'users' },
    { name: 'pay', sentence: 'Pay', grantedTo: 'users', stepUp: { level: 2, maxAge: undefined } },
  ])
  knowApis(server)
  const plain = new PlainBrowser(server)
  const early = await startDevice(server, cli, { scope: 'read pay', resource: API })
  await connectDevice(server, early, plain)
  assert.equal(decodeJwt(tokensOf(await poll(server, cli, early)).access_token)['scope'], 'read')

  const app = await addApp(server)
  const device = await startDevice(server, cli, { scope: 'read pay', resource: API })
  const asked = await plain.get(locationOf(await typeCode(plain, device)))
  const stepped = await submitTo(plain, asked, '/sign-in/code', { code: app.code() })
  const consent = await plain.get(locationOf(stepped))
  assert.match((await plain.submit(consent, { decision: 'allow' })).body, /Connected/)
  const claims = decodeJwt(tokensOf(await poll(server, cli, device)).access_token)
  assert.deepEqual([claims['scope'], claims['acr']], ['read pay', 'urn:grantor:acr:2fa'])

  const eve = await createAccount(server, { email: 'eve@acme.test', password: PASSWORD, name: 'Eve' })
  const { authenticator } = await givePasskey(server, eve.id)
  const last = await startDevice(server, cli, { scope: 'openid' })
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await typeCode(browser, last)))
  const signed = await browser.post(passkeyFormOf(page).action, signedFields(page, { userId: eve.id, authenticator }))
  assert.match((await browser.submit(await browser.get(locationOf(signed)), { decision: 'allow' })).body, /Connected/)
  const { id_token: idToken } = tokensOf(await poll(server, cli, last)) as Tokens & { readonly id_token: string }
  assert.ok((decodeJwt(idToken)['amr'] as string[]).includes('mfa'))
})

test('DEV-12: a device is connected for an organization that it names or the user chooses, and for no other', async (t) => {
  const { server, cli } = await open(t)
  await createAda(server)
  const ada = await server.context.store.findUserByEmail(EMAIL)
  assert.ok(ada)
  const [own, others] = [await createOrganization(server, 'Acme'), await createOrganization(server, 'Other')]
  await addMember(server, ada.id, own)
  const organizationOf = async (device: { readonly device_code: string }) =>
    decodeJwt(tokensOf(await poll(server, cli, device)).access_token)['org_id']
  const browser = new PlainBrowser(server)
  const named = await startDevice(server, cli, { org_id: own })
  await connectDevice(server, named, browser)
  assert.equal(await organizationOf(named), own)
  const chosen = await startDevice(server, cli)
  await browser.submit(await openDeviceConsent(browser, chosen), { decision: 'allow', organization: own })
  assert.equal(await organizationOf(chosen), own)
  const foreign = await startDevice(server, cli, { org_id: others })
  const page = await typeCode(browser, foreign)
  assert.equal(page.statusCode, 400)
  assert.match(page.body, /The device was not connected[^]*organization that your account does not belong to/)
  assert.equal(await errorOf(server, cli, foreign), 'access_denied')
})

test('DEV-12: a user who signed out while the page was open signs in again, and connects the device', async (t) => {
  const { server, cli } = await open(t)
  await createAda(server)
  const device = await startDevice(server, cli)
  const browser = new PlainBrowser(server)
  const page = await openDeviceConsent(browser, device)
  await browser.submit(await browser.get('/v2/oauth/sign-out'), {})
  const again = await browser.submit(page, { decision: 'allow' })
  const signIn = await browser.get(locationOf(again))
  const consent = await browser.get(locationOf(await browser.submit(signIn, { email: EMAIL, password: PASSWORD })))
  assertLocalPage(await browser.post('/v2/oauth/consent', { decision: 'allow', csrf: 'x' }))
  assert.match((await browser.submit(consent, { decision: 'allow' })).body, /Connected/)
  tokensOf(await poll(server, cli, device))
})
