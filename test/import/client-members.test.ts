import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { SourceRecord } from '../../src/import/records.ts'
import { AUTH0 } from '../../src/import/sources/auth0.ts'
import { HYDRA } from '../../src/import/sources/hydra.ts'
import { KEYCLOAK } from '../../src/import/sources/keycloak.ts'
import { writeInput } from './importing.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** A value of a member that real exports of clients have, by its path. `/` is between its parts, because names have dots. */
type Members = Readonly<Record<string, unknown>>

interface Case {
  readonly name: string
  readonly read: (t: TestContext, client: JsonObject) => SourceRecord
  readonly usual: JsonObject
  /** With a value that says something. Read, or reported by its name. */
  readonly members: Members
  /** What changes nothing, with the reasons in the reader. */
  readonly harmless: Members
  /** Where a member may come that no version had yet. */
  readonly places: readonly string[]
}

const VALUE = 'Zq7-value-of-a-member'
const URL_VALUE = 'https://value.acme.test/x'

const CASES: readonly Case[] = [
  {
    name: 'keycloak',
    read(t, client) {
      const main = writeInput(t, JSON.stringify({ clients: [client] }))
      return only(KEYCLOAK.read({ main, others: {}, switches: new Set() }))
    },
    usual: {
      clientId: 'board',
      enabled: true,
      protocol: 'openid-connect',
      publicClient: false,
      standardFlowEnabled: true,
      serviceAccountsEnabled: true,
      secret: 'V8q2mZr7Lx0Tn4Wb9KcD',
      redirectUris: ['https://board.acme.test/cb'],
    },
    places: ['', 'attributes'],
    members: {
      // The representation of Keycloak 1 to 26.
      ...valued(
        true,
        'alwaysDisplayInConsole authorizationServicesEnabled bearerOnly directAccessGrantsEnabled directGrantsOnly frontchannelLogout implicitFlowEnabled publicClient surrogateAuthRequired useTemplateConfig',
      ),
      ...valued(VALUE, 'clientTemplate description origin type'),
      ...valued(false, 'enabled fullScopeAllowed serviceAccountsEnabled standardFlowEnabled'),
      adminUrl: URL_VALUE,
      applicationRoles: [VALUE],
      authenticationFlowBindingOverrides: { browser: VALUE },
      authorizationSettings: { resources: [{ name: VALUE }] },
      baseUrl: URL_VALUE,
      clientAuthenticatorType: 'client-jwt',
      clientId: 'other',
      defaultClientScopes: ['orders'],
      defaultRoles: [VALUE],
      name: 'Board',
      optionalClientScopes: ['orders'],
      protocol: 'saml',
      protocolMappers: [{ name: VALUE, config: {} }],
      redirectUris: ['https://other.acme.test/cb'],
      registeredNodes: { [VALUE]: 1 },
      secret: 'xJ4kP9sW2vB7nM1qR6tY',
      webOrigins: ['+'],
      // Attributes of its console, its client policies and its registration.
      ...under('attributes', {
        ...valued(
          '60',
          'access.token.lifespan client.offline.session.idle.timeout client.offline.session.max.lifespan client.session.idle.timeout client.session.max.lifespan oauth2.device.code.lifespan',
        ),
        'access.token.signed.response.alg': 'ES512',
        'acr.loa.map': '{"gold":"2"}',
        ...valued(
          'true',
          'allow.token.introspection.without.audience.check allow.userinfo.with.lightweight.access.token backchannel.logout.revoke.offline.tokens client.use.lightweight.access.token.enabled client_credentials.use_refresh_token dpop.bound.access.tokens exclude.issuer.from.auth.response external.token.enabled id.token.as.detached.signature logout.confirmation.enabled oauth2.device.authorization.grant.enabled oauth2.jwt.authorization.grant.enabled oidc.ciba.grant.enabled require.pushed.authorization.requests standard.token.exchange.enabled tls-client-certificate-bound-access-tokens tls.client.certificate.bound.access.tokens',
        ),
        ...valued(
          'RSA-OAEP',
          'authorization.encrypted.response.alg id.token.encrypted.response.alg request.object.encryption.alg user.info.encrypted.response.alg',
        ),
        'authorization.signed.response.alg': 'PS256',
        ...valued(
          URL_VALUE,
          'backchannel.logout.url frontchannel.logout.url logoUri policyUri request.uris sectorIdentifierUri tosUri',
        ),
        'client.secret.expiration.time': '1799999999',
        ...valued(
          VALUE,
          'consent.screen.text jwt.credential.certificate jwt.credential.public.key login_theme x509.subjectdn',
        ),
        'default.acr.values': 'phr',
        'id.token.signed.response.alg': 'ES256',
        'minimum.acr.value': '2',
        'oauth2.device.polling.interval': '9',
        'pkce.code.challenge.method': 'S256',
        'post.logout.redirect.uris': '+',
        'request.object.required': 'request only',
        'request.object.signature.alg': 'RS256',
        'user.info.response.signature.alg': 'RS256',
        'use.refresh.tokens': 'false',
      }),
    },
    harmless: {
      access: { view: true, configure: true, manage: true },
      consentRequired: true,
      id: VALUE,
      nodeReRegistrationTimeout: -1,
      notBefore: 1_700_000_000,
      registrationAccessToken: VALUE,
      // Without a path in another member it says nothing.
      rootUrl: URL_VALUE,
      // What the console writes for each client.
      fullScopeAllowed: true,
      frontchannelLogout: false,
      protocolMappers: [],
      authenticationFlowBindingOverrides: {},
      defaultClientScopes: ['web-origins', 'acr', 'roles', 'profile', 'basic', 'email'],
      optionalClientScopes: ['address', 'phone', 'offline_access', 'microprofile-jwt'],
      ...under('attributes', {
        'access.token.header.type.rfc9068': 'true',
        'acr.loa.map': '{}',
        'backchannel.logout.revoke.offline.tokens': 'false',
        'backchannel.logout.session.required': 'true',
        'backchannel.logout.url': '',
        'client.secret.creation.time': '1726577906',
        'display.on.consent.screen': 'true',
        'exclude.session.state.from.auth.response': 'true',
        'frontchannel.logout.session.required': 'true',
        'id.token.signed.response.alg': 'RS256',
        'jwks.string': '{}',
        'jwks.url': URL_VALUE,
        realm_client: 'false',
        'request.object.signature.alg': 'any',
        'saml.signing.private.key': VALUE,
        saml_name_id_format: 'username',
        'token.endpoint.auth.signing.alg': 'RS256',
        'token.response.type.bearer.lower-case': 'true',
        'use.jwks.string': 'false',
        'use.jwks.url': 'false',
        'use.refresh.tokens': 'true',
      }),
    },
  },
  {
    name: 'auth0',
    read(t, client) {
      const others = { clients: writeInput(t, JSON.stringify([client]), 'clients') }
      return only(AUTH0.read({ main: writeInput(t, ''), switches: new Set(), others }))
    },
    usual: {
      client_id: 'board',
      name: 'Board',
      app_type: 'regular_web',
      client_secret: 'V8q2mZr7Lx0Tn4Wb9KcD',
      callbacks: ['https://board.acme.test/cb'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    places: ['', 'jwt_configuration', 'refresh_token', 'oidc_logout', 'signed_request_object'],
    members: {
      ...valued(
        true,
        'callback_url_template cross_origin_auth cross_origin_authentication global is_token_endpoint_ip_header_trusted require_proof_of_possession require_pushed_authorization_requests skip_non_verifiable_callback_uri_confirmation_prompt sso sso_disabled',
      ),
      ...valued([URL_VALUE], 'allowed_logout_urls allowed_origins callbacks web_origins'),
      ...valued(VALUE, 'custom_login_page custom_login_page_preview description form_template'),
      ...valued(
        URL_VALUE,
        'cross_origin_loc external_client_id initiate_login_uri logo_uri resource_server_identifier',
      ),
      addons: { samlp: { audience: VALUE } },
      allowed_clients: [VALUE],
      async_approval_notification_channels: ['email'],
      client_aliases: [VALUE],
      client_authentication_methods: { private_key_jwt: { credentials: [{ id: VALUE }] } },
      client_id: 'other',
      client_metadata: { [VALUE]: VALUE },
      client_secret: 'xJ4kP9sW2vB7nM1qR6tY',
      compliance_level: 'fapi1_adv_pkj_par',
      custom_login_page_on: false,
      default_organization: { organization_id: VALUE, flows: ['client_credentials'] },
      encryption_key: { pub: VALUE },
      express_configuration: { enable_client: true },
      grant_types: ['client_credentials'],
      mobile: { android: { app_package_name: VALUE } },
      name: 'Other',
      native_social_login: { apple: { enabled: true } },
      oidc_conformant: false,
      organization_discovery_methods: ['email'],
      organization_require_behavior: 'pre_login_prompt',
      organization_usage: 'require',
      par_request_expiry: 60,
      session_transfer: { can_create_session_transfer_token: true },
      token_endpoint_auth_method: 'client_secret_basic',
      token_exchange: { allow_any_profile_of_type: ['custom_authentication'] },
      token_quota: { client_credentials: { per_hour: 9 } },
      'jwt_configuration/alg': 'HS256',
      'jwt_configuration/lifetime_in_seconds': 60,
      'jwt_configuration/scopes': { read: VALUE },
      'oidc_backchannel_logout/backchannel_logout_urls': [URL_VALUE],
      'oidc_logout/backchannel_logout_initiators': { mode: 'custom', selected_initiators: ['rp-logout'] },
      'oidc_logout/backchannel_logout_session_metadata': { include: true },
      'oidc_logout/backchannel_logout_urls': [URL_VALUE, `${URL_VALUE}/2`],
      'refresh_token/expiration_type': 'non-expiring',
      'refresh_token/leeway': 30,
      'refresh_token/policies': [{ audience: VALUE, scope: [VALUE] }],
      'refresh_token/rotation_type': 'non-rotating',
      refresh_token: { expiration_type: 'expiring', rotation_type: 'rotating', token_lifetime: 60 },
      'signed_request_object/credentials': [{ id: VALUE }],
      'signed_request_object/required': true,
    },
    harmless: {
      app_type: 'spa',
      is_first_party: false,
      owners: [VALUE],
      signing_keys: [{ cert: VALUE, pkcs7: VALUE, subject: VALUE }],
      tenant: VALUE,
      // What each client of a tenant has.
      addons: {},
      allowed_origins: [''],
      custom_login_page_on: true,
      global: false,
      native_social_login: { apple: { enabled: false }, facebook: { enabled: false } },
      oidc_conformant: true,
      organization_require_behavior: 'no_prompt',
      organization_usage: 'deny',
      refresh_token: {
        expiration_type: 'expiring',
        rotation_type: 'rotating',
        leeway: 0,
        infinite_token_lifetime: false,
      },
      'jwt_configuration/alg': 'RS256',
      'jwt_configuration/lifetime_in_seconds': 36_000,
      'jwt_configuration/secret_encoded': true,
    },
  },
  {
    name: 'hydra',
    read(t, client) {
      return only(HYDRA.read({ main: writeInput(t, JSON.stringify([client])), switches: new Set(), others: {} }))
    },
    usual: {
      client_id: 'board',
      client_secret: 'V8q2mZr7Lx0Tn4Wb9KcD',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://board.acme.test/cb'],
      scope: 'openid offline_access',
      token_endpoint_auth_method: 'client_secret_basic',
    },
    places: [''],
    members: {
      ...valued(
        true,
        'dpop_bound_access_tokens require_pushed_authorization_requests require_signed_request_object skip_consent skip_logout_consent tls_client_certificate_bound_access_tokens',
      ),
      ...valued([URL_VALUE], 'allowed_cors_origins post_logout_redirect_uris redirect_uris request_uris'),
      ...valued(
        URL_VALUE,
        'backchannel_logout_uri client_uri frontchannel_logout_uri jwks_uri logo_uri policy_uri sector_identifier_uri tos_uri',
      ),
      access_token_strategy: 'opaque',
      audience: [VALUE],
      client_id: 'other',
      client_name: 'Board',
      client_secret: 'xJ4kP9sW2vB7nM1qR6tY',
      client_secret_expires_at: 1_799_999_999,
      contacts: ['ada@acme.test'],
      grant_types: ['client_credentials'],
      jwks: { keys: [{ kty: 'OKP' }] },
      metadata: { [VALUE]: VALUE },
      owner: VALUE,
      request_object_signing_alg: 'RS256',
      response_types: ['token'],
      rotated_secrets: [VALUE],
      scope: 'openid',
      subject_type: 'pairwise',
      token_endpoint_auth_method: 'client_secret_post',
      userinfo_signed_response_alg: 'RS256',
      ...valued(
        '1h0m0s',
        'authorization_code_grant_access_token_lifespan authorization_code_grant_id_token_lifespan authorization_code_grant_refresh_token_lifespan client_credentials_grant_access_token_lifespan device_authorization_grant_access_token_lifespan implicit_grant_access_token_lifespan jwt_bearer_grant_access_token_lifespan password_grant_refresh_token_lifespan refresh_token_grant_access_token_lifespan refresh_token_grant_id_token_lifespan refresh_token_grant_refresh_token_lifespan',
      ),
    },
    harmless: {
      backchannel_logout_session_required: true,
      created_at: '2026-01-01T00:00:00Z',
      frontchannel_logout_session_required: true,
      nid: VALUE,
      pk: VALUE,
      pk_deprecated: 7,
      registration_access_token: VALUE,
      registration_access_token_signature: VALUE,
      registration_client_uri: URL_VALUE,
      token_endpoint_auth_signing_alg: 'RS256',
      updated_at: '2026-01-01T00:00:00Z',
      // What each client has.
      access_token_strategy: 'jwt',
      allowed_cors_origins: [],
      jwks: {},
      metadata: '{}',
      response_types: ['code', 'code id_token'],
      skip_logout_consent: null,
      subject_type: 'public',
      userinfo_signed_response_alg: 'none',
    },
  },
]

for (const { name, read, usual, members, harmless, places } of CASES) {
  test(`IMP-17: ${name}: each member of a client is read or reported by its path, unless nothing is lost without it`, (t) => {
    const before = JSON.stringify(read(t, usual))
    const silent = (all: Members) =>
      Object.entries(all)
        .filter(([path, value]) => JSON.stringify(read(t, withMember(usual, path, value))) === before)
        .map(([path]) => path)
    assert.deepEqual(silent(members), [])
    assert.deepEqual(silent(harmless).toSorted(), Object.keys(harmless).toSorted())
  })

  test(`IMP-17: ${name}: a member that no version has had yet is reported, and its value is not`, (t) => {
    for (const place of places) {
      const path = place === '' ? 'newRight' : `${place}/newRight`
      for (const value of [true, 7, 'x', [VALUE], { [VALUE]: VALUE }]) {
        const { dropped } = read(t, withMember(usual, path, value))
        assert.ok(dropped.includes(path.replace('/', '.')), `${path} ${JSON.stringify(dropped)}`)
        assert.ok(!JSON.stringify(dropped).includes(VALUE))
      }
      for (const value of [false, 0, '', null, 'false', [], {}, { a: [false] }])
        assert.deepEqual(read(t, withMember(usual, path, value)).dropped, [])
      const secret = read(t, withMember(usual, path.replace('newRight', 'V8q2mZr7Lx0Tn4Wb9KcD'), true)).dropped
      assert.equal(secret.length, 1)
      assert.ok(!secret.join().includes('V8q2mZr7Lx0Tn4Wb9KcD'))
    }
  })
}

function only(records: Iterable<SourceRecord>): SourceRecord {
  const [record, ...others] = [...records].filter(({ kind }) => kind === 'client')
  assert.ok(record !== undefined && others.length === 0)
  return record
}

/** Members with one value, by their names. */
function valued(value: unknown, names: string): Members {
  return Object.fromEntries(names.split(' ').map((name) => [name, value]))
}

function under(place: string, members: Members): Members {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [`${place}/${name}`, value]))
}

function withMember(client: JsonObject, path: string, value: unknown): JsonObject {
  const [name = '', inner] = path.split('/')
  return { ...client, [name]: inner === undefined ? value : { [inner]: value } }
}
