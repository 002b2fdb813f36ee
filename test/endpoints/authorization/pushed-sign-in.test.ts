import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  EMAIL,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  pushedUrl,
  pushRequest,
  redeem,
  registerClient,
  signInAndAllow,
} from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { createAda } from '../../support/accounts.ts'
import { assertErrorRedirect, consentedBrowser, isCodeAnswer, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openStillClock } from '../../support/clocks.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { addMember, createOrganization, openConsent } from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { submitTo } from '../../support/sign-in/apps.ts'

/** Whole sign-ins by a pushed request. */

const server = await openTestServer(WHOLE_FILE, {
  clock: openStillClock(),
  env: { GRANTOR_REDIRECT_ERRORS: 'true' },
})
await createAda(server)
const client = await registerClient(server)
const signedIn = await consentedBrowser(server, client)

test('PAR-01: the parameters that ASP.NET Core pushes sign a user in, and the answer is posted as a form', async () => {
  const state = `CfDJ8${'N'.repeat(2048)}`
  const parameters = { scope: 'openid profile', response_mode: 'form_post', nonce: '638.NzU5', state }
  // The browser carries what names the library.
  const url = `${await pushedUrl(server, client, parameters)}&x-client-SKU=ID_NET9_0&x-client-ver=8.14.0.0`
  const page = await signedIn.get(locationOf(await signedIn.get(url)))
  const answer = await signedIn.submit(page, { decision: 'allow' })
  assert.equal(answer.statusCode, 200)
  const fields = hiddenFields(answer)
  assert.deepEqual([fields['state'], fields['iss']], [state, server.origin])
  assert.ok((await redeem(server, client, fields['code'] ?? '')).json().id_token)
})

test('PAR-01: a client with a metadata document may push first, and later if its document cannot be fetched', async () => {
  const host = await openDocumentHost(WHOLE_FILE)
  const own = host.client()
  const url = await pushedUrl(server, own)
  server.clock.advance(1)
  const answer = await signInAndAllow(new PlainBrowser(server), url)
  const redeemed = await redeem(server, own, answer.searchParams.get('code') ?? '')
  assert.equal(redeemed.statusCode, 200, redeemed.body)
  host.answer((_request, response) => response.writeHead(404).end())
  const refused = await pushRequest(server, host.client('/gone.json'))
  assert.deepEqual([refused.statusCode, refused.json().error], [503, 'temporarily_unavailable'])
})

test('PAR-01: prompt=none, login_hint, claims and an organization have the same effect as in the address', async () => {
  const none = await pushedUrl(server, client, { prompt: 'none' })
  assertErrorRedirect(server, await new PlainBrowser(server).get(none), 'login_required')
  assert.ok(isCodeAnswer(await signedIn.get(none)), 'the refusal did not use it up')

  const hinted = new PlainBrowser(server)
  const page = await hinted.get(
    locationOf(await hinted.get(await pushedUrl(server, client, { login_hint: 'eve@acme.test' }))),
  )
  assert.match(page.body, /value="eve@acme.test"/)

  const claims = JSON.stringify({ id_token: { email: { essential: true } } })
  const asking = await pushedUrl(server, client, { scope: 'openid', claims, prompt: 'consent' })
  const code = (await signInAndAllow(signedIn, asking)).searchParams.get('code') ?? ''
  const { id_token: idToken } = (await redeem(server, client, code)).json<{ id_token: string }>()
  assert.equal(decodeJwt(idToken)['email'], EMAIL)

  const ada = await server.context.store.findUserByEmail(EMAIL)
  assert.ok(ada)
  const [own, others] = [await createOrganization(server, 'Acme'), await createOrganization(server, 'Other')]
  await addMember(server, ada.id, own)
  server.clock.advance(1)
  const foreign = await signedIn.get(await pushedUrl(server, client, { org_id: others }))
  assertErrorRedirect(server, foreign, 'access_denied')
  const url = await pushedUrl(server, client, { org_id: own, prompt: 'consent' })
  const granted = await redeem(server, client, (await signInAndAllow(signedIn, url)).searchParams.get('code') ?? '')
  assert.equal(decodeJwt(granted.json<{ access_token: string }>().access_token)['org_id'], own)
})

test('PAR-01: a user who signs out while the consent page is open signs in again, with a second step, in the same pushed request', async () => {
  const browser = new PlainBrowser(server)
  const page = await openConsent(browser, await pushedUrl(server, client, { prompt: 'consent' }))
  await browser.submit(await browser.get('/v2/oauth/sign-out'), {})
  const allow = { decision: 'allow', organization: 'none' }
  const refused = await browser.submit(page, allow)
  assert.match(locationOf(refused), /\/sign-in\?/)
  const app = await addApp(server)
  const signIn = await browser.get(locationOf(refused))
  const step = await browser.submit(signIn, { email: EMAIL, password: PASSWORD })
  const done = await submitTo(browser, step, '/sign-in/code', { code: app.code() })
  const consent = await browser.get(locationOf(done))
  assert.ok(isCodeAnswer(await browser.submit(consent, allow)))
})
