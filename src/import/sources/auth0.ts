import { isObject, type JsonObject } from '../../base/json.ts'
import { ID_TOKEN_ALGORITHMS } from '../../protocol/openid/id-token.ts'
import { isAcceptable, readDocument, readRecordLines } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import { termOf } from '../report.ts'
import type { Source } from '../source.ts'
import { isSet, lostMembers, type MemberRule, type MemberTable } from './members.ts'
import {
  impossibleClient,
  isGranted,
  mayApply,
  objectsOf,
  recordsIn,
  restrictedClient,
  sourceRecord,
  takeAttributes,
  takeGrantTypes,
  textOf,
  textsOf,
} from './attributes.ts'

/** Of users: what tells of second factors, in its exports and where its API or its import has them. */
const FACTORS = ['multifactor', 'mfa_factors', 'authentication_methods']
/** Of users: what is no attribute. Everything else that is no standard claim is counted as dropped. */
const STATE: ReadonlySet<string> = new Set([
  'user_id',
  'email',
  'email_verified',
  'identities',
  'blocked',
  ...FACTORS,
  'name',
  'created_at',
  'updated_at',
  'last_login',
  'last_ip',
  'last_password_reset',
  'logins_count',
])
/** Its values of `organization_usage` that let users sign in who are no members. */
const MAY_BE_MEMBERS: ReadonlySet<unknown> = new Set(['allow', 'deny'])
const METHOD_UNKNOWN =
  'It has neither token_endpoint_auth_method nor an app_type of a server, so nothing tells how it authenticates. Choose an authentication method there.'
const LOGOUT = { members: { backchannel_logout_urls: 'read' } } as const
const CLIENT: MemberTable = {
  allowed_logout_urls: 'read',
  app_type: 'read',
  callbacks: 'read',
  client_authentication_methods: 'read',
  client_id: 'read',
  client_secret: 'read',
  compliance_level: 'read',
  global: 'read',
  grant_types: 'read',
  logo_uri: 'read',
  name: 'read',
  oidc_backchannel_logout: LOGOUT,
  oidc_logout: LOGOUT,
  organization_usage: 'read',
  require_proof_of_possession: 'read',
  require_pushed_authorization_requests: 'read',
  signed_request_object: { members: { required: 'read' } },
  token_endpoint_auth_method: 'read',
  jwt_configuration: {
    members: {
      alg: 'read',
      // As it is for each client that says nothing.
      lifetime_in_seconds: [36_000],
      // About keys of HS256, which `alg` tells.
      secret_encoded: 'harmless',
    },
  },
  // Users are asked for consent to clients of others and to own ones.
  is_first_party: 'harmless',
  oidc_conformant: [true],
  custom_login_page_on: [true],
  organization_require_behavior: ['no_prompt'],
  // About the tenant: its name, its administrators and its public keys.
  tenant: 'harmless',
  owners: 'harmless',
  signing_keys: 'harmless',
}
/** As Auth0 names the connection that has passwords. */
const OWN = 'auth0'

/** Users of a bulk export, the password hashes that its support gives, and the clients of its Management API. */
export const AUTH0: Source = {
  verb: 'auth0',
  summary: 'Import users, password hashes and clients of Auth0.',
  argument: ['users', 'a bulk export of the users, a JSON object on each line'],
  switches: [],
  options: [
    ['hashes', 'the password hashes that the support of Auth0 gave, a JSON object on each line'],
    ['clients', 'the answer of GET /api/v2/clients, a JSON array'],
  ],
  unsaid: 'Only an export with the field multifactor says who has a second factor.',
  namesProvidersHere: false,
  paths: ({ main, others }) => [main, ...Object.values(others)],
  *read({ main, others }): Generator<SourceRecord> {
    const { hashes, clients } = others
    const { known, refused } = readHashes(hashes)
    for (const { line, value } of readRecordLines(main)) yield userOf(line, value, known)
    yield* refused
    for (const [id, { line }] of known) yield sourceRecord('user', line, id, { skipped: 'user_absent' })
    if (clients === undefined) return
    for (const { line, value } of recordsIn(clients, 'the clients', readDocument(clients))) yield clientOf(line, value)
  },
}

interface KnownHash {
  readonly line: number
  readonly hash: string
}

/** What a file of hashes has. */
interface Hashes {
  /** By the ids of the users. */
  readonly known: Map<string, KnownHash>
  /** The lines that have no hash, or a second one of a user. */
  readonly refused: readonly SourceRecord[]
}

function readHashes(path: string | undefined): Hashes {
  const known = new Map<string, KnownHash>()
  const refused: SourceRecord[] = []
  for (const { line, value } of path === undefined ? [] : readRecordLines(path)) {
    const id = value?.['_id']
    const oid = isObject(id) ? id['$oid'] : id
    const hash = value?.['passwordHash']
    const userId = typeof oid === 'string' ? idOf(oid) : undefined
    const earlier = userId === undefined ? undefined : known.get(userId)
    if (userId === undefined || typeof hash !== 'string')
      refused.push(
        sourceRecord('user', line, userId, { impossible: { reason: 'hash_line_malformed', detail: undefined } }),
      )
    else if (earlier === undefined) known.set(userId, { line, hash })
    else {
      const impossible = { reason: 'record_repeated', detail: `line ${earlier.line} of --hashes` } as const
      refused.push(sourceRecord('user', line, userId, { impossible }))
    }
  }
  return { known, refused }
}

function idOf(oid: string): string {
  return `${OWN}|${oid.replace(/^auth0\|/, '')}`
}

/** Takes the hashes of the user out of those that are left. */
function userOf(line: number, user: JsonObject | undefined, hashes: Map<string, KnownHash>): SourceRecord {
  const id = user?.['user_id']
  if (user === undefined || typeof id !== 'string') return sourceRecord('user', line, id, {})
  const { phone_verified: isPhoneVerified, ...attributes } = Object.fromEntries(
    Object.entries(user).filter(([name]) => !STATE.has(name)),
  )
  // Entra's pair of ids, of which identities are made (`subject_claim: tenant-object`).
  const { tid, tenantid, oid, ...profile } = attributes
  const tenant = textOf(tid ?? tenantid)
  const object = textOf(oid)
  const pair = tenant !== undefined && object !== undefined ? `${tenant}/${object}` : undefined
  const taken = takeAttributes(user['name'], { ...profile, phone_number_verified: isPhoneVerified })
  const given = user['identities'] ?? []
  const others = objectsOf(given).filter(({ provider }) => provider !== OWN)
  const identities = others.map((one) => identityOf(one, pair)).filter((one) => one !== undefined)
  const hash = hashes.get(id)?.hash
  hashes.delete(id)
  const linked = objectsOf(given).map((one) => (one['provider'] === OWN ? textOf(one['user_id']) : undefined))
  // That of an account that is linked to the user's is another password.
  const hasOther = linked.filter((one) => one !== undefined && hashes.delete(idOf(one))).length > 0
  const lostFactors = FACTORS.filter((name) => mayApply(user[name]))
  return sourceRecord('user', line, id, {
    lostFactors: lostFactors.flatMap((name) => kindsOf(name, user[name])),
    notes: [
      ...(hasOther ? ['password_not_used' as const] : []),
      ...(identities.length < others.length ? ['identity_dropped' as const] : []),
    ],
    dropped: taken.dropped,
    value: {
      type: 'user',
      id,
      email: user['email'] ?? null,
      email_verified: isGranted(user['email_verified']),
      name: taken.name,
      profile: taken.profile,
      password_hash: hash,
      disabled: mayApply(user['blocked']),
      has_second_factor: lostFactors.length > 0,
      identities: Array.isArray(given) ? identities : given,
    },
  })
}

/** A list of kinds, as `guardian`, or of objects that have one. */
function kindsOf(member: string, value: unknown): readonly string[] {
  const kinds = (Array.isArray(value) ? (value as readonly unknown[]) : [value]).map((one) =>
    termOf(isObject(one) ? one['type'] : one),
  )
  return kinds.map((kind) => (kind === undefined ? member : `${member} ${kind}`))
}

function identityOf({ connection, provider, user_id: id }: JsonObject, pair: string | undefined) {
  const name = textOf(connection) ?? textOf(provider)
  const subject = provider === 'waad' ? pair : textOf(id)
  return name === undefined || subject === undefined ? undefined : { provider: name, subject }
}

function clientOf(line: number, client: JsonObject | undefined): SourceRecord {
  const id = client?.['client_id']
  if (client?.['global'] === true) return sourceRecord('client', line, id, { skipped: 'part_of_system' })
  if (!isAcceptable(client)) return sourceRecord('client', line, id, {})
  const { grantTypes, dropped, impossible } = takeGrantTypes(textsOf(client['grant_types']))
  const method = methodOf(client)
  const logout = ['oidc_logout', 'oidc_backchannel_logout'].find((name) => isSet(urlsIn(client[name])))
  const urls = logout === undefined ? [] : urlsIn(client[logout])
  const algorithm = isObject(client['jwt_configuration']) ? client['jwt_configuration']['alg'] : undefined
  const isSigned = ID_TOKEN_ALGORITHMS.some((one) => one === algorithm)
  return sourceRecord('client', line, id, {
    impossible:
      restrictedClient(restrictionsOf(client)) ??
      impossible ??
      (method === undefined ? impossibleClient(METHOD_UNKNOWN) : undefined),
    dropped: [
      ...dropped,
      ...(urls.length > 1 ? [`${logout}.backchannel_logout_urls`] : []),
      ...(isSigned || !mayApply(algorithm) ? [] : ['jwt_configuration.alg']),
      ...lostMembers(client, { ...CLIENT, refresh_token: refreshRuleOf(client, grantTypes) }),
    ],
    value: {
      type: 'client',
      client_id: id,
      client_name: textOf(client['name']) ?? id,
      token_endpoint_auth_method: method,
      grant_types: grantTypes,
      redirect_uris: textsOf(client['callbacks']),
      post_logout_redirect_uris: textsOf(client['allowed_logout_urls']),
      client_secret: textOf(client['client_secret']),
      ...(mayApply(client['logo_uri']) && { logo_uri: client['logo_uri'] }),
      // One is notified here.
      ...(urls.length === 1 && { backchannel_logout_uri: urls[0] }),
      ...(isSigned && algorithm !== 'RS256' && { id_token_signed_response_alg: algorithm }),
      // What was refused there without it.
      ...(mayApply(client['require_pushed_authorization_requests']) && { require_pushed_authorization_requests: true }),
      ...(mayApply(client['require_proof_of_possession']) && { dpop_bound_access_tokens: true }),
    },
  })
}

function urlsIn(logout: unknown): readonly string[] {
  return isObject(logout) ? textsOf(logout['backchannel_logout_urls']).filter((url) => url !== '') : []
}

/** What was refused there, and would not be here. */
function restrictionsOf(client: JsonObject): readonly string[] {
  const { compliance_level: level, organization_usage: usage, signed_request_object: requests } = client
  return [
    ...(isObject(requests) && mayApply(requests['required']) ? ['signed_request_object.required'] : []),
    ...(mayApply(level) && level !== 'none' ? ['compliance_level'] : []),
    ...(mayApply(usage) && !MAY_BE_MEMBERS.has(usage) ? ['organization_usage'] : []),
  ]
}

/** Refresh tokens rotate here, and expire. Times of tokens that do not expire there say nothing. */
function refreshRuleOf({ refresh_token: tokens }: JsonObject, grantTypes: readonly string[]): MemberRule {
  if (!grantTypes.includes('refresh_token')) return 'harmless'
  const expires = isObject(tokens) && tokens['expiration_type'] === 'expiring'
  const time = expires ? [] : 'harmless'
  return {
    members: {
      rotation_type: ['rotating'],
      expiration_type: ['expiring'],
      token_lifetime: time,
      idle_token_lifetime: time,
      infinite_token_lifetime: expires ? [false] : 'harmless',
      infinite_idle_token_lifetime: expires ? [false] : 'harmless',
    },
  }
}

/** Keys and certificates are in a list of their own, without what they are. undefined: nothing tells whether the app is public. */
function methodOf(client: JsonObject): unknown {
  const { client_authentication_methods: others, token_endpoint_auth_method: method, app_type: type } = client
  if (mayApply(others)) {
    const names = isObject(others) ? Object.keys(others) : []
    return names.length === 1 && names[0] === 'private_key_jwt' ? names[0] : `other:${names.join(':')}`
  }
  return method ?? (['regular_web', 'non_interactive'].includes(String(type)) ? 'client_secret_post' : undefined)
}
