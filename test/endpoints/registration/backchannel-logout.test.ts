import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response } from 'light-my-request'
import { createInitialToken } from '../../../src/admin/client/initial-token.ts'
import { evaluateClient } from '../../../src/clients/evaluate-client.ts'
import { documentClientId } from '../../../src/protocol/client/identifier.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import { DEFAULT_TEMPLATE } from '../../../src/protocol/client/registration-template.ts'
import { authorizeUrl, REDIRECT_URI, registerClient, type RegisteredClient } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { makeClient } from '../openid/login.ts'
import { perform } from '../../support/tasks.ts'

/** Which clients may be notified of a logout. OpenID Connect Back-Channel Logout 1.0 §2.2. */

const URI = 'https://app.example/backchannel-logout'
const MEMBERS = { backchannel_logout_uri: URI, backchannel_logout_session_required: true }
const server = await openTestServer(WHOLE_FILE)

test('LO-21: a client that registers openly gets no address, and the answer has none', async () => {
  const client = await registerClient(server, MEMBERS)
  assertLeftOut(client)
  assertLeftOut((await put(client, MEMBERS)).json<object>())
  assert.equal((await put(client, { backchannel_logout_uri: 'not a URL' })).statusCode, 200)
})

test('LO-21: a client that the operator verified gets one, and loses its verification with another host', async () => {
  const client = await registerClient(server)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  const answer = (await put(client, { ...MEMBERS, backchannel_logout_uri: undefined })).json<object>()
  assertLeftOut(answer)
  const registered = (await put(client, MEMBERS)).json<Record<string, unknown>>()
  assert.deepEqual(
    [registered['backchannel_logout_uri'], registered['backchannel_logout_session_required']],
    [URI, true],
  )
  assert.equal(await noticeUriOf(server, client.client_id), URI)
  await put(client, { ...MEMBERS, backchannel_logout_uri: 'https://elsewhere.example/logout' })
  assert.equal(await noticeUriOf(server, client.client_id), undefined)
})

test('LO-21: an initial access token for verified clients allows an address', async () => {
  const { token } = await createInitialToken(server.context, {
    uses: 1,
    days: 1,
    name: 'partner',
    template: { ...DEFAULT_TEMPLATE, trustLevel: 'verified' },
  })
  const answer = await server.inject({
    method: 'POST',
    url: '/v2/oauth/register',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload: JSON.stringify({ redirect_uris: [REDIRECT_URI], ...MEMBERS }),
  })
  assert.equal(answer.json<Record<string, unknown>>()['backchannel_logout_uri'], URI)
})

test('LO-21: a metadata document may name only its own host', async (t) => {
  const host = await openDocumentHost(t)
  const origin = `http://localhost:${host.port}`
  for (const [uri, expected] of [
    [`${origin}/logout`, `${origin}/logout`],
    ['http://localhost:4/logout', undefined],
    [URI, undefined],
  ] as const) {
    host.publish({ backchannel_logout_uri: uri })
    const client = host.client(`/${encodeURIComponent(uri)}.json`.replaceAll('%', ''))
    await server.inject({ url: authorizeUrl(client, { scope: 'openid' }) })
    assert.equal(await noticeUriOf(server, documentClientId(client.client_id)), expected, uri)
  }
})

test('LO-21: the address must be one that the server may request, and the flag a boolean', async () => {
  const client = await registerClient(server)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  for (const uri of ['http://app.example/', 'https://10.0.0.1/', 'https://app.example/#x', 'javascript:1', 'text']) {
    const refused = await put(client, { backchannel_logout_uri: uri })
    const error = assertError(refused, 400, 'invalid_client_metadata')
    assert.deepEqual(problemsOf(error), ['body.backchannel_logout_uri:value_error'], uri)
  }
  const malformed = await put(client, { backchannel_logout_session_required: 'yes' })
  const error = assertError(malformed, 422, 'invalid_client_metadata')
  assert.deepEqual(problemsOf(error), ['body.backchannel_logout_session_required:bool_type'])
})

test('LO-21: a server that sends no requests offers no back-channel logout, and keeps no address', async (t) => {
  const metadata = async (at: TestServer) =>
    (await at.inject({ url: '/.well-known/openid-configuration' })).json<Record<string, unknown>>()
  const flags = ['backchannel_logout_supported', 'backchannel_logout_session_supported'] as const
  const offered = await metadata(server)
  assert.deepEqual(
    flags.map((name) => offered[name]),
    [true, true],
  )
  const off = await openTestServer(t, { env: { GRANTOR_OUTBOUND: 'off' } })
  const absent = await metadata(off)
  assert.ok(flags.every((name) => !(name in absent)))
  await assert.rejects(makeClient(off, {}, MEMBERS), /GRANTOR_OUTBOUND/)
  const client = await registerClient(off)
  await perform(off.context, 'client.verify', { client_id: client.client_id })
  assertLeftOut((await put(client, MEMBERS, off)).json<object>())
})

function assertLeftOut(answer: object): void {
  assert.ok(!Object.keys(answer).some((name) => name.startsWith('backchannel')), Object.keys(answer).join())
}

/** Changes the registration of a client. */
function put(client: RegisteredClient, members: object, at = server): Promise<Response> {
  const {
    client_id,
    client_secret,
    registration_access_token: token,
  } = client as RegisteredClient & Readonly<Record<'registration_access_token', string>>
  const known = { redirect_uris: [REDIRECT_URI], client_name: 'Example' }
  const body = { client_id, client_secret, ...known, ...members }
  return at.inject({
    method: 'PUT',
    url: `/v2/oauth/register?client_id=${client_id}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  })
}

async function noticeUriOf({ context }: TestServer, id: string): Promise<string | undefined> {
  const client = await context.store.findClient(id as ClientId)
  assert.ok(client)
  const allowed = await evaluateClient(context, client, { phase: 'use', redirectUri: undefined })
  return 'kind' in allowed ? assert.fail() : allowed.rights.noticeUri
}
