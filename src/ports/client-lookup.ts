import type { ClientRecord } from './records/client.ts'
import type { PolicyRefusal } from '../protocol/client/policy.ts'

/** What the `client_id` of a request leads to. */
export type ClientLookup =
  | { readonly kind: 'found'; readonly client: ClientRecord }
  | { readonly kind: 'unknown' }
  /** The policy of the server does not allow the client. */
  | PolicyRefusal
  /** The metadata document cannot be fetched now, and none is stored that could serve meanwhile. */
  | { readonly kind: 'unavailable' }
  /** A limit of this server kept the metadata document from being fetched. What is stored does not serve meanwhile. */
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }
  /** There is no metadata document at the URL that the server accepts. */
  | { readonly kind: 'unacceptable' }
