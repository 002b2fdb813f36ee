import { isLoopbackHost } from '../uri/loopback.ts'
import { problem, type Problem } from '../../base/validation.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** Registered fields that describe the client and have no effect on the protocol. */
export type DescriptiveMetadata = Readonly<Partial<Record<DescriptiveText, string>>> & {
  readonly contacts?: readonly string[]
}

type DescriptiveText =
  | 'client_name'
  | 'client_uri'
  | 'logo_uri'
  | 'tos_uri'
  | 'policy_uri'
  | 'software_id'
  | 'software_version'

/** The values that the client sent for these fields. null and '' count as absent. */
export type DescriptiveFields = {
  readonly [Field in DescriptiveText]?: string | null | undefined
} & { readonly contacts?: readonly string[] | null | undefined }

/** The most entries of a list in a registration. */
export const METADATA_LIST_LIMIT = MAXIMA.metadataList.most
const URI_FIELDS = ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri'] as const
/** Characters of the name of a client. */
export const CLIENT_NAME_LIMIT = MAXIMA.clientName.most
const LENGTH_LIMITS = {
  client_name: CLIENT_NAME_LIMIT,
  software_id: MAXIMA.softwareId.most,
  software_version: MAXIMA.softwareVersion.most,
} as const
const URI_LIMIT = MAXIMA.uri.most
const EMAIL_LIMIT = MAXIMA.email.most

/** Returns the valid fields, and reports a problem for each of the others. RFC 7591 §2. */
export function readDescriptive(fields: DescriptiveFields, fault: (problem: Problem) => void): DescriptiveMetadata {
  const kept: Record<string, string | readonly string[]> = {}
  for (const [field, limit] of Object.entries(LENGTH_LIMITS) as [keyof typeof LENGTH_LIMITS, number][]) {
    const value = fields[field]
    if (value === null || value === undefined || value === '') continue
    // A text never has more characters than UTF-16 units, so the cheap comparison comes first.
    if (value.length > limit && [...value].length > limit) {
      fault(
        problem(['body', field], 'too_long', `This may have at most ${limit} characters.`, value, {
          max_length: limit,
        }),
      )
    } else if (/\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}/u.test(value)) {
      fault(problem(['body', field], 'value_error', 'This contains a control character.', value, {}))
    } else kept[field] = value
  }
  for (const field of URI_FIELDS) {
    const value = fields[field]
    if (value === null || value === undefined || value === '') continue
    const found = checkInformativeUri(field, value)
    if (found === undefined) kept[field] = value
    else fault(found)
  }
  const contacts = fields.contacts ?? []
  if (contacts.length > METADATA_LIST_LIMIT) fault(tooMany('contacts', contacts))
  for (const [index, contact] of contacts.slice(0, METADATA_LIST_LIMIT).entries()) {
    if (contact.length <= EMAIL_LIMIT && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(contact)) continue
    fault(problem(['body', 'contacts', String(index)], 'value_error', 'This is not an e-mail address.', contact, {}))
  }
  if (fields.contacts !== null && fields.contacts !== undefined) kept['contacts'] = contacts
  return kept
}

/** A link about the client. The server never fetches it. It must use https, or http on loopback for development (threats.md REG-15). */
function checkInformativeUri(field: string, value: string): Problem | undefined {
  const loc = ['body', field]
  if (value.length > URI_LIMIT)
    return problem(loc, 'too_long', `This may have at most ${URI_LIMIT} characters.`, value, { max_length: URI_LIMIT })
  const url = /[\s\p{Cc}\\]/u.test(value) ? null : URL.parse(value)
  if (url === null) return problem(loc, 'url_parsing', 'This is not an absolute URL.', value, {})
  if (url.username !== '' || url.password !== '')
    return problem(loc, 'value_error', 'The URL has a user name or password.', value, {})
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:' && isLoopbackHost(url.hostname)) return undefined
  return problem(loc, 'url_scheme', 'The URL must use https.', value, { expected: ['https'] })
}

/** A list with too many entries. */
export function tooMany(field: string, sent: readonly string[]): Problem {
  const msg = `This may have at most ${METADATA_LIST_LIMIT} entries.`
  return problem(['body', field], 'too_many', msg, sent, { max_length: METADATA_LIST_LIMIT })
}
