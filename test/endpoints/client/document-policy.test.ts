import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import { DEFAULT_RULES } from '../../../src/protocol/client/policy.ts'
import { createApi } from '../../../src/admin/api/api.ts'
import { openResolver } from '../../../src/outbound/resolve.ts'
import { documentClientId } from '../../../src/protocol/client/identifier.ts'
import { authorizeUrl, obtainTokens, refresh, type RegisteredClient } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { adminServerOf } from '../../support/admin-server.ts'
import { declareApi, JWT_API, knowApis, OPAQUE_API } from '../../support/apis.ts'
import { assertLocalPage } from '../../support/authorize-answers.ts'
import { openDocumentHost } from '../../support/hosts/document-host.ts'
import { evaluateDomain } from '../../support/domains.ts'
import { openNameServer } from '../../support/hosts/name-server.ts'
import { anApiDeclaration } from '../../support/records.ts'
import { openTestServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { introspect, isActive, revoke } from '../../support/token-questions.ts'

const PUBLIC_ADDRESS = '127.0.0.2'
const PUBLIC_ISSUER = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }

/** A server on the internet, for which 127.0.0.2 is a public address, and a host with a certificate for app.test there. */
async function openPublic(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const host = await openDocumentHost(t, { address: PUBLIC_ADDRESS, tlsName: 'app.test' })
  const names = await openNameServer(t, (_name, type) => (type === 'A' ? [PUBLIC_ADDRESS] : []))
  const server = await openTestServer(t, {
    env: { ...PUBLIC_ISSUER, GRANTOR_OUTBOUND_PORTS: String(host.port), ...env },
    network: { resolve: openResolver([names.address]), isPublicAddress: (address) => address === PUBLIC_ADDRESS },
  })
  await createAda(server)
  return { server, host, names }
}

async function openLocal(t: TestContext, options: TestServerOptions = {}) {
  const server = await openTestServer(t, options)
  await createAda(server)
  return { server, host: await openDocumentHost(t) }
}

function authorize(server: TestServer, client: RegisteredClient) {
  return server.inject({ method: 'GET', url: authorizeUrl(client) })
}

async function isAdvertised(server: TestServer): Promise<boolean> {
  const paths = ['oauth-authorization-server', 'openid-configuration']
  const documents = await Promise.all(paths.map((path) => server.inject({ url: `/.well-known/${path}` })))
  const members = documents.map((one) => one.json()['client_id_metadata_document_supported'])
  assert.equal(members[0], members[1])
  return members[0] === true
}

test('a server on the internet fetches a document by its name and certificate, and none from its own computer', async (t) => {
  const { server, host } = await openPublic(t)
  assert.equal((await authorize(server, host.client())).statusCode, 303)
  assert.deepEqual([host.requests.length, host.requests[0]?.headers.host], [1, `app.test:${host.port}`])
  const local = await openDocumentHost(t)
  for (const client of [local.client(), { client_id: `https://localhost:${local.port}/client.json` }])
    assertLocalPage(await authorize(server, client))
  assert.equal(local.connections(), 0)
})

test('CIMD-14: a blocked domain causes no question to a name server, and a stored client of it is refused', async (t) => {
  const { server, host, names } = await openPublic(t)
  const client = host.client()
  for (const pattern of ['app.test', '*.test', client.client_id]) {
    await evaluateDomain(server, pattern, 'blocked')
    assertLocalPage(await assertStoreUnchanged(server, () => authorize(server, client)), 403)
    await server.context.store.removeDomainRule({ pattern })
  }
  assert.deepEqual(names.questions, [])
  knowApis(server)
  assert.equal((await authorize(server, client)).statusCode, 303)
  await evaluateDomain(server, 'app.test', 'blocked')
  server.clock.advance(2 * 3_600_000)
  assertLocalPage(await authorize(server, client), 403)
  assert.deepEqual([host.requests.length, names.questions.length], [1, 2])
})

test('WAY-04: with "trusted", only documents of trusted domains are fetched', async (t) => {
  const { server, host, names } = await openPublic(t, { GRANTOR_CLIENT_DOCUMENTS: 'trusted' })
  assert.equal(await isAdvertised(server), true)
  assertLocalPage(await assertStoreUnchanged(server, () => authorize(server, host.client())), 403)
  assert.deepEqual(names.questions, [])
  await evaluateDomain(server, 'app.test', 'trusted')
  assert.equal((await authorize(server, host.client())).statusCode, 303)
})

test('WAY-04: with "off", no new client comes in, and stored ones are used and renewed', async (t) => {
  const { server: before, host } = await openLocal(t)
  const client = host.client()
  const { refresh_token: token = '' } = await obtainTokens(before, client)
  await before.close()
  const server = await openTestServer(t, { folder: before.folder, env: { GRANTOR_CLIENT_DOCUMENTS: 'off' } })
  assert.equal(await isAdvertised(server), false)
  assertLocalPage(await assertStoreUnchanged(server, () => authorize(server, host.client('/new.json'))), 403)
  assert.equal((await refresh(server, client, token)).statusCode, 200)
  server.clock.advance(2 * 3_600_000)
  assert.equal((await authorize(server, client)).statusCode, 303)
  assert.deepEqual(
    host.requests.map(({ url }) => url),
    ['/client.json', '/client.json'],
  )
})

test('OUT-13: with GRANTOR_OUTBOUND=off nothing is fetched or advertised, and stored documents are used for a day', async (t) => {
  const { server: before, host } = await openLocal(t)
  const client = host.client()
  const { refresh_token: token = '' } = await obtainTokens(before, client)
  await before.close()
  const server = await openTestServer(t, { folder: before.folder, env: { GRANTOR_OUTBOUND: 'off' } })
  assert.equal(await isAdvertised(server), false)
  assertLocalPage(await authorize(server, host.client('/new.json')))
  server.clock.advance(2 * 3_600_000)
  assert.equal((await authorize(server, client)).statusCode, 303)
  server.clock.advance(24 * 3_600_000)
  assertLocalPage(await authorize(server, client))
  assert.equal((await refresh(server, client, token)).statusCode, 200)
  assert.equal(host.requests.length, 1)
})

test('WAY-02: members of a document that are not of a registration have no effect', async (t) => {
  const { server, host } = await openLocal(t)
  host.publish({
    source: 'operator',
    rules: { consent: 'implied' },
    trust_level: 'verified',
    verified_at: 1,
    approved_scope: 'admin',
    first_party: true,
    consent: 'implied',
    software_statement: 'x',
    logo_uri: 'https://app.example/logo.png',
  })
  assert.equal((await authorize(server, host.client())).statusCode, 303)
  const client = await server.context.store.findClient(documentClientId(host.client().client_id))
  assert.deepEqual(
    [client?.source, client?.rules, client?.verifiedAt, client?.approvedScope],
    ['document', DEFAULT_RULES, undefined, ''],
  )
})

test('CIMD-13: the client_id of tokens and introspection is the URL, for JWTs and opaque tokens', async (t) => {
  const { server, host } = await openLocal(t)
  const client = host.client()
  const apis = [
    [JWT_API, await declareApi(server, JWT_API)],
    [OPAQUE_API, await declareApi(server, OPAQUE_API, { format: 'opaque' })],
  ] as const
  knowApis(server)
  for (const [resource, api] of apis) {
    const tokens = await obtainTokens(server, client, { resource, scope: 'read', prompt: 'consent' })
    const answer = (await introspect(server, api, tokens.access_token)).json()
    assert.deepEqual([answer.active, answer.client_id, answer.scope], [true, client.client_id, 'read'], resource)
    assert.match(answer.sub, /^gus_/)
    if (resource === JWT_API) assert.equal(decodeJwt(tokens.access_token)['client_id'], client.client_id)
    assert.equal((await revoke(server, client, tokens.access_token)).statusCode, 200)
    assert.equal(await isActive(server, api, tokens.access_token), false)
    assert.equal((await revoke(server, client, tokens.refresh_token ?? '')).statusCode, 200)
    assert.equal((await refresh(server, client, tokens.refresh_token ?? '')).json().error, 'invalid_grant')
  }
})

test('CIMD-13: administrators name the client by its URL or by the id of its record, and see both', async (t) => {
  const { server, host } = await openLocal(t)
  const { client_id: url } = host.client()
  await obtainTokens(server, host.client())
  const admin = adminServerOf(server)
  const { token } = await admin.issue('write')
  const id = documentClientId(url)
  for (const client_id of [url, id]) {
    const shown = (await admin.performByName('client.show', { client_id }, token)).json()
    assert.deepEqual([shown.client_id, shown.document_url, shown.has_secret], [id, url, false])
    assert.match(shown.document_fetched_at, /^20/)
    const { grants } = (await admin.performByName('grant.list', { client_id }, token)).json()
    assert.deepEqual(
      grants.map((grant: { client_id: string }) => grant.client_id),
      [id],
    )
    const { events } = (await admin.performByName('audit.list', { client_id }, token)).json()
    assert.deepEqual(
      events.map(({ event }: { event: string }) => event).toSorted(),
      ['authorization.approved', 'client.document-added'],
      JSON.stringify(events),
    )
  }
  assert.equal((await admin.performByName('client.disable', { client_id: url }, token)).statusCode, 200)
  assertLocalPage(await authorize(server, host.client()))
})

test('RFC 8725 §3.9, CIMD-16: a URL is the id of a client or of an API, never of both', async (t) => {
  const { server, host } = await openLocal(t)
  const [client, other] = [host.client(), host.client('/mcp')]
  await createApi(server.context, anApiDeclaration(other.client_id))
  knowApis(server)
  assertLocalPage(await assertStoreUnchanged(server, () => authorize(server, other)))
  assert.equal(host.requests.length, 0)
  assert.equal((await authorize(server, client)).statusCode, 303)
  await assert.rejects(createApi(server.context, anApiDeclaration(client.client_id)), /has a metadata document/)
})
