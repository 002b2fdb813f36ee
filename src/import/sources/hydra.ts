import type { JsonObject } from '../../base/json.ts'
import { isAcceptable, readDocument, readLines, readRecordLines } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import {
  mayApply,
  objectsOf,
  recordsIn,
  restrictedClient,
  sourceRecord,
  takeGrantTypes,
  textOf,
  textsOf,
} from './attributes.ts'
import { isSet, lostMembers, memberName, type MemberTable } from './members.ts'

/** Scopes that every client may ask for here, or that ask for a refresh token. */
const DEFAULT_SCOPES: ReadonlySet<string> = new Set(['', 'openid', 'profile', 'email', 'offline', 'offline_access'])

/** Restrictions of clients that this server has too (RFC 9126 §6, RFC 9449 §5.2), and those that it has not (RFC 8705 §3.4, RFC 9101 §10.5). */
const RESTRICTIONS = ['dpop_bound_access_tokens', 'require_pushed_authorization_requests']
const OTHER_RESTRICTIONS = ['require_signed_request_object', 'tls_client_certificate_bound_access_tokens']
/** Members that have the same name and meaning here (OpenID Connect Dynamic Client Registration 1.0 §2). */
const LINKS = ['backchannel_logout_uri', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri']

const CLIENT: MemberTable = {
  ...Object.fromEntries([...LINKS, ...RESTRICTIONS, ...OTHER_RESTRICTIONS].map((name) => [name, 'read' as const])),
  client_id: 'read',
  client_name: 'read',
  client_secret: 'read',
  client_secret_expires_at: 'read',
  contacts: 'read',
  grant_types: 'read',
  id: 'read',
  jwks: 'read',
  jwks_uri: 'read',
  post_logout_redirect_uris: 'read',
  redirect_uris: 'read',
  response_types: 'read',
  scope: 'read',
  token_endpoint_auth_method: 'read',
  // It is about assertions, and so read where there are any.
  token_endpoint_auth_signing_alg: 'harmless',
  // Every logout token has a `sid`, and the other has no effect without a URL, which is not taken.
  backchannel_logout_session_required: 'harmless',
  frontchannel_logout_session_required: 'harmless',
  subject_type: ['public'],
  userinfo_signed_response_alg: ['none'],
  access_token_strategy: ['jwt'],
  // Numbers and times of its own.
  created_at: 'harmless',
  nid: 'harmless',
  pk: 'harmless',
  pk_deprecated: 'harmless',
  updated_at: 'harmless',
  // A client does not change itself here.
  'registration_*': 'harmless',
}

/** Clients of Ory Hydra: rows of its table `hydra_client`, or as its administration lists them, without secrets. It has no users. */
export const HYDRA: Source = {
  verb: 'hydra',
  summary: 'Import clients of Ory Hydra.',
  argument: ['clients', 'a row of hydra_client on each line, or the answer of GET /admin/clients, without secrets'],
  switches: [],
  options: [],
  namesProvidersHere: false,
  paths: ({ main }) => [main],
  *read({ main }): Generator<SourceRecord> {
    if (!isDocument(main)) {
      for (const { line, value } of readRecordLines(main)) yield recordOf(line, value)
      return
    }
    for (const { line, value } of recordsIn(main, 'the clients', readDocument(main))) yield recordOf(line, value)
  },
}

/** Whether a file is a JSON array. It may be one line that is longer than those of records. */
function isDocument(path: string): boolean {
  const [first] = readLines(path).take(1)
  return first === 'too-long' || first?.toString('latin1').trimStart().startsWith('[') === true
}

function recordOf(line: number, value: JsonObject | undefined): SourceRecord {
  // In the table the id has this name, and the secret is a hash.
  const isRow = value !== undefined && 'id' in value && !('client_id' in value)
  if (!isRow) return clientOf(line, value, undefined)
  const { client_secret: hash, ...row } = value
  return clientOf(line, { ...row, client_id: row['id'], jwks: keysOf(row['jwks']) }, textOf(hash))
}

/** Text in Hydra's table. */
function keysOf(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

function clientOf(line: number, client: JsonObject | undefined, secretHash: string | undefined): SourceRecord {
  const id = client?.['client_id']
  if (!isAcceptable(client)) return sourceRecord('client', line, id, {})
  const text = (name: string) => textOf(client[name]) || undefined
  const given = listOf(client['grant_types'])
  // RFC 7591 §2, and so Hydra reads it.
  const scopes = (text('scope') ?? '').split(' ')
  const usable = (given.length === 0 ? ['authorization_code'] : given).filter((one) => isUsable(one, client, scopes))
  const { grantTypes, dropped, impossible } = takeGrantTypes(usable)
  const keys = client['jwks']
  const contacts = listOf(client['contacts'])
  const method = text('token_endpoint_auth_method') ?? 'client_secret_basic'
  const hasKeys = method === 'private_key_jwt'
  const algorithm = text('token_endpoint_auth_signing_alg')
  const expires = mayApply(client['client_secret_expires_at'])
  return sourceRecord('client', line, id, {
    secretHash: expires ? undefined : secretHash,
    impossible: restrictedClient(OTHER_RESTRICTIONS.filter((name) => mayApply(client[name]))) ?? impossible,
    dropped: [
      ...dropped,
      ...given.filter((one) => !usable.includes(one)).map((one) => `grant type ${memberName(one)}`),
      ...scopes.filter((one) => !DEFAULT_SCOPES.has(one)).map((one) => `scope ${memberName(one)}`),
      ...(hasKeys ? [] : ['jwks', 'jwks_uri'].filter((name) => isSet(client[name]))),
      ...(expires ? ['client_secret_expires_at'] : []),
      ...lostMembers(client, CLIENT),
    ],
    value: {
      type: 'client',
      client_id: id,
      client_name: text('client_name')?.trim() || id,
      token_endpoint_auth_method: method,
      ...(hasKeys && text('jwks_uri') !== undefined && { jwks_uri: text('jwks_uri') }),
      ...(hasKeys && objectsOf((keys as JsonObject | undefined)?.['keys']).length > 0 && { jwks: keys }),
      grant_types: grantTypes,
      redirect_uris: listOf(client['redirect_uris']),
      post_logout_redirect_uris: listOf(client['post_logout_redirect_uris']),
      ...Object.fromEntries(LINKS.map((name) => [name, text(name)]).filter(([, link]) => link !== undefined)),
      ...(contacts.length > 0 && { contacts }),
      client_secret: expires ? undefined : text('client_secret'),
      ...(hasKeys && algorithm !== undefined && { token_endpoint_auth_signing_alg: algorithm }),
      // What was refused there without it.
      ...Object.fromEntries(RESTRICTIONS.filter((name) => mayApply(client[name])).map((name) => [name, client[name]])),
    },
  })
}

/** Whether the client could use a grant type there: a refresh token needs its scope, and a code its response type. */
function isUsable(grantType: string, client: JsonObject, scopes: readonly string[]): boolean {
  if (grantType === 'refresh_token') return scopes.some((one) => one === 'offline' || one === 'offline_access')
  const types = listOf(client['response_types'])
  return (
    grantType !== 'authorization_code' || types.length === 0 || types.some((one) => one.split(' ').includes('code'))
  )
}

/** A list; in the table of Hydra 1 a text with `|` between its parts. */
function listOf(value: unknown): readonly string[] {
  return typeof value === 'string' ? value.split('|').filter((one) => one !== '') : textsOf(value)
}
