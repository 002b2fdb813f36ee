import { hash } from 'node:crypto'
import { chosenForm, CLIENT_ID_FORM, hashedId, parseClientId, type ClientId } from '../ids.ts'
import { MAXIMA } from '../../base/maxima.ts'

/**
 * The `client_id` of requests, tokens and responses. RFC 6749 §2.2. For a client with a metadata document it is the URL of the
 * document, for a client whose id the operator chose that id, and for every other client the id of its record.
 */
export interface ClientIdentifier {
  readonly id: ClientId
  /** undefined: the client has no metadata document. */
  readonly documentUrl: string | undefined
}

/** The most characters of a document's URL. It is part of every token. */
const URL_LIMIT = MAXIMA.clientUrl.most
/** Distinguishes the ids from those of registered clients. It sorts before theirs, so that the sweep finds unused ones first. */
const DOCUMENT_PREFIX = 'gcd_'
/** The ids of the records of clients whose `client_id` the operator chose. */
export const CHOSEN_PREFIX = 'gcc_'
/** The ids that are a `client_id` themselves. */
const PLAIN_PREFIX = 'gci_'

/** A `client_id` that the operator chooses. Without `%` and `+` it is the same with and without the form encoding of HTTP Basic. */
const CHOSEN_FORM = `^${chosenForm('.~:/@|=-', 128)}$`
export const CHOSEN_CLIENT_ID_FORM = new RegExp(CHOSEN_FORM)

/**
 * Reads a `client_id`. Returns undefined if it has the syntax of none. Whether a document may be fetched from the URL is checked
 * before it is fetched. The id of a record with a document or a chosen id is not a `client_id`: each client has one.
 */
export function parseClientIdentifier(text: string): ClientIdentifier | undefined {
  if (isDocumentUrl(text)) {
    return text.length <= URL_LIMIT ? { id: documentClientId(text), documentUrl: text } : undefined
  }
  const id = isClientIdentifier(text) ? parseClientId(text) : chosenClientId(text)
  return id === undefined ? undefined : { id, documentUrl: undefined }
}

/** Whether a `client_id` is the URL of a metadata document. */
export function isDocumentUrl(text: string): boolean {
  return /^https?:\/\//.test(text)
}

const DOCUMENT_FORM = `^https?://[\\x21-\\x7e]{1,${URL_LIMIT - 8}}$`
/** What an administrator gives for a client: the id of its record, or its `client_id`. */
export const CLIENT_REFERENCE_FORM = new RegExp(`${CLIENT_ID_FORM.source}|${DOCUMENT_FORM}|${CHOSEN_FORM}`)
/** A `client_id` alone, as others name the client. */
export const CLIENT_IDENTIFIER_FORM = new RegExp(
  `${CLIENT_ID_FORM.source.replace('|gcd|gcc', '')}|${DOCUMENT_FORM}|${CHOSEN_FORM}`,
)

/** Returns the id of the client that an administrator names; undefined if the text has neither syntax. */
export function parseClientReference(text: string): ClientId | undefined {
  return parseClientId(text) ?? parseClientIdentifier(text)?.id
}

/**
 * Returns the id of the record of a client with a metadata document: a SHA-256 of the URL. It has no key, because the root secret
 * may change and the URL is public.
 */
export function documentClientId(url: string): ClientId {
  return recordId(DOCUMENT_PREFIX, url)
}

/**
 * Returns the id of the record of a client whose `client_id` the operator chose, as a document's URL gives one; undefined for any other
 * text.
 */
export function chosenClientId(text: string): ClientId | undefined {
  const isUrl = /^https?:\//i.test(text)
  return CHOSEN_CLIENT_ID_FORM.test(text) && !isUrl ? recordId(CHOSEN_PREFIX, text) : undefined
}

function recordId(prefix: string, identifier: string): ClientId {
  return `${prefix}${hashedId(hash('sha256', identifier, 'buffer'))}` as ClientId
}

/** Whether the id of a record begins as a `client_id` does. If not, only the record has the `client_id`. */
export function isClientIdentifier(id: string): boolean {
  return id.startsWith(PLAIN_PREFIX)
}

/** What the `client_id` of a client follows from. */
export interface Identified {
  readonly id: ClientId
  readonly chosenId: string | undefined
  readonly document: { readonly url: string } | undefined
}

/** Returns the `client_id` of a client. */
export function identifierOf({ id, chosenId, document }: Identified): string {
  return document?.url ?? chosenId ?? id
}

/** The id with which answers for operators name a client: its `client_id`, except that a client with a document has the id of its record. */
export function listedIdOf({ id, chosenId }: Pick<Identified, 'chosenId' | 'id'>): string {
  return chosenId ?? id
}

/** Returns the host of a client's metadata document. undefined: it has none. */
export function documentHostOf({
  document,
}: {
  readonly document: { readonly url: string } | undefined
}): string | undefined {
  return document === undefined ? undefined : new URL(document.url).host
}
