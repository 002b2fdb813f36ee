import { isAcceptable, readDocument, readLines, readRecordLines } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import { mayApply, objectsOf, recordsIn, sourceRecord, takeGrantTypes, textOf, textsOf } from './attributes.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Scopes that every client may ask for here, or that ask for a refresh token. */
const USUAL_SCOPES: ReadonlySet<string> = new Set(['', 'openid', 'profile', 'email', 'offline', 'offline_access'])

/** Restrictions of clients (RFC 8705 §3.4, RFC 9126 §6, RFC 9101 §10.5, RFC 9449 §5.2). */
const RESTRICTIONS = [
  'dpop_bound_access_tokens',
  'require_pushed_authorization_requests',
  'require_signed_request_object',
  'tls_client_certificate_bound_access_tokens',
]

/** Clients of Ory Hydra: rows of its table `hydra_client`, or as its administration lists them, without secrets. It has no users. */
export const HYDRA: Source = {
  verb: 'hydra',
  summary: 'Import clients of Ory Hydra.',
  argument: ['clients', 'a row of hydra_client on each line, or the answer of GET /admin/clients, without secrets'],
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
  const { grantTypes, dropped, impossible } = takeGrantTypes(given.length === 0 ? ['authorization_code'] : given)
  const scopes = (text('scope') ?? '').split(' ').filter((one) => !USUAL_SCOPES.has(one))
  const keys = client['jwks']
  const method = text('token_endpoint_auth_method') ?? 'client_secret_basic'
  const hasKeys = method === 'private_key_jwt'
  const algorithm = text('token_endpoint_auth_signing_alg')
  const expires = mayApply(client['client_secret_expires_at'])
  return sourceRecord('client', line, id, {
    secretHash: expires ? undefined : secretHash,
    impossible,
    dropped: [
      ...dropped,
      ...scopes.map((one) => `scope ${one}`),
      ...(mayApply(client['skip_consent']) ? ['skip_consent'] : []),
      ...(client['subject_type'] === 'pairwise' ? ['subject_type pairwise'] : []),
      ...(mayApply(client['rotated_secrets']) ? ['rotated_secrets'] : []),
      ...(expires ? ['client_secret_expires_at'] : []),
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
      ...(text('backchannel_logout_uri') !== undefined && { backchannel_logout_uri: text('backchannel_logout_uri') }),
      client_secret: expires ? undefined : text('client_secret'),
      ...(hasKeys && algorithm !== undefined && { token_endpoint_auth_signing_alg: algorithm }),
      // What was refused there without it, and by the names that this server has, if it has it.
      ...Object.fromEntries(RESTRICTIONS.filter((name) => mayApply(client[name])).map((name) => [name, client[name]])),
    },
  })
}

/** A list; in the table of Hydra 1 a text with `|` between its parts. */
function listOf(value: unknown): readonly string[] {
  return typeof value === 'string' ? value.split('|').filter((one) => one !== '') : textsOf(value)
}
