import { isObject } from '../../base/json.ts'
import { isAcceptable, readDocument, readRecordLines } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import {
  isGranted,
  mayApply,
  objectsOf,
  recordsIn,
  sourceRecord,
  takeAttributes,
  takeGrantTypes,
  textOf,
  textsOf,
} from './attributes.ts'

type JsonObject = Readonly<Record<string, unknown>>

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
/** As Auth0 names the connection that has passwords. */
const OWN = 'auth0'

/** Users of a bulk export, the password hashes that its support gives, and the clients of its Management API. */
export const AUTH0: Source = {
  verb: 'auth0',
  summary: 'Import users, password hashes and clients of Auth0.',
  argument: ['users', 'a bulk export of the users, a JSON object on each line'],
  options: [
    ['hashes', 'the password hashes that the support of Auth0 gave, a JSON object on each line'],
    ['clients', 'the answer of GET /api/v2/clients, a JSON array'],
  ],
  unsaid: 'Only an export with the field multifactor says who has a second factor.',
  namesProvidersHere: false,
  paths: ({ main, others }) => [main, ...Object.values(others)],
  *read({ main, others }): Generator<SourceRecord> {
    const { hashes, clients } = others
    const known = hashes === undefined ? new Map<string, KnownHash>() : readHashes(hashes)
    for (const { line, value } of readRecordLines(main)) yield userOf(line, value, known)
    for (const [id, { line }] of known) yield sourceRecord('user', line, id, { skipped: 'user_absent' })
    if (clients === undefined) return
    for (const { line, value } of recordsIn(clients, 'the clients', readDocument(clients))) yield clientOf(line, value)
  },
}

interface KnownHash {
  readonly line: number
  readonly hash: string
}

/** By the ids of the users. */
function readHashes(path: string): Map<string, KnownHash> {
  const hashes = new Map<string, KnownHash>()
  for (const { line, value } of readRecordLines(path)) {
    const id = value?.['_id']
    const oid = isObject(id) ? id['$oid'] : id
    const hash = value?.['passwordHash']
    if (typeof oid === 'string' && typeof hash === 'string') hashes.set(idOf(oid), { line, hash })
  }
  return hashes
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
  return sourceRecord('user', line, id, {
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
      has_second_factor: FACTORS.some((name) => mayApply(user[name])),
      identities: Array.isArray(given) ? identities : given,
    },
  })
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
  const requests = client['signed_request_object']
  return sourceRecord('client', line, id, {
    impossible,
    dropped,
    value: {
      type: 'client',
      client_id: id,
      client_name: textOf(client['name']) ?? id,
      token_endpoint_auth_method: methodOf(client),
      grant_types: grantTypes,
      redirect_uris: textsOf(client['callbacks']),
      post_logout_redirect_uris: textsOf(client['allowed_logout_urls']),
      client_secret: textOf(client['client_secret']),
      // What was refused there without it. What this server does not have is no member, so that the client is refused.
      ...(mayApply(client['require_pushed_authorization_requests']) && { require_pushed_authorization_requests: true }),
      ...(mayApply(client['require_proof_of_possession']) && { dpop_bound_access_tokens: true }),
      ...(isObject(requests) && mayApply(requests['required']) && { require_signed_request_object: true }),
      ...(mayApply(client['compliance_level']) &&
        client['compliance_level'] !== 'none' && { compliance_level: client['compliance_level'] }),
      ...(mayApply(client['organization_usage']) &&
        !MAY_BE_MEMBERS.has(client['organization_usage']) && { organization_usage: client['organization_usage'] }),
    },
  })
}

/** Keys and certificates are in a list of their own, without what they are. A way to authenticate that is unknown is refused. */
function methodOf(client: JsonObject): unknown {
  const { client_authentication_methods: others, token_endpoint_auth_method: method, app_type: type } = client
  if (mayApply(others)) {
    const names = isObject(others) ? Object.keys(others) : []
    return names.length === 1 && names[0] === 'private_key_jwt' ? names[0] : `other:${names.join(':')}`
  }
  // An app of another type may be public.
  return method ?? (['regular_web', 'non_interactive'].includes(String(type)) ? 'client_secret_post' : null)
}
