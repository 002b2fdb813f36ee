import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import {
  authorizeUrl,
  EMAIL,
  hiddenFields,
  obtainCode,
  PlainBrowser,
  pushedUrl,
  redeem,
  REDIRECT_URI,
  registerClient,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { createAda } from '../../support/accounts.ts'
import { combine } from '../../support/runner/cases.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { consentedBrowser, isCodeAnswer, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { lastLogged } from '../../support/error-answer.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { addMember, createOrganization, createPerson, openConsent } from '../../support/organizations.ts'
import { openTestServer, beginWindow } from '../../support/server.ts'
import { perform, performOnUser } from '../../support/tasks.ts'

/**
 * Which errors reach the client at once, and which end on a page: OpenID Connect Core 1.0 §3.1.2.6, AUTH-10 and AUTH-27. Each kind of client,
 * each state of the browser, each error, each destination of the request and each way of the response.
 */

const server = await openTestServer(WHOLE_FILE, { env: { GRANTOR_AUTHORIZATION_RATE: '5000' } })
await createAda(server)
const host = await openDocumentHost(WHOLE_FILE)
const LOOPBACK = 'http://127.0.0.1:7777/callback'
const METADATA = { client_name: 'Notes', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' }

/** Each kind of client, and whether it gets errors without the consent of a user. */
const KINDS: Readonly<Record<string, { readonly isTrusted: boolean; readonly make: () => Promise<RegisteredClient> }>> =
  {
    'first-party': {
      isTrusted: true,
      make: async () => {
        const client = await perform<RegisteredClient>(server.context, 'client.create', { ...METADATA, scope: 'read' })
        await perform(server.context, 'client.set-rules', { client_id: client.client_id, consent: 'implied' })
        return client
      },
    },
    "an operator's": {
      isTrusted: true,
      make: () => perform<RegisteredClient>(server.context, 'client.create', METADATA),
    },
    'self-registered': { isTrusted: false, make: () => registerClient(server) },
    'with a document': {
      isTrusted: false,
      make: () => Promise.resolve(host.client(`/${Math.random()}.json`)),
    },
  }

/** `Sec-Fetch-Dest` as sent, and whether it shows that the answer fills a frame. Only a browser's own values count. */
const DESTINATIONS: readonly (readonly [string | undefined, boolean])[] = [
  ['iframe', true],
  ['frame', true],
  ['document', false],
  ['empty', false],
  ['image', false],
  ['IFRAME', false],
  ['document, iframe', false],
  ['', false],
  [undefined, false],
]

/** What a request asks for, and its error. `user`: the error says something of the user; in a browser without a session it is `login_required`. */
const ERRORS: readonly (readonly [Readonly<Record<string, string>>, string, about: 'user' | 'request'])[] = [
  [{ prompt: 'none', scope: 'read write' }, 'consent_required', 'user'],
  [{ prompt: 'none', org_id: 'gor_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ' }, 'access_denied', 'user'],
  [{ prompt: 'none', max_age: '0' }, 'login_required', 'user'],
  [{ prompt: 'none', scope: '"' }, 'invalid_scope', 'request'],
  [{ prompt: 'none', resource: 'https://api.example/#part' }, 'invalid_target', 'request'],
  [{ prompt: 'none login' }, 'invalid_request', 'request'],
  [{ prompt: 'none', request: 'e30.e30.' }, 'request_not_supported', 'request'],
  [{ request: 'e30.e30.' }, 'request_not_supported', 'request'],
  [{ request_uri: 'https://app.example/request.jwt' }, 'request_uri_not_supported', 'request'],
  [{ registration: '{}' }, 'registration_not_supported', 'request'],
  [{ response_type: 'token' }, 'unsupported_response_type', 'request'],
]

const STATES = ['signed out', 'signed in', 'consented'] as const

for (const [kind, { isTrusted, make }] of Object.entries(KINDS)) {
  for (const state of STATES) {
    test(`OpenID Connect Core 1.0 §3.1.2.6, AUTH-27: errors for a client, ${kind}, in a browser that is ${state}`, async () => {
      beginWindow(server)
      const client = await make()
      const browser = await openBrowser(client, state)
      for (const [[parameters, error, about], [destination, isFrame], mode] of combine([
        ERRORS,
        DESTINATIONS,
        ['query', 'form_post'],
      ])) {
        const url = authorizeUrl(client, { ...parameters, response_mode: mode })
        const answer = await browser.get(url, destination === undefined ? {} : { 'sec-fetch-dest': destination })
        const seen = JSON.stringify([parameters, destination, mode, answer.statusCode, answer.headers.location])
        const isKnown = isTrusted || state === 'consented'
        const actual = about === 'user' && state === 'signed out' ? 'login_required' : error
        const returned = about === 'user' && !isKnown ? 'login_required' : actual
        if (isKnown || isFrame) assert.equal(errorIn(answer, mode), returned, seen)
        else assertPage(answer, actual, seen)
      }
    })
  }
}

test('AUTH-27: the log has the reason that a frame of an unknown client does not get', async () => {
  beginWindow(server)
  const client = await registerClient(server)
  const browser = await openBrowser(client, 'signed in')
  const answer = await browser.get(authorizeUrl(client, { prompt: 'none' }), { 'sec-fetch-dest': 'iframe' })
  assert.equal(errorIn(answer, 'query'), 'login_required')
  assert.deepEqual([lastLogged(server)['event'], lastLogged(server)['reason']], ['authorization.refused', 'no_consent'])
})

test('RFC 9126 §6, AUTH-27: a client that must push gets the error of a request that it did not push in a frame only', async () => {
  beginWindow(server)
  const client = await registerClient(server, { require_pushed_authorization_requests: true })
  for (const [destination, isFrame] of [
    ['iframe', true],
    ['document', false],
  ] as const) {
    const answer = await new PlainBrowser(server).get(authorizeUrl(client, { prompt: 'none' }), {
      'sec-fetch-dest': destination,
    })
    if (isFrame) assert.equal(errorIn(answer, 'query'), 'invalid_request')
    else assertPage(answer, 'invalid_request', destination)
    const pushed = await pushedUrl(server, client, { prompt: 'none' })
    const silent = await new PlainBrowser(server).get(pushed, { 'sec-fetch-dest': destination })
    if (isFrame) assert.equal(errorIn(silent, 'query'), 'login_required')
    else assertPage(silent, 'login_required', destination)
  }
})

test('AUTH-27: in a frame too, an error goes to registered redirect URIs only, and a code needs a consent', async () => {
  beginWindow(server)
  const client = await registerClient(server)
  const browser = await openBrowser(client, 'signed in')
  const inFrame = { 'sec-fetch-dest': 'iframe' }
  for (const change of [{ redirect_uri: 'https://evil.example/' }, { client_id: 'gci_unknown' }]) {
    const answer = await browser.get(authorizeUrl(client, { prompt: 'none', ...change }), inFrame)
    assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined])
  }
  assert.ok(!isCodeAnswer(await browser.get(authorizeUrl(client, { prompt: 'none' }), inFrame)))
  const consented = await openBrowser(client, 'consented')
  assert.ok(isCodeAnswer(await consented.get(authorizeUrl(client, { prompt: 'none' }), inFrame)))
})

test('AUTH-27: in a frame a strange client gets the same answer for every user, and none without prompt=none', async () => {
  beginWindow(server)
  const resource = 'https://bank.example'
  const scope = { name: 'pay', sentence: 'May pay', grantedTo: 'users', stepUp: { level: 2, maxAge: 300 } } as const
  await declareApi(server, resource, {}, [scope])
  knowApis(server)
  const [own, foreign] = [await createOrganization(server, 'Acme'), await createOrganization(server, 'Other')]
  const loopback = await registerClient(server, { redirect_uris: [LOOPBACK] })
  const ada = await server.context.store.findUserByEmail(EMAIL)
  assert.ok(ada !== undefined)
  const hint = await idTokenOf(loopback)
  await addMember(server, ada.id, own)
  const bob = await createPerson(server, 'bob@acme.test')
  await createPerson(server, 'eve@acme.test')
  const browsers = {
    'signed out': new PlainBrowser(server),
    'a member': await signedIn(EMAIL),
    'another, with an app': await signedIn('bob@acme.test'),
    disabled: await signedIn('eve@acme.test'),
  }
  await addApp(server, 'bob@acme.test')
  await performOnUser(server.context, 'user.disable', 'eve@acme.test')
  const claims = (idToken: object) => ({ claims: JSON.stringify({ id_token: idToken }) })
  const asked = [
    [{}, { prompt: 'consent' }, { prompt: 'none' }],
    [{}, ...[own, foreign, 'gor_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'].map((id) => ({ org_id: id }))],
    [
      {},
      claims({ acr: { essential: true, value: 'urn:grantor:acr:2fa' } }),
      claims({ sub: { value: ada.id } }),
      claims({ sub: { value: bob } }),
    ],
    [{}, { max_age: '0' }],
    [{}, { login_hint: EMAIL }],
    [{ scope: 'openid' }, { scope: 'pay', resource }],
  ]
  const strange = await registerClient(server)
  for (const [client, redirectUri, hints] of [
    [strange, REDIRECT_URI, [{}]],
    [loopback, LOOPBACK, [{}, { id_token_hint: hint }]],
  ] as const) {
    beginWindow(server)
    for (const chosen of combine<readonly (readonly Readonly<Record<string, string>>[])[]>([...asked, hints])) {
      const parameters: Readonly<Record<string, string>> = Object.assign({}, ...chosen)
      const url = authorizeUrl(client, { ...parameters, redirect_uri: redirectUri })
      const isOther = parameters['claims']?.includes(bob) === true && parameters['id_token_hint'] !== undefined
      const error = isOther ? 'invalid_request' : parameters['prompt'] === 'none' ? 'login_required' : undefined
      const answers = new Set<string | undefined>()
      for (const [who, browser] of Object.entries(browsers)) {
        const { headers } = await browser.get(url, { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-site' })
        const sent = headers.location?.startsWith(redirectUri) === true ? headers.location : undefined
        const seen = JSON.stringify([who, parameters, headers.location])
        assert.equal(sent === undefined ? undefined : new URL(sent).searchParams.get('error'), error, seen)
        answers.add(sent)
        assert.equal(answers.size, 1, seen)
      }
    }
  }
})

/** An ID token of the user, who has still not allowed the client: what is allowed at loopback holds for one request. */
async function idTokenOf(client: RegisteredClient): Promise<string> {
  const redirect = { redirect_uri: LOOPBACK }
  const code = await obtainCode(server, client, { ...redirect, scope: 'openid' })
  return (await redeem(server, client, code, redirect)).json<{ id_token: string }>().id_token
}

async function signedIn(email: string): Promise<PlainBrowser> {
  const browser = new PlainBrowser(server)
  const page = await openConsent(browser, authorizeUrl(await registerClient(server)), email)
  assert.match(page.body, /name="decision"/)
  return browser
}

test('AUTH-27, RFC 8252 §8.6: in a frame too, no error opens an app', async () => {
  beginWindow(server)
  for (const [redirectUri, isReturned] of [
    ['cursor://anysphere.cursor-mcp/oauth/callback', false],
    ['com.example.app:/callback', false],
    [LOOPBACK, true],
    ['https://strange.example/callback', true],
  ] as const) {
    const client = await registerClient(server, { redirect_uris: [redirectUri] })
    for (const change of [{ prompt: 'none' }, { response_type: 'token' }]) {
      const url = authorizeUrl(client, { redirect_uri: redirectUri, ...change })
      const answer = await new PlainBrowser(server).get(url, { 'sec-fetch-dest': 'iframe' })
      if (isReturned) assert.ok(answer.headers.location?.startsWith(redirectUri), redirectUri)
      else assertPage(answer, 'prompt' in change ? 'login_required' : 'unsupported_response_type', redirectUri)
    }
  }
})

async function openBrowser(client: RegisteredClient, state: (typeof STATES)[number]): Promise<PlainBrowser> {
  if (state === 'signed out') return new PlainBrowser(server)
  if (state === 'signed in') return consentedBrowser(server, await registerClient(server), { prompt: 'consent' })
  return consentedBrowser(server, client, { prompt: 'consent', scope: 'read' })
}

/** The error that the browser takes to the client at once: by the redirect, or by the form that a script posts. */
function errorIn(answer: LightMyRequestResponse, mode: 'query' | 'form_post'): string | null | undefined {
  if (mode === 'query') {
    const { location } = answer.headers
    return location?.startsWith(`${REDIRECT_URI}?`) === true ? new URL(location).searchParams.get('error') : undefined
  }
  const isPosted = answer.statusCode === 200 && answer.body.includes(`action="${REDIRECT_URI}"`)
  return isPosted ? hiddenFields(answer)['error'] : undefined
}

function assertPage(answer: LightMyRequestResponse, error: string, seen: string): void {
  assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined], seen)
  assert.ok(answer.body.includes(`error=${error}`), seen)
  assert.doesNotMatch(answer.body, /http-equiv|<script/i, seen)
}
