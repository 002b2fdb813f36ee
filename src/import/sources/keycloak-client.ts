import { isObject, type JsonObject } from '../../base/json.ts'
import { ID_TOKEN_ALGORITHMS } from '../../protocol/openid/id-token.ts'
import { ACR_VALUES } from '../../protocol/sign-in/acr.ts'
import { isAcceptable } from '../input-file.ts'
import type { ImportReason } from '../reasons.ts'
import { termOf } from '../report.ts'
import type { Impossible, SourceRecord } from '../records.ts'
import {
  impossibleClient,
  isGranted,
  mayApply,
  parsedObject,
  restrictedClient,
  sourceRecord,
  takeGrantTypes,
  textOf,
  textsOf,
} from './attributes.ts'
import { isSet, lostMembers, memberName, type MemberTable } from './members.ts'

/** The clients that every realm has. */
const BUILT_IN: ReadonlySet<unknown> = new Set([
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
])
/** The attribute of a client whose secret expires. */
const SECRET_END = 'client.secret.expiration.time'
/** The attribute of a client with the levels of authentication that it asks for by default. */
const LEVELS = 'default.acr.values'
const ID_TOKEN_ALGORITHM = 'id.token.signed.response.alg'
/** How clients authenticate, by its names for it. */
const AUTHENTICATORS: ReadonlyMap<unknown, string> = new Map([
  ['client-secret', 'client_secret_basic'],
  ['client-jwt', 'private_key_jwt'],
])
/** The scopes of each realm, which have no scope here, or one that every client may ask for. */
const DEFAULT_SCOPES: ReadonlySet<string> = new Set(
  'openid profile email address phone offline_access roles web-origins acr basic microprofile-jwt organization service_account role_list saml_organization'.split(
    ' ',
  ),
)
/** Attributes without which a client could do more than there. The server has nothing like them. */
const RESTRICTIONS = [
  'tls.client.certificate.bound.access.tokens',
  'tls-client-certificate-bound-access-tokens',
  'minimum.acr.value',
]

const ATTRIBUTES: MemberTable = {
  ...Object.fromEntries(RESTRICTIONS.map((name) => [name, 'read' as const])),
  [SECRET_END]: 'read',
  [LEVELS]: 'read',
  [ID_TOKEN_ALGORITHM]: 'read',
  'request.object.required': 'read',
  'require.pushed.authorization.requests': 'read',
  'dpop.bound.access.tokens': 'read',
  'pkce.code.challenge.method': 'read',
  'post.logout.redirect.uris': 'read',
  'backchannel.logout.url': 'read',
  'use.refresh.tokens': 'read',
  'oauth2.device.authorization.grant.enabled': 'read',
  'oidc.ciba.grant.enabled': 'read',
  'use.jwks.url': 'read',
  'jwks.url': 'read',
  'use.jwks.string': 'read',
  'jwks.string': 'read',
  // It is about assertions, and so read where there are any.
  'token.endpoint.auth.signing.alg': 'harmless',
  logoUri: 'read',
  policyUri: 'read',
  tosUri: 'read',
  // Every logout token has a `sid`, and the others have no effect without a URL, which is not taken.
  'backchannel.logout.session.required': 'harmless',
  'frontchannel.logout.session.required': 'harmless',
  // Times and marks of its own.
  'client.secret.creation.time': 'harmless',
  realm_client: 'harmless',
  // Consent pages name each client.
  'display.on.consent.screen': 'harmless',
  // Responses have no `session_state`, and access tokens have the type of RFC 9068, whether it asked for them or not.
  'exclude.session.state.from.auth.response': 'harmless',
  'access.token.header.type.rfc9068': 'harmless',
  // RFC 6749 §5.1: clients ignore the case of `token_type`.
  'token.response.type.bearer.lower-case': 'harmless',
  'request.object.signature.alg': ['any'],
  'request.object.encryption.alg': ['any'],
  'request.object.encryption.enc': ['any'],
  // They are about another protocol. Its console writes them for each client.
  'saml.*': 'harmless',
  'saml_*': 'harmless',
}

const CLIENT: MemberTable = {
  attributes: { members: ATTRIBUTES },
  authenticationFlowBindingOverrides: 'read',
  baseUrl: 'read',
  bearerOnly: 'read',
  clientAuthenticatorType: 'read',
  clientId: 'read',
  defaultClientScopes: 'read',
  directAccessGrantsEnabled: 'read',
  enabled: 'read',
  implicitFlowEnabled: 'read',
  name: 'read',
  optionalClientScopes: 'read',
  protocol: 'read',
  publicClient: 'read',
  redirectUris: 'read',
  rootUrl: 'read',
  secret: 'read',
  serviceAccountsEnabled: 'read',
  standardFlowEnabled: 'read',
  // Its own id, and what an administrator may do with the client.
  id: 'harmless',
  access: 'harmless',
  // Tokens do not move, also that with which a client changes itself.
  notBefore: 'harmless',
  registrationAccessToken: 'harmless',
  // Users are asked for consent, whether they were there or not.
  consentRequired: 'harmless',
  // About programs that are no part of OpenID Connect.
  nodeReRegistrationTimeout: 'harmless',
  // Roles do not move, so the client gets none.
  fullScopeAllowed: [true],
}

/** A client of a realm. */
export function clientOf(line: number, client: JsonObject | undefined): SourceRecord {
  const id = client?.['clientId']
  const skipped = client === undefined ? undefined : skippedBecause(client)
  if (skipped !== undefined) return sourceRecord('client', line, id, { skipped })
  if (!isAcceptable(client)) return sourceRecord('client', line, id, {})
  const attributes = isObject(client['attributes']) ? client['attributes'] : {}
  const has = (name: string) => mayApply(attributes[name])
  const hasCode = client['standardFlowEnabled'] === true
  const refreshes = attributes['use.refresh.tokens'] ?? true
  const hasRefresh = refreshes === true || (typeof refreshes === 'string' && refreshes.toLowerCase() === 'true')
  const { grantTypes, dropped, impossible } = takeGrantTypes([
    ...(hasCode ? ['authorization_code'] : []),
    ...(hasCode && hasRefresh ? ['refresh_token'] : []),
    ...(client['serviceAccountsEnabled'] === true ? ['client_credentials'] : []),
    ...(client['implicitFlowEnabled'] === true ? ['implicit'] : []),
    ...(client['directAccessGrantsEnabled'] === true ? ['password'] : []),
    ...(has('oauth2.device.authorization.grant.enabled') ? ['urn:ietf:params:oauth:grant-type:device_code'] : []),
    ...(has('oidc.ciba.grant.enabled') ? ['urn:openid:params:grant-type:ciba'] : []),
  ])
  const uris = textsOf(client['redirectUris']).map((uri) => absolute(client, uri))
  const signedOut = textOf(attributes['post.logout.redirect.uris'])?.split('##') ?? []
  const levels = has(LEVELS) ? String(textOf(attributes[LEVELS])).split('##') : []
  const areLevels = levels.every((one) => ACR_VALUES.some((level) => level === one))
  const algorithm = textOf(attributes[ID_TOKEN_ALGORITHM]) || 'RS256'
  const isSigned = ID_TOKEN_ALGORITHMS.some((one) => one === algorithm)
  const scopes = ['defaultClientScopes', 'optionalClientScopes'].flatMap((name) => textsOf(client[name]))
  const isPublic = client['publicClient'] === true
  const text = (name: string) => textOf(attributes[name]) ?? ''
  const links = {
    backchannel_logout_uri: text('backchannel.logout.url'),
    client_uri: absolute(client, textOf(client['baseUrl']) ?? ''),
    logo_uri: text('logoUri'),
    policy_uri: text('policyUri'),
    tos_uri: text('tosUri'),
  }
  return sourceRecord('client', line, id, {
    impossible:
      (isPublic ? undefined : unknownAuthenticator(client)) ??
      restrictedClient(restrictionsOf(client, attributes)) ??
      impossible,
    dropped: [
      ...dropped,
      ...(has(SECRET_END) ? [`attributes.${SECRET_END}`] : []),
      ...(areLevels ? [] : [`attributes.${LEVELS}`]),
      ...(isSigned ? [] : [`attributes.${ID_TOKEN_ALGORITHM}`]),
      ...scopes.filter((one) => !DEFAULT_SCOPES.has(one)).map((one) => `scope ${memberName(one)}`),
      ...lostMembers(client, CLIENT),
    ],
    value: {
      type: 'client',
      client_id: id,
      client_name: (textOf(client['name']) ?? '').trim() || id,
      ...(isPublic ? { token_endpoint_auth_method: 'none' } : authenticationOf(client, attributes)),
      grant_types: grantTypes,
      redirect_uris: uris,
      // `+` means the redirect URIs, and `-` none.
      post_logout_redirect_uris: signedOut
        .filter((uri) => uri !== '-')
        .flatMap((uri) => (uri === '+' ? uris : [absolute(client, uri)])),
      ...Object.fromEntries(Object.entries(links).filter(([, link]) => link !== '')),
      ...(hasCode && isSigned && algorithm !== 'RS256' && { id_token_signed_response_alg: algorithm }),
      // What was refused there without it.
      ...(has('require.pushed.authorization.requests') && { require_pushed_authorization_requests: true }),
      ...(has('dpop.bound.access.tokens') && { dpop_bound_access_tokens: true }),
      ...(areLevels && levels.length > 0 && { default_acr_values: levels }),
      ...(hasCode && has('pkce.code.challenge.method') && { rules: { pkce: 'required' } }),
      client_secret: has(SECRET_END) ? undefined : textOf(client['secret']),
      disabled: !isGranted(client['enabled']),
    },
  })
}

/** Why a client is not taken. undefined: it is taken. */
function skippedBecause(client: JsonObject): ImportReason | undefined {
  const { clientId, protocol, bearerOnly } = client
  if (BUILT_IN.has(clientId)) return 'part_of_system'
  if ((protocol ?? 'openid-connect') !== 'openid-connect') return 'not_openid'
  return bearerOnly === true ? 'bearer_only' : undefined
}

/** What was refused there, and would not be here. */
function restrictionsOf(client: JsonObject, attributes: JsonObject): readonly string[] {
  const required = attributes['request.object.required']
  return [
    ...RESTRICTIONS.filter((name) => mayApply(attributes[name])).map((name) => `attributes.${name}`),
    ...(mayApply(required) && required !== 'not required' ? ['attributes.request.object.required'] : []),
    ...(isSet(client['authenticationFlowBindingOverrides']) ? ['authenticationFlowBindingOverrides'] : []),
  ]
}

/** Why a client cannot authenticate here. */
function unknownAuthenticator({ clientAuthenticatorType: type }: JsonObject): Impossible | undefined {
  return AUTHENTICATORS.has(type ?? 'client-secret')
    ? undefined
    : impossibleClient(
        `It authenticates with ${termOf(type) ?? 'another method'}, which is not possible here. Let it use client-secret or client-jwt there.`,
      )
}

/** A way to authenticate that is unknown here is refused by its name, also if a way of this server has the name. */
function authenticationOf({ clientAuthenticatorType: type }: JsonObject, attributes: JsonObject): JsonObject {
  const method = AUTHENTICATORS.get(type ?? 'client-secret')
  if (method === undefined) return { token_endpoint_auth_method: `authenticator:${textOf(type)}` }
  if (method !== 'private_key_jwt') return { token_endpoint_auth_method: method }
  const algorithm = textOf(attributes['token.endpoint.auth.signing.alg']) || undefined
  return {
    token_endpoint_auth_method: method,
    ...(mayApply(attributes['use.jwks.url']) && { jwks_uri: textOf(attributes['jwks.url']) }),
    ...(mayApply(attributes['use.jwks.string']) && { jwks: parsedObject(attributes['jwks.string']) }),
    ...(algorithm !== undefined && { token_endpoint_auth_signing_alg: algorithm }),
  }
}

/** A path is below the root of the client. */
function absolute({ rootUrl }: JsonObject, uri: string): string {
  return uri.startsWith('/') && typeof rootUrl === 'string' ? `${rootUrl.replace(/\/$/, '')}${uri}` : uri
}
