import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorizeUrl, PlainBrowser, postJson, registerClient } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { beginWindow, openTestServer } from '../../support/server.ts'

/** Redirect URIs that a client has and cannot use: RFC 7591 §3.2.1 lets the answer have them, so the log names them (REG-07). */

const server = await openTestServer(WHOLE_FILE)
const WEB = 'https://app.example/callback'
const NOT_ALLOWED = ['odd://a/cb?token=secret', 'even:/cb']

test('REG-07: the log names the redirect URIs of a registration that the server does not allow, without queries', async () => {
  for (const token_endpoint_auth_method of ['none', 'client_secret_basic']) {
    const { client_id } = await registerClient(server, {
      token_endpoint_auth_method,
      redirect_uris: [WEB, ...NOT_ALLOWED],
    })
    assert.deepEqual(linesOf(client_id), ['odd://a/cb even:/cb'])
  }
})

test('REG-07: an update of a client and a metadata document are logged in the same way', async (t) => {
  beginWindow(server)
  const sent = { client_name: 'Notes', redirect_uris: [WEB] }
  const client = (await postJson(server, '/v2/oauth/register', sent)).json<Record<string, string>>()
  const { client_id = '', client_secret, registration_access_token: token = '' } = client
  assert.deepEqual(linesOf(client_id), [])
  const updated = await server.inject({
    method: 'PUT',
    url: client['registration_client_uri'] ?? '',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload: JSON.stringify({ ...sent, client_id, client_secret, redirect_uris: [WEB, ...NOT_ALLOWED] }),
  })
  assert.equal(updated.statusCode, 200, updated.body)
  assert.deepEqual(linesOf(client_id), ['odd://a/cb even:/cb'])

  const host = await openDocumentHost(t)
  host.publish({ redirect_uris: [WEB, ...NOT_ALLOWED] })
  await new PlainBrowser(server).get(authorizeUrl(host.client(), { redirect_uri: WEB }))
  assert.deepEqual(linesOf(undefined).slice(-1), ['odd://a/cb even:/cb'])
})

/** The redirect URIs of the lines of this client, or of all. */
function linesOf(clientId: string | undefined): readonly unknown[] {
  const lines = server
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  const found = lines.filter(
    ({ event, client }) => event === 'client.redirect-not-allowed' && client === (clientId ?? client),
  )
  for (const { reason } of found) assert.equal(reason, 'redirect_uri_not_allowed')
  return found.map((line) => line['redirect_uri'])
}
