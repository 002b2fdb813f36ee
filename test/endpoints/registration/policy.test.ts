import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { DEFAULT_RULES } from '../../../src/protocol/client/policy.ts'
import { obtainTokens, postJson, refresh, registerClient, type RegisteredClient } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { forgetRule, evaluateDomain } from '../../support/domains.ts'
import { assertError, problemsOf } from '../../support/error-answer.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)
const BLOCKED = 'https://app.blocked.example/cb'

test('WAY-04: a closed server advertises no registration endpoint, and answers 404 to every registration', async (t) => {
  const closed = await openTestServer(t, { env: { GRANTOR_REGISTRATION: 'closed' } })
  for (const path of ['oauth-authorization-server', 'openid-configuration']) {
    const members = (await closed.inject({ url: `/.well-known/${path}` })).json<Record<string, unknown>>()
    assert.ok('token_endpoint' in members && !('registration_endpoint' in members))
  }
  for (const body of [{}, { token_endpoint_auth_method: 'none' }, { redirect_uris: 7 }, []]) {
    const answer = await assertStoreUnchanged(closed, () => postJson(closed, '/v2/oauth/register', body))
    assertError(answer, 404, 'invalid_request')
  }
  assert.match(closed.log(), /"reason":"registration_closed"/)
})

test('WAY-04: an open server advertises its registration endpoint', async () => {
  const { registration_endpoint: endpoint } = (
    await server.inject({ url: '/.well-known/oauth-authorization-server' })
  ).json<Record<string, unknown>>()
  assert.equal(endpoint, `${server.origin}/v2/oauth/register`)
})

test('WAY-04: clients from before registration was closed still get tokens, refresh and manage themselves', async (t) => {
  const open = await openTestServer(t)
  await createAda(open)
  const client = await registerClient(open)
  const { refresh_token = '' } = await obtainTokens(open, client)
  await open.close()
  const closed = await openTestServer(t, { folder: open.folder, env: { GRANTOR_REGISTRATION: 'closed' } })
  assert.equal((await refresh(closed, client, refresh_token)).statusCode, 200)
  await obtainTokens(closed, client, { prompt: 'consent' })
  assert.equal((await manage(closed, client, 'GET')).statusCode, 200)
  assert.equal((await update(closed, client, { client_name: 'Renamed' })).statusCode, 200)
  assert.equal((await manage(closed, client, 'DELETE')).statusCode, 204)
})

test('WAY-01: a client with a redirect URI of a blocked domain can neither register nor update itself to have one', async () => {
  const client = await registerClient(server)
  await evaluateDomain(server, '*.blocked.example', 'blocked')
  const redirect_uris = ['https://app.example/cb', BLOCKED]
  for (const token_endpoint_auth_method of ['client_secret_basic', 'none']) {
    const body = { redirect_uris, token_endpoint_auth_method }
    assertBlocked(await assertStoreUnchanged(server, () => postJson(server, '/v2/oauth/register', body)))
  }
  assertBlocked(await assertStoreUnchanged(server, () => update(server, client, { redirect_uris })))
  assert.equal((await update(server, client, { redirect_uris: ['https://blocked.example/cb'] })).statusCode, 200)
  await forgetRule(server, '*.blocked.example')
  await registerClient(server, { redirect_uris })
})

test('WAY-02: members that name a source, rules or a trust level are neither stored nor echoed', async () => {
  const power = {
    source: 'operator',
    rules: { consent: 'implied' },
    consent: 'implied',
    trust_level: 'verified',
    trustLevel: 'verified',
    document: { url: 'https://claude.ai/client.json' },
    document_url: 'https://claude.ai/client.json',
    first_party: true,
    approved_scope: 'admin',
    pkce: 'optional',
    claims: 'id-token',
    profile: 'fapi2',
  }
  for (const token_endpoint_auth_method of ['client_secret_basic', 'none']) {
    const usual = { client_name: 'Power', redirect_uris: ['https://app.example/cb'], token_endpoint_auth_method }
    const answer = (await postJson(server, '/v2/oauth/register', { ...usual, ...power })).json<RegisteredClient>()
    assert.deepEqual(
      Object.keys(power).filter((name) => name in answer),
      [],
    )
    const stored = await server.context.store.findClient(answer.client_id as never)
    assert.deepEqual(
      [stored?.source, stored?.rules, stored?.document, stored?.approvedScope, stored?.verifiedAt],
      ['registration', DEFAULT_RULES, undefined, '', undefined],
    )
  }
})

function assertBlocked(answer: LightMyRequestResponse): void {
  const body = assertError(answer, 400, 'invalid_redirect_uri')
  assert.deepEqual(problemsOf(body), ['body.redirect_uris.1:value_error'])
  assert.equal(body.detail?.[0]?.input, BLOCKED)
}

function manage(
  at: TestServer,
  client: RegisteredClient,
  method: 'GET' | 'PUT' | 'DELETE',
  payload?: object,
): Promise<LightMyRequestResponse> {
  const { pathname, search } = new URL(String(client['registration_client_uri']))
  const authorization = `Bearer ${String(client['registration_access_token'])}`
  const body = payload === undefined ? {} : { payload: JSON.stringify(payload) }
  const headers = { authorization, ...(payload === undefined ? {} : { 'content-type': 'application/json' }) }
  return at.inject({ method, url: pathname + search, headers, ...body })
}

/** Replaces the metadata of a client by itself and these members. */
function update(at: TestServer, client: RegisteredClient, members: object): Promise<LightMyRequestResponse> {
  const { client_id, client_secret, redirect_uris, grant_types } = client
  return manage(at, client, 'PUT', { client_id, client_secret, redirect_uris, grant_types, ...members })
}
