import { hash } from 'node:crypto'
import { CLIENT_ID_FORM, hashedId, parseClientId, type ClientId } from '../ids.ts'

/**
 * The `client_id` of requests, tokens and responses. RFC 6749 §2.2. For a client with a metadata document it is the URL of the
 * document, for every other client the id of its record.
 */
export interface ClientIdentifier {
  readonly id: ClientId
  /** undefined: the client has no metadata document. */
  readonly documentUrl: string | undefined
}

/** The most characters of a document's URL. It is part of every token. */
const URL_LIMIT = 512
/** Distinguishes the ids from those of registered clients. It sorts before theirs, so that the sweep finds unused ones first. */
const PREFIX = 'gcd_'

/**
 * Reads a `client_id`. Returns undefined if it has the syntax of none. Whether a document may be fetched from the URL is checked
 * before it is fetched. The id of a record with a document is not a `client_id`: each client has one.
 */
export function parseClientIdentifier(text: string): ClientIdentifier | undefined {
  if (/^https?:\/\//.test(text)) {
    return text.length <= URL_LIMIT ? { id: documentClientId(text), documentUrl: text } : undefined
  }
  const id = text.startsWith(PREFIX) ? undefined : parseClientId(text)
  return id === undefined ? undefined : { id, documentUrl: undefined }
}

const DOCUMENT_FORM = `^https?://[\\x21-\\x7e]{1,${URL_LIMIT - 8}}$`
/** What an administrator gives for a client: the id of its record, or its `client_id`. */
export const CLIENT_REFERENCE_FORM = new RegExp(`${CLIENT_ID_FORM.source}|${DOCUMENT_FORM}`)
/** A `client_id` alone, as others name the client. */
export const CLIENT_IDENTIFIER_FORM = new RegExp(`${CLIENT_ID_FORM.source.replace('|gcd', '')}|${DOCUMENT_FORM}`)

/** Returns the id of the client that an administrator names; undefined if the text has neither syntax. */
export function parseClientReference(text: string): ClientId | undefined {
  return parseClientId(text) ?? parseClientIdentifier(text)?.id
}

/**
 * Returns the id of the record of a client with a metadata document: a SHA-256 of the URL. It has no key, because the root secret
 * may change and the URL is public.
 */
export function documentClientId(url: string): ClientId {
  return `${PREFIX}${hashedId(hash('sha256', url, 'buffer'))}` as ClientId
}

/** Whether an id is that of a client with a metadata document, whose `client_id` is the URL of the document. */
export function hasDocument(id: ClientId): boolean {
  return id.startsWith(PREFIX)
}

/** Returns the `client_id` of a client. */
export function identifierOf({
  id,
  document,
}: {
  readonly id: ClientId
  readonly document: { readonly url: string } | undefined
}): string {
  return document?.url ?? id
}

/** Returns the host of a client's metadata document. undefined: it has none. */
export function documentHostOf({
  document,
}: {
  readonly document: { readonly url: string } | undefined
}): string | undefined {
  return document === undefined ? undefined : new URL(document.url).host
}
