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
const unauthenticated = (name: string) =>
  `refused client_not_possible: It authenticates with ${name}, which is not possible here. Let it use client-secret or client-jwt there.`
const ungranted = (names: string) =>
  `refused client_not_possible: It uses only ${names} there, which is not possible here. Let it use authorization_code or client_credentials there.`
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
        unknown('tls_client_certificate_bound_access_tokens'),
      ],
      [
        'tokens bound to a certificate, as older versions name it',
        attributes({ 'tls-client-certificate-bound-access-tokens': 'True' }),
        unknown('tls_client_certificate_bound_access_tokens'),
      ],
      [
        'request objects',
        attributes({ 'request.object.required': 'request only' }),
        unknown('require_signed_request_object'),
      ],
      ['no request objects', attributes({ 'request.object.required': 'not required' }), 'created'],
      [
        'restrictions that say no',
        attributes({ 'tls.client.certificate.bound.access.tokens': 'False', 'request.object.required': '' }),
        'created',
      ],
      ['a least level of authentication', attributes({ 'minimum.acr.value': '2' }), unknown('minimum_acr_value')],
      ['no least level', attributes({ 'minimum.acr.value': '' }), 'created'],
      [
        'a flow of its own',
        { authenticationFlowBindingOverrides: { browser: 'e2b1' } },
        unknown('authentication_flow_binding_overrides'),
      ],
      ['no flow of its own', { authenticationFlowBindingOverrides: {} }, 'created'],
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
        MALFORMED,
      ]),
      ['pushed requests', { require_pushed_authorization_requests: true }, 'created'],
      ['tokens bound to keys', { require_proof_of_possession: true }, 'created'],
      ['request objects', { signed_request_object: { required: true } }, unknown('require_signed_request_object')],
      ['FAPI 1', { compliance_level: 'fapi1_adv_mtls_par' }, unknown('compliance_level')],
      ['members only', { organization_usage: 'require' }, unknown('organization_usage')],
      ...['allow', 'deny', undefined].map((organization_usage): Row => [
        `organization_usage ${organization_usage}`,
        { organization_usage },
        'created',
      ]),
      ['no grant type that there is', { grant_types: ['implicit'] }, ungranted('implicit')],
      ['no secret', { client_secret: undefined }, 'refused secret_absent'],
      ['a placeholder', { client_secret: '##BOARD_CLIENT_SECRET##' }, 'refused secret_absent'],
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
        unknown('tls_client_certificate_bound_access_tokens'),
      ],
      ['a secret that expires', { client_secret_expires_at: 1_799_999_999 }, 'refused secret_absent'],
      ['no grant type that there is', { grant_types: ['implicit'] }, ungranted('implicit')],
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
    metadata: { parRequired: true, dpopBound: true, defaultAcrValues: ['urn:grantor:acr:2fa', 'phr'] },
    rules: { pkce: 'required' },
    disabledAt: undefined,
  })
  assert.deepEqual(counts.dropped, { 'default.acr.values': 1 })
  assert.ok(off?.disabledAt !== undefined && unsaid?.disabledAt !== undefined)
})

test('what is not taken on purpose is skipped with its reason, and what is no list or no object is an error or refused', async (t) => {
  const user = { enabled: true, email: 'skip@acme.test' }
  const realm = {
    organizations: [
      { id: 'off', name: 'Off', enabled: false },
      { id: 'on', name: 'On', enabled: true },
      'no organization',
    ],
    users: [
      { ...user, id: 'linked', email: 'linked@acme.test', federationLink: 'ldap' },
      { ...user, id: 'machine', serviceAccountClientId: 'job' },
      'no user',
      { ...user, id: 'skip', federatedIdentities: {} },
    ],
    federatedUsers: [{ id: 'f:1:ada', credentials: [] }],
    clients: ['no client'],
  }
  const { counts, report } = await importFile(t, server, writeInput(t, JSON.stringify(realm)), { source: KEYCLOAK })
  assert.deepEqual(
    report.map(({ source_id: id, outcome, reason }) => [id, outcome, reason]),
    [
      ['off', 'created', null],
      ['on', 'created', null],
      [null, 'refused', 'line_malformed'],
      ['linked', 'skipped', 'user_elsewhere'],
      ['machine', 'skipped', 'part_of_system'],
      [null, 'refused', 'line_malformed'],
      ['skip', 'refused', 'record_malformed'],
      ['f:1:ada', 'skipped', 'user_elsewhere'],
      [null, 'refused', 'line_malformed'],
    ],
  )
  assert.deepEqual(counts.kinds, {
    organization: { created: 2, refused: 1 },
    user: { skipped: 3, refused: 2 },
    client: { refused: 1 },
  })
  const [off, on] = await Promise.all(['off', 'on'].map((id) => store.findOrganization(id as never)))
  assert.ok(off?.disabledAt !== undefined && on?.disabledAt === undefined)
  const page = { start: 0, limit: 50, length: 1, total: 1, clients: [{ client_id: 'x' }] }
  const others = { clients: writeInput(t, JSON.stringify(page), 'clients') }
  await assert.rejects(
    importFile(t, server, writeInput(t, ''), { source: AUTH0, others }),
    /the clients must be a JSON array, and this is an object with the members start, limit, length, total, clients\./,
  )
  for (const name of ['users', 'clients', 'organizations', 'federatedUsers'])
    await assert.rejects(
      importFile(t, server, writeInput(t, JSON.stringify({ [name]: { a: 1 } })), { source: KEYCLOAK }),
      new RegExp(`${name} must be a JSON array, and this is an object with the members a\\.`),
    )
})
