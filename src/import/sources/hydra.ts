import { isAcceptable, readDocument, readLines, readRecordLines } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import { objectsOf, sourceRecord, takeGrantTypes, textOf, textsOf } from './attributes.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Scopes that every client may ask for here, or that ask for a refresh token. */
const USUAL_SCOPES: ReadonlySet<string> = new Set(['', 'openid', 'profile', 'email', 'offline', 'offline_access'])

/** Clients as the administration of Ory Hydra lists them. It has no users. */
export const HYDRA: Source = {
  verb: 'hydra',
  summary: 'Import clients of Ory Hydra, which get new secrets.',
  argument: ['clients', 'the answer of GET /admin/clients, or a client on each line'],
  options: [],
  namesProvidersHere: false,
  paths: ({ main }) => [main],
  *read({ main }): Generator<SourceRecord> {
    if (!isDocument(main)) {
      for (const { line, value } of readRecordLines(main)) yield clientOf(line, value)
      return
    }
    for (const [index, client] of objectsOf(readDocument(main)).entries()) yield clientOf(index + 1, client)
  },
}

/** Whether a file is a JSON array. It may be one line that is longer than those of records. */
function isDocument(path: string): boolean {
  const [first] = readLines(path).take(1)
  return first === 'too-long' || first?.toString('latin1').trimStart().startsWith('[') === true
}

function clientOf(line: number, client: JsonObject | undefined): SourceRecord {
  const id = client?.['client_id']
  if (!isAcceptable(client)) return sourceRecord('client', line, id, {})
  const text = (name: string) => textOf(client[name]) || undefined
  const given = textsOf(client['grant_types'])
  // RFC 7591 §2, and so Hydra reads it.
  const { grantTypes, dropped } = takeGrantTypes(given.length === 0 ? ['authorization_code'] : given)
  const scopes = (text('scope') ?? '').split(' ').filter((one) => !USUAL_SCOPES.has(one))
  const keys = client['jwks']
  const method = text('token_endpoint_auth_method') ?? 'client_secret_basic'
  const hasKeys = method === 'private_key_jwt'
  return sourceRecord('client', line, id, {
    dropped: [
      ...dropped,
      ...scopes.map((one) => `scope ${one}`),
      ...(client['skip_consent'] === true ? ['skip_consent'] : []),
      ...(client['subject_type'] === 'pairwise' ? ['subject_type pairwise'] : []),
    ],
    value: {
      type: 'client',
      client_id: id,
      client_name: text('client_name')?.trim() || id,
      token_endpoint_auth_method: method,
      ...(hasKeys && text('jwks_uri') !== undefined && { jwks_uri: text('jwks_uri') }),
      ...(hasKeys && objectsOf((keys as JsonObject | undefined)?.['keys']).length > 0 && { jwks: keys }),
      grant_types: grantTypes,
      redirect_uris: textsOf(client['redirect_uris']),
      post_logout_redirect_uris: textsOf(client['post_logout_redirect_uris']),
      ...(text('backchannel_logout_uri') !== undefined && { backchannel_logout_uri: text('backchannel_logout_uri') }),
      client_secret: text('client_secret'),
    },
  })
}
