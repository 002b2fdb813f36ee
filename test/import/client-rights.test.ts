import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AUTH0 } from '../../src/import/sources/auth0.ts'
import { HYDRA } from '../../src/import/sources/hydra.ts'
import { KEYCLOAK } from '../../src/import/sources/keycloak.ts'
import { chosenClientId } from '../../src/protocol/client/identifier.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer } from '../support/server.ts'
import { importFile, writeInput } from './importing.ts'

const server = await openTestServer(WHOLE_FILE)
const { store } = server.context

const SECRET = 'V8q2mZr7Lx0Tn4Wb9KcD'
const URI = 'https://board.acme.test/cb'

test('IMP-15: restrictions that this server has come with the client', async (t) => {
  const code = {
    protocol: 'openid-connect',
    standardFlowEnabled: true,
    secret: SECRET,
    redirectUris: [URI],
    enabled: true,
    attributes: {
      'require.pushed.authorization.requests': 'true',
      'dpop.bound.access.tokens': 'true',
      'pkce.code.challenge.method': 'S256',
      'default.acr.values': 'urn:grantor:acr:2fa##phr',
    },
  }
  const clients = [
    { ...code, clientId: 'strict' },
    { ...code, clientId: 'off', enabled: false },
    { ...code, clientId: 'unsaid', enabled: undefined, attributes: { 'default.acr.values': '2' } },
  ]
  const { counts } = await importFile(t, server, writeInput(t, JSON.stringify({ clients })), { source: KEYCLOAK })
  const [strict, off, unsaid] = await Promise.all(
    clients.map(({ clientId }) => store.findClient(chosenClientId(clientId) as never)),
  )
  assert.partialDeepStrictEqual(strict, {
    metadata: {
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
      default_acr_values: ['urn:grantor:acr:2fa', 'phr'],
    },
    rules: { pkce: 'required' },
    disabledAt: undefined,
  })
  assert.deepEqual(counts.dropped, { 'attributes.default.acr.values': 1 })
  assert.ok(off?.disabledAt !== undefined && unsaid?.disabledAt !== undefined)
})

test('IMP-17: a client never gets more than it had: refresh tokens, codes; and links and notifications come with it', async (t) => {
  const links = {
    'backchannel.logout.url': 'https://board.acme.test/logout',
    logoUri: 'https://board.acme.test/logo.png',
    policyUri: 'https://board.acme.test/privacy',
    tosUri: 'https://board.acme.test/terms',
    'id.token.signed.response.alg': 'ES256',
    'use.refresh.tokens': 'false',
  }
  const inKeycloak = {
    clientId: 'linked',
    standardFlowEnabled: true,
    publicClient: true,
    redirectUris: [URI],
    enabled: true,
    rootUrl: 'https://board.acme.test/',
    baseUrl: '/home',
    attributes: links,
  }
  const inHydra = {
    client_id: 'online',
    scope: 'openid',
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: [URI],
    token_endpoint_auth_method: 'none',
    contacts: ['ada@acme.test'],
    client_uri: 'https://board.acme.test/home',
  }
  const inAuth0 = {
    client_id: 'notified',
    app_type: 'spa',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    callbacks: [URI],
    logo_uri: 'https://board.acme.test/logo.png',
    oidc_logout: { backchannel_logout_urls: ['https://board.acme.test/logout'] },
  }
  const run = (isDryRun: boolean) =>
    Promise.all([
      importFile(t, server, writeInput(t, JSON.stringify({ clients: [inKeycloak] })), { source: KEYCLOAK, isDryRun }),
      importFile(t, server, writeInput(t, JSON.stringify([inHydra])), { source: HYDRA, isDryRun }),
      importFile(t, server, writeInput(t, ''), {
        source: AUTH0,
        others: { clients: writeInput(t, JSON.stringify([inAuth0]), 'clients') },
        isDryRun,
      }),
    ])
  const dry = await run(true)
  const imported = await run(false)
  assert.deepEqual(
    imported.map(({ text }) => text),
    dry.map(({ text }) => text),
  )
  assert.deepEqual(
    imported.map(({ counts }) => counts.dropped),
    [{}, { 'grant type refresh_token': 1 }, {}],
  )
  const [linked, online, notified] = await Promise.all(
    ['linked', 'online', 'notified'].map((id) => store.findClient(chosenClientId(id) as never)),
  )
  assert.partialDeepStrictEqual(linked?.metadata, {
    grant_types: ['authorization_code'],
    backchannel_logout_uri: 'https://board.acme.test/logout',
    id_token_signed_response_alg: 'ES256',
    client_uri: 'https://board.acme.test/home',
    logo_uri: 'https://board.acme.test/logo.png',
    policy_uri: 'https://board.acme.test/privacy',
    tos_uri: 'https://board.acme.test/terms',
  })
  assert.partialDeepStrictEqual(online?.metadata, {
    grant_types: ['authorization_code'],
    contacts: ['ada@acme.test'],
    client_uri: 'https://board.acme.test/home',
  })
  assert.partialDeepStrictEqual(notified?.metadata, {
    backchannel_logout_uri: 'https://board.acme.test/logout',
    logo_uri: 'https://board.acme.test/logo.png',
  })
})
