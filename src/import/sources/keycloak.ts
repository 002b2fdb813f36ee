import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, parseJson } from '../../base/json.ts'
import { ACR_VALUES } from '../../protocol/sign-in/acr.ts'
import { base32, base32Bytes } from '../../protocol/sign-in/totp.ts'
import { isAcceptable, readDocument } from '../input-file.ts'
import type { ImportReason } from '../reasons.ts'
import { termOf } from '../report.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import {
  isGranted,
  mapObjects,
  mayApply,
  objectsOf,
  readFactors,
  recordsIn,
  sourceRecord,
  takeAttributes,
  takeGrantTypes,
  textOf,
  textsOf,
} from './attributes.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** The clients that every realm has. */
const BUILT_IN: ReadonlySet<unknown> = new Set([
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
])
/** Its names of attributes that are standard claims. */
const CLAIMS: Readonly<Record<string, string>> = {
  phoneNumber: 'phone_number',
  phoneNumberVerified: 'phone_number_verified',
}
/** The credentials that are no second factors. */
const PASSWORDS: ReadonlySet<unknown> = new Set(['password', 'password-history'])

/** The attribute of a client whose secret expires. */
const SECRET_END = 'client.secret.expiration.time'
/** The attribute of a client with the levels of authentication that it asks for by default. */
const LEVELS = 'default.acr.values'
/** What a user has to do who was given a password. */
const REPLACE_PASSWORD = 'UPDATE_PASSWORD'
const ARGON2_VERSIONS: ReadonlyMap<string | undefined, string> = new Map([
  ['1.0', '16'],
  ['1.3', '19'],
])
/** How clients authenticate, by its names for it. */
const AUTHENTICATORS: ReadonlyMap<unknown, string> = new Map([
  ['client-secret', 'client_secret_basic'],
  ['client-jwt', 'private_key_jwt'],
])

/** A realm as `kc.sh export` writes it: a file, or a folder with files of users. */
export const KEYCLOAK: Source = {
  verb: 'keycloak',
  summary: 'Import users, organizations and clients of a realm of Keycloak.',
  argument: [
    'realm',
    'a file or folder of "kc.sh export --realm <realm>"; the export of its console lacks the secrets',
  ],
  options: [],
  namesProvidersHere: false,
  paths: ({ main }) => filesOf(main),
  *read({ main }): Generator<SourceRecord> {
    let members: ReadonlyMap<string, readonly string[]> = new Map()
    let line = 0
    for (const path of filesOf(main)) {
      const realm = readDocument(path)
      if (!isObject(realm)) throw new Error(`${path} is not the export of a realm.`)
      const organizations = [...recordsIn(path, 'organizations', realm['organizations'] ?? [])]
      if (organizations.length > 0) members = membersOf(objectsOf(realm['organizations']))
      for (const { value } of organizations) yield organizationOf((line += 1), value)
      for (const { value } of recordsIn(path, 'users', realm['users'] ?? [])) yield userOf((line += 1), value, members)
      // Accounts of which the realm has only what their directory does not.
      for (const { value } of recordsIn(path, 'federatedUsers', realm['federatedUsers'] ?? []))
        yield sourceRecord('user', (line += 1), value?.['id'], { skipped: 'user_elsewhere' })
      for (const { value } of recordsIn(path, 'clients', realm['clients'] ?? [])) yield clientOf((line += 1), value)
    }
  },
}

/** The realm comes before its users. */
function filesOf(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path]
  const names = readdirSync(path).filter((name) => name.endsWith('.json'))
  const realms = names.filter((name) => name.endsWith('-realm.json'))
  const [realm] = realms
  if (realm === undefined || realms.length > 1)
    throw new Error(`${path} has the export of ${realms.length} realms. Give the folder of one: kc.sh export --realm`)
  const start = realm.replace(/realm\.json$/, 'users-')
  const users = names.filter((name) => name.startsWith(start))
  return [realm, ...users.toSorted((one, other) => numberOf(one) - numberOf(other))].map((name) => join(path, name))
}

function numberOf(name: string): number {
  return Number(/(\d+)\.json$/.exec(name)?.[1] ?? 0)
}

/** The ids of the organizations of each user, by the user's name. */
function membersOf(organizations: readonly JsonObject[]): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>()
  for (const { id, members } of organizations) {
    for (const { username } of objectsOf(members)) {
      if (typeof username !== 'string' || typeof id !== 'string') continue
      const known = ids.get(username)
      if (known === undefined) ids.set(username, [id])
      else known.push(id)
    }
  }
  return ids
}

function organizationOf(line: number, organization: JsonObject | undefined): SourceRecord {
  if (!isAcceptable(organization)) return sourceRecord('organization', line, organization?.['id'], {})
  const { id, name, enabled } = organization
  return sourceRecord('organization', line, id, {
    value: { type: 'organization', id, name, disabled: !isGranted(enabled ?? true) },
  })
}

function userOf(
  line: number,
  user: JsonObject | undefined,
  members: ReadonlyMap<string, readonly string[]>,
): SourceRecord {
  if (!isAcceptable(user)) return sourceRecord('user', line, user?.['id'], {})
  const { id, username, firstName, lastName } = user
  // The account of a client that acts for itself: the client has it.
  if (mayApply(user['serviceAccountClientId'])) return sourceRecord('user', line, id, { skipped: 'part_of_system' })
  // Only the directory knows its state and its password.
  if (mayApply(user['federationLink'])) return sourceRecord('user', line, id, { skipped: 'user_elsewhere' })
  const names = [firstName, lastName].map(textOf).filter((one) => one !== undefined && one !== '')
  const taken = takeAttributes(names.join(' '), {
    ...attributesOf(user['attributes']),
    given_name: firstName,
    family_name: lastName,
    preferred_username: username,
  })
  const actions = textsOf(user['requiredActions'])
  // An administrator gave the password, and the user had to replace it at the next sign-in.
  const isTemporary = actions.includes(REPLACE_PASSWORD)
  const hash = passwordOf(objectsOf(user['credentials']))
  const factors = readFactors(user['credentials'], {
    isNoFactor: ({ type }) => PASSWORDS.has(type),
    // Users make new ones here.
    isReplacement: ({ type }) => type === 'recovery-authn-codes',
    appOf,
  })
  return sourceRecord('user', line, id, {
    notes: hash !== undefined && isTemporary ? ['password_not_used'] : [],
    dropped: [
      ...taken.dropped,
      ...actions.filter((one) => one !== REPLACE_PASSWORD).map((one) => `required action ${one}`),
    ],
    value: {
      type: 'user',
      id,
      email: user['email'] ?? null,
      email_verified: isGranted(user['emailVerified']),
      name: taken.name,
      profile: taken.profile,
      password_hash: isTemporary ? null : hash,
      // As Keycloak reads its own exports, also if the member is absent.
      disabled: !isGranted(user['enabled']),
      ...factors,
      // The realm may say that there is an app, and leave its credential out.
      has_second_factor: factors.has_second_factor || (factors.totp === null && mayApply(user['totp'])),
      identities: mapObjects(user['federatedIdentities'], (one) => ({
        provider: one['identityProvider'],
        subject: one['userId'],
      })),
      organizations: members.get(String(username)) ?? [],
    },
  })
}

function attributesOf(attributes: unknown): JsonObject {
  const entries = Object.entries(isObject(attributes) ? attributes : {})
  return Object.fromEntries(entries.map(([name, value]) => [CLAIMS[name] ?? name, claimOf(CLAIMS[name], value)]))
}

function claimOf(claim: string | undefined, value: unknown): unknown {
  const text = textOf(value)
  return claim === 'phone_number_verified' && text !== undefined ? text === 'true' : (text ?? value)
}

/** The parts of a credential, which are JSON as text. Keycloak before 8 has them side by side, and names an app by the way of its codes. */
function partsOf(credential: JsonObject): { readonly secret: JsonObject; readonly data: JsonObject } {
  const { type, hashedSaltedValue: value, salt, secretData, credentialData } = credential
  if (secretData === undefined && credentialData === undefined)
    return { secret: { value, salt }, data: { ...credential, subType: type } }
  return { secret: parsed(secretData), data: parsed(credentialData) }
}

/** Parameters of argon2 are lists of one text. */
function passwordOf(credentials: readonly JsonObject[]): string | undefined {
  const password = credentials.find(({ type }) => type === 'password')
  if (password === undefined) return undefined
  const { secret, data } = partsOf(password)
  const { algorithm, hashIterations: rounds, additionalParameters } = data
  const [salt, hash] = [textOf(secret['salt']), textOf(secret['value'])]
  if (algorithm !== 'argon2') {
    const digest = algorithm === 'pbkdf2' ? 'pbkdf2-sha1' : textOf(algorithm)
    return `$${digest}$i=${textOf(rounds)}$${salt}$${hash}`
  }
  const parameters = isObject(additionalParameters) ? additionalParameters : {}
  const [type, memory, lanes] = ['type', 'memory', 'parallelism'].map((name) => textOf(parameters[name]))
  const version = ARGON2_VERSIONS.get(textOf(parameters['version']))
  return `$argon2${type}$v=${version}$m=${memory},t=${textOf(rounds)},p=${lanes}$${salt}$${hash}`
}

/** The secret of an authenticator app that computes codes as this server does, in base32. Its text is the secret, or base32 of it. */
function appOf(credential: JsonObject): string | undefined {
  const parts = partsOf(credential)
  const { subType, digits, period, algorithm, secretEncoding } = parts.data
  const secret = textOf(parts.secret['value'])
  const isUsual = subType === 'totp' && digits === 6 && period === 30 && algorithm === 'HmacSHA1'
  if (!isUsual || secret === undefined) return undefined
  const bytes = secretEncoding === 'BASE32' ? base32Bytes(secret) : Buffer.from(secret)
  return bytes === undefined || bytes.length < 16 ? undefined : base32(bytes)
}

function parsed(text: unknown): JsonObject {
  const value = typeof text === 'string' ? parseJson(text) : text
  return isAcceptable(value) ? value : {}
}

function clientOf(line: number, client: JsonObject | undefined): SourceRecord {
  const id = client?.['clientId']
  const skipped = client === undefined ? undefined : skippedBecause(client)
  if (skipped !== undefined) return sourceRecord('client', line, id, { skipped })
  if (!isAcceptable(client)) return sourceRecord('client', line, id, {})
  const attributes = isObject(client['attributes']) ? client['attributes'] : {}
  const has = (...names: readonly string[]) => names.some((name) => mayApply(attributes[name]))
  const hasCode = client['standardFlowEnabled'] === true
  const { grantTypes, dropped, impossible } = takeGrantTypes([
    ...(hasCode ? ['authorization_code', 'refresh_token'] : []),
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
  const isPublic = client['publicClient'] === true
  return sourceRecord('client', line, id, {
    impossible: (isPublic ? undefined : unknownAuthenticator(client)) ?? impossible,
    dropped: [...dropped, ...(has(SECRET_END) ? [SECRET_END] : []), ...(areLevels ? [] : [LEVELS])],
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
      // What was refused there without it. What this server does not have is no member, so that the client is refused.
      ...(has('require.pushed.authorization.requests') && { require_pushed_authorization_requests: true }),
      ...(has('dpop.bound.access.tokens') && { dpop_bound_access_tokens: true }),
      ...(has('tls.client.certificate.bound.access.tokens', 'tls-client-certificate-bound-access-tokens') && {
        tls_client_certificate_bound_access_tokens: true,
      }),
      ...(has('request.object.required') &&
        attributes['request.object.required'] !== 'not required' && { require_signed_request_object: true }),
      ...(has('minimum.acr.value') && { minimum_acr_value: true }),
      ...(mayApply(client['authenticationFlowBindingOverrides']) && { authentication_flow_binding_overrides: true }),
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

/** Why a client cannot authenticate here. */
function unknownAuthenticator({ clientAuthenticatorType: type }: JsonObject): string | undefined {
  return AUTHENTICATORS.has(type ?? 'client-secret')
    ? undefined
    : `It authenticates with ${termOf(type) ?? 'another method'}, which is not possible here. Let it use client-secret or client-jwt there.`
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
    ...(mayApply(attributes['use.jwks.string']) && { jwks: parsed(attributes['jwks.string']) }),
    ...(algorithm !== undefined && { token_endpoint_auth_signing_alg: algorithm }),
  }
}

/** A path is below the root of the client. */
function absolute({ rootUrl }: JsonObject, uri: string): string {
  return uri.startsWith('/') && typeof rootUrl === 'string' ? `${rootUrl.replace(/\/$/, '')}${uri}` : uri
}
