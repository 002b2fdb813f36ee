import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Source } from '../../src/import/source.ts'
import { AUTH0 } from '../../src/import/sources/auth0.ts'
import { HYDRA } from '../../src/import/sources/hydra.ts'
import { KEYCLOAK } from '../../src/import/sources/keycloak.ts'
import { NEUTRAL } from '../../src/import/sources/neutral.ts'
import { chosenClientId } from '../../src/protocol/client/identifier.ts'
import { requestToken } from '../../tools/flow.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer } from '../support/server.ts'
import { importFile, writeInput, writeRecords, type Imported } from './importing.ts'

const server = await openTestServer(WHOLE_FILE)
const { store } = server.context

/** What the report says: `created`, or `refused <reason>: <detail>`. */
type Row = readonly [what: string, client: object, result: string]

const SECRET = 'V8q2mZr7Lx0Tn4Wb9KcD'
const JWKS = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] }
const URI = 'https://board.acme.test/cb'
const unsupported = (name: string) => `refused record_malformed: token_endpoint_auth_method ${name}`
const unknown = (name: string) => `refused record_malformed: ${name} (unknown)`
const restricted = (names: string) =>
  `refused client_not_possible: It is restricted by ${names} there, which is not possible here. Remove the restriction there, or create the client here.`
const less = (names: string) => `created member_dropped: not taken: ${names}`
const UNNAMED =
  'refused client_not_possible: It has neither token_endpoint_auth_method nor an app_type of a server, so nothing tells how it authenticates. Choose an authentication method there.'
const unauthenticated = (name: string) =>
  `refused client_not_possible: It authenticates with ${name}, which is not possible here. Let it use client-secret or client-jwt there.`
const ungranted = (names: string) =>
  `refused client_not_possible: It uses only ${names} there, which is not possible here. Let it use authorization_code or client_credentials there.`
const NO_GRANT =
  'refused client_not_possible: It uses no grant type there, which is not possible here. Let it use authorization_code or client_credentials there.'
const KEYLESS = 'refused client_not_possible: private_key_jwt needs jwks or jwks_uri.'
const MALFORMED = 'refused record_malformed: token_endpoint_auth_method'
/** Methods of RFC 8705 and OpenID Connect Core 1.0 §9, and one that has no specification. */
const OTHER_METHODS = ['tls_client_auth', 'self_signed_tls_client_auth', 'client_secret_jwt', 'acme'].map(
  (one): Row => [one, { token_endpoint_auth_method: one }, unsupported(one)],
)
const attributes = (given: object) => ({ attributes: given })
const KEYS = { clientAuthenticatorType: 'client-jwt' }

interface Case {
  readonly source: Source
  readonly read: (t: TestContext, clients: readonly object[]) => Promise<Imported>
  /** A machine with a static secret. */
  readonly usual: (id: string) => object
  readonly rows: readonly Row[]
}

const CASES: readonly Case[] = [
  {
    source: KEYCLOAK,
    read: (t, clients) => importFile(t, server, writeInput(t, JSON.stringify({ clients })), { source: KEYCLOAK }),
    usual: (clientId) => ({
      clientId,
      enabled: true,
      protocol: 'openid-connect',
      publicClient: false,
      standardFlowEnabled: false,
      serviceAccountsEnabled: true,
      secret: SECRET,
      clientAuthenticatorType: 'client-secret',
      redirectUris: [],
    }),
    rows: [
      ['a secret', {}, 'created'],
      ['the default', { clientAuthenticatorType: undefined }, 'created'],
      ...['client-x509', 'client-secret-jwt', 'acme-hsm', 'none', 'private_key_jwt', 'client_secret_basic'].map(
        (type): Row => [type, { clientAuthenticatorType: type }, unauthenticated(type)],
      ),
      ['no text', { clientAuthenticatorType: {} }, unauthenticated('another method')],
      [
        'keys at a URL',
        { ...KEYS, ...attributes({ 'use.jwks.url': 'true', 'jwks.url': 'https://keys.acme.test/' }) },
        'created',
      ],
      [
        'keys',
        { ...KEYS, ...attributes({ 'use.jwks.string': 'true', 'jwks.string': JSON.stringify(JWKS) }) },
        'created',
      ],
      [
        'keys of which only a certificate is known',
        { ...KEYS, ...attributes({ 'jwt.credential.certificate': 'x' }) },
        KEYLESS,
      ],
      [
        'a URL of keys that it does not use',
        { ...KEYS, ...attributes({ 'use.jwks.url': 'false', 'jwks.url': 'https://keys.acme.test/' }) },
        KEYLESS,
      ],
      [
        'assertions with a shared secret',
        {
          ...KEYS,
          ...attributes({
            'use.jwks.string': 'true',
            'jwks.string': JSON.stringify(JWKS),
            'token.endpoint.auth.signing.alg': 'HS256',
          }),
        },
        'refused record_malformed: token_endpoint_auth_signing_alg HS256',
      ],
      [
        'tokens bound to a certificate',
        attributes({ 'tls.client.certificate.bound.access.tokens': 'true' }),
        restricted('attributes.tls.client.certificate.bound.access.tokens'),
      ],
      [
        'tokens bound to a certificate, as older versions name it',
        attributes({ 'tls-client-certificate-bound-access-tokens': 'True' }),
        restricted('attributes.tls-client-certificate-bound-access-tokens'),
      ],
      [
        'request objects',
        attributes({ 'request.object.required': 'request only' }),
        restricted('attributes.request.object.required'),
      ],
      ['no request objects', attributes({ 'request.object.required': 'not required' }), 'created'],
      [
        'restrictions that say no',
        attributes({ 'tls.client.certificate.bound.access.tokens': 'False', 'request.object.required': '' }),
        'created',
      ],
      [
        'a least level of authentication',
        attributes({ 'minimum.acr.value': '2' }),
        restricted('attributes.minimum.acr.value'),
      ],
      ['no least level', attributes({ 'minimum.acr.value': '' }), 'created'],
      [
        'a flow of its own',
        { authenticationFlowBindingOverrides: { browser: 'e2b1' } },
        restricted('authenticationFlowBindingOverrides'),
      ],
      ['no flow of its own', { authenticationFlowBindingOverrides: {} }, 'created'],
      [
        'a time that tokens last',
        attributes({ 'access.token.lifespan': '60' }),
        less('attributes.access.token.lifespan'),
      ],
      ['roles', { fullScopeAllowed: false }, less('fullScopeAllowed')],
      [
        'no redirect URI for its code',
        { standardFlowEnabled: true, ...attributes({ 'pkce.code.challenge.method': 'S256' }) },
        less('grant type authorization_code, grant type refresh_token'),
      ],
      [
        'links that cannot be here',
        { baseUrl: '/', ...attributes({ logoUri: 'http://logo.acme.test/', 'backchannel.logout.url': '${board}/x' }) },
        less('client_uri, logo_uri, backchannel_logout_uri'),
      ],
      ['no grant type', { serviceAccountsEnabled: false }, NO_GRANT],
      ['a secret that expires', attributes({ 'client.secret.expiration.time': '1799999999' }), 'refused secret_absent'],
      ['a secret that does not expire', attributes({ 'client.secret.expiration.time': '0' }), 'created'],
      ['a placeholder of a variable', { secret: '${BOARD_CLIENT_SECRET}' }, 'refused secret_absent'],
      ['a placeholder of a vault', { secret: '${vault.board_client_secret}' }, 'refused secret_absent'],
      ['a masked secret', { secret: '**********' }, 'refused secret_absent'],
      ['SAML', { protocol: 'saml' }, 'skipped not_openid'],
      ['Docker', { protocol: 'docker-v2' }, 'skipped not_openid'],
      ['no protocol', { protocol: undefined }, 'created'],
      ['bearer-only', { bearerOnly: true }, 'skipped bearer_only'],
      ['one of each realm', { clientId: 'realm-management', bearerOnly: true }, 'skipped part_of_system'],
      ['no name', { clientId: undefined }, 'refused record_malformed: client_name, client_id'],
      [
        'left-over redirect URIs',
        { redirectUris: [URI], ...attributes({ 'post.logout.redirect.uris': '+' }) },
        `created\nrefused redirect_uri_refused: ${URI}`,
      ],
      ['no URI for sign-out', attributes({ 'post.logout.redirect.uris': '-' }), 'created'],
      [
        'no grant type that there is',
        { serviceAccountsEnabled: false, directAccessGrantsEnabled: true },
        ungranted('password'),
      ],
      [
        'only grant types that there are not',
        { serviceAccountsEnabled: false, implicitFlowEnabled: true, directAccessGrantsEnabled: true },
        ungranted('implicit, password'),
      ],
      ['an id with a space', { clientId: 'my board' }, 'refused id_reserved'],
      [
        'a redirect URI with other characters',
        { redirectUris: ['https://bücher.acme.test/a b'] },
        'created\nrefused redirect_uri_refused: https://b\\u{fc}cher.acme.test/a\\u{20}b',
      ],
    ],
  },
  {
    source: AUTH0,
    read: (t, clients) =>
      importFile(t, server, writeInput(t, ''), {
        source: AUTH0,
        others: { clients: writeInput(t, JSON.stringify(clients), 'clients') },
      }),
    usual: (client_id) => ({
      client_id,
      name: client_id,
      app_type: 'non_interactive',
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'client_secret_post',
    }),
    rows: [
      ...['client_secret_post', 'client_secret_basic'].map((one): Row => [
        one,
        { token_endpoint_auth_method: one },
        'created',
      ]),
      ...OTHER_METHODS,
      ...['private_key_jwt'].map((one): Row => [
        one,
        {
          token_endpoint_auth_method: null,
          client_authentication_methods: { [one]: { credentials: [{ id: 'cred_1' }] } },
        },
        KEYLESS,
      ]),
      ...['tls_client_auth', 'self_signed_tls_client_auth', 'none'].map((one): Row => [
        `a list with ${one}`,
        { token_endpoint_auth_method: null, client_authentication_methods: { [one]: { credentials: [] } } },
        unsupported(`other:${one}`),
      ]),
      [
        'two ways',
        { client_authentication_methods: { private_key_jwt: {}, tls_client_auth: {} } },
        unsupported('other:private_key_jwt:tls_client_auth'),
      ],
      ['ways that are no object', { client_authentication_methods: ['tls_client_auth'] }, MALFORMED],
      ['no method, of a server', { token_endpoint_auth_method: undefined }, 'created'],
      ...['spa', 'native', 'acme', undefined].map((app_type): Row => [
        `no method, of ${app_type}`,
        { token_endpoint_auth_method: undefined, app_type },
        UNNAMED,
      ]),
      ['pushed requests', { require_pushed_authorization_requests: true }, 'created'],
      ['tokens bound to keys', { require_proof_of_possession: true }, 'created'],
      ['request objects', { signed_request_object: { required: true } }, restricted('signed_request_object.required')],
      ['FAPI 1', { compliance_level: 'fapi1_adv_mtls_par' }, restricted('compliance_level')],
      ['members only', { organization_usage: 'require' }, restricted('organization_usage')],
      ...['allow', 'deny', undefined].map((organization_usage): Row => [
        `organization_usage ${organization_usage}`,
        { organization_usage },
        'created',
      ]),
      ['no grant type that there is', { grant_types: ['implicit'] }, ungranted('implicit')],
      ['no secret', { client_secret: undefined }, 'refused secret_absent'],
      ['a placeholder', { client_secret: '##BOARD_CLIENT_SECRET##' }, 'refused secret_absent'],
      [
        'the "Default App" of each tenant',
        {
          app_type: undefined,
          token_endpoint_auth_method: undefined,
          grant_types: ['authorization_code', 'implicit', 'refresh_token', 'client_credentials'],
          callbacks: [],
        },
        UNNAMED,
      ],
      [
        'refresh tokens that stay',
        {
          grant_types: ['authorization_code', 'refresh_token'],
          callbacks: [URI],
          refresh_token: { rotation_type: 'non-rotating', expiration_type: 'non-expiring', token_lifetime: 31_557_600 },
        },
        less('refresh_token.rotation_type, refresh_token.expiration_type'),
      ],
      ['refresh tokens that it does not get', { refresh_token: { rotation_type: 'non-rotating' } }, 'created'],
      ['a logo in a URL of data', { logo_uri: `data:image/png;base64,${'A'.repeat(9000)}` }, less('logo_uri')],
      ['origins', { web_origins: ['https://a.acme.test'], allowed_origins: [] }, less('web_origins')],
      ['ID tokens with a shared secret', { jwt_configuration: { alg: 'HS256' } }, less('jwt_configuration.alg')],
      ['one of each tenant', { global: true }, 'skipped part_of_system'],
      ['left-over redirect URIs', { callbacks: [URI] }, `created\nrefused redirect_uri_refused: ${URI}`],
    ],
  },
  {
    source: HYDRA,
    read: (t, clients) => importFile(t, server, writeInput(t, JSON.stringify(clients)), { source: HYDRA }),
    usual: (client_id) => ({
      client_id,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'client_secret_basic',
    }),
    rows: [
      ...['client_secret_post', 'client_secret_basic', '', undefined].map((one): Row => [
        String(one),
        { token_endpoint_auth_method: one },
        'created',
      ]),
      ...OTHER_METHODS,
      ['a method that is a number', { token_endpoint_auth_method: 7 }, MALFORMED],
      ['keys', { token_endpoint_auth_method: 'private_key_jwt', jwks: JWKS }, 'created'],
      ['no keys', { token_endpoint_auth_method: 'private_key_jwt', jwks: {} }, KEYLESS],
      [
        'assertions with a shared secret',
        { token_endpoint_auth_method: 'private_key_jwt', jwks: JWKS, token_endpoint_auth_signing_alg: 'HS256' },
        'refused record_malformed: token_endpoint_auth_signing_alg HS256',
      ],
      [
        'tokens bound to a certificate',
        { tls_client_certificate_bound_access_tokens: true },
        restricted('tls_client_certificate_bound_access_tokens'),
      ],
      ['a secret that expires', { client_secret_expires_at: 1_799_999_999 }, 'refused secret_absent'],
      ['no grant type that there is', { grant_types: ['implicit'] }, ungranted('implicit')],
      [
        'audiences and lifetimes',
        { audience: ['https://api.acme.test'], client_credentials_grant_access_token_lifespan: '1h0m0s' },
        less('audience, client_credentials_grant_access_token_lifespan'),
      ],
      [
        'a code that it could not ask for',
        { grant_types: ['client_credentials', 'authorization_code'], response_types: ['token'], redirect_uris: [] },
        less('grant type authorization_code'),
      ],
      ['a placeholder', { client_secret: '{{ .Values.boardSecret }}' }, 'refused secret_absent'],
      ['left-over redirect URIs', { redirect_uris: [URI] }, `created\nrefused redirect_uri_refused: ${URI}`],
    ],
  },
  {
    source: NEUTRAL,
    read: (t, clients) => importFile(t, server, writeRecords(t, clients)),
    usual: (client_id) => ({
      type: 'client',
      client_id,
      client_name: client_id,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
    }),
    rows: [
      ['the default', {}, 'created'],
      ...OTHER_METHODS,
      ['a member that there is not', { client_secret_expires_at: 1_799_999_999 }, unknown('client_secret_expires_at')],
      ['a placeholder', { client_secret: '<put-the-secret-here>' }, 'refused secret_absent'],
      [
        'a grant type that there is not',
        { grant_types: ['implicit'] },
        'refused record_malformed: grant_types.0 implicit',
      ],
      ['left-over redirect URIs', { redirect_uris: [URI] }, `created\nrefused redirect_uri_refused: ${URI}`],
    ],
  },
]

for (const { source, read, usual, rows } of CASES)
  test(`IMP-15: ${source.verb}: a client comes with the authentication and the restrictions that it has there, or is refused by their names`, async (t) => {
    const clients = rows.map(([, members], row) => ({ ...usual(`${source.verb}-${row}`), ...members }))
    const { report } = await read(t, clients)
    const results = new Map<number, string[]>()
    for (const { line, outcome, reason, detail } of report) {
      const said = [outcome, reason].filter((one) => one !== null).join(' ')
      results.set(line, [...(results.get(line) ?? []), detail === undefined ? said : `${said}: ${detail}`])
    }
    assert.deepEqual(
      rows.map(([what], row) => [what, results.get(row + 1)?.join('\n')]),
      rows.map(([what, , result]) => [what, result]),
    )
    for (const [row, [what, , result]] of rows.entries()) {
      const client = await store.findClient(chosenClientId(`${source.verb}-${row}`) as never)
      assert.equal(client !== undefined, result.startsWith('created'), what)
    }
    const first = { client_id: `${source.verb}-0`, client_secret: SECRET }
    assert.equal((await requestToken(server, first, { grant_type: 'client_credentials' })).statusCode, 200)
  })
