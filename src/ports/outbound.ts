import { after, type EpochMs } from '../base/brand.ts'

/** What the server sends requests for. Each purpose has its own limits. */
export const OUTBOUND_PURPOSES = ['client-document', 'client-keys', 'provider', 'logout-notice'] as const
export type OutboundPurpose = (typeof OUTBOUND_PURPOSES)[number]

export interface OutboundRequest {
  readonly purpose: Exclude<OutboundPurpose, 'provider' | 'logout-notice'>
  readonly url: string
  /** The entity tag of the copy that the caller has; undefined: it has none, or the copy came without one. RFC 9110 §13.1.2. */
  readonly etag: string | undefined
  /**
   * Whether a copy is renewed because it is no longer fresh. Renewals have budgets of their own, so that requests which any caller can cause
   * at any time do not use them up: those for other URLs, and those because of a signature that a copy does not verify.
   */
  readonly isRenewal: boolean
  /** The network of the client or browser that causes the request. Its budget pays for it. */
  readonly network: string
}

/** A request to a provider at which users sign in. It has the credentials of this server at the provider. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The form of a POST. */
  readonly body: string | undefined
  /** The hosts that the operator named: they may have private addresses and any port. `idp.internal`, `[fd00::1]`. */
  readonly privateHosts: readonly string[]
}

/** A form that is posted to a client, at a URL that it registered. It has no credentials but what the form has. */
export interface OutboundNotice {
  readonly url: string
  readonly form: Readonly<Record<string, string>>
  /** Aborted when the process stops. */
  readonly signal: AbortSignal
}

/** What became of a notice. `acknowledged`: the client answered 200 or 204. Its body is not read. */
export type NoticeOutcome = { readonly kind: 'acknowledged' } | OutboundFailure

/** What became of a request. Facts, not errors: the caller decides what they mean. */
export type OutboundOutcome =
  | (Freshness & { readonly kind: 'fetched'; readonly text: string })
  /** The copy that has the entity tag is still current. */
  | (Freshness & { readonly kind: 'not-modified' })
  | OutboundFailure

/** What became of a request to a provider. `status`: 200 to 299, or 400 to 499, which refuses the request. */
export type ProviderAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly contentType: string; readonly text: string }
  | OutboundFailure

export type OutboundFailure =
  /**
   * A limit of this server is reached. It says nothing about the host, so no copy serves but as `servesWhileLimited` says: a caller could
   * reach the limit so that what was withdrawn counts again (threats.md OUT-15).
   */
  | {
      readonly kind: 'limited'
      readonly reason: LimitedReason
      readonly detail?: string | undefined
      readonly retryAfterSeconds: number
    }
  /** The host could not be asked, or cannot answer now. A copy may serve meanwhile. */
  | { readonly kind: 'unreachable'; readonly reason: UnreachableReason; readonly detail?: string | undefined }
  /** The URL, its address or the answer is not acceptable. A copy must not serve. */
  | { readonly kind: 'unacceptable'; readonly reason: UnacceptableReason; readonly detail?: string | undefined }

interface Freshness {
  readonly etag: string | undefined
  /** For how many seconds the host lets the answer be used, from now on; undefined: it does not say. */
  readonly freshSeconds: number | undefined
}

export type LimitedReason =
  /** The network or the host has used up its rate. */
  | 'budget'
  /** This process has too many requests under way, or open files. `detail`: the code of Node.js. */
  | 'busy'

export type UnreachableReason =
  /** Requests are switched off (`GRANTOR_OUTBOUND`). */
  | 'off'
  /** No name server answered, or the name has no address. */
  | 'name-unresolved'
  /** No connection, or a certificate that is not valid. `detail`: the code of Node.js. */
  | 'connection-failed'
  /** The host ended the connection before its answer was complete, which may be about this one request. `detail`: the code of Node.js. */
  | 'connection-closed'
  /** The answer was not complete in time. */
  | 'timeout'
  /** The host refuses requests for now. `detail`: the status. */
  | 'status'

export type UnacceptableReason =
  /** `detail`: the rule that the URL breaks. */
  | 'url'
  /** The name has an address that is not one of the internet. */
  | 'address'
  | 'redirect'
  /** `detail`: the status. */
  | 'status'
  /** The answer is not JSON by its type, is compressed, or is not UTF-8. */
  | 'content-type'
  | 'too-large'
  /** The answer is not HTTP, or its headers are too large. `detail`: the code of the parser. */
  | 'malformed'

/**
 * The only way out of this process, apart from the connections to the database and to the collector of traces. A request never
 * has cookies, and never follows a redirect.
 */
export interface OutboundClient {
  /** Requests a URL by GET, without credentials. Never rejects. */
  readonly get: (request: OutboundRequest) => Promise<OutboundOutcome>
  /** The requests to providers that the work sends count for this network, of whose browser they are caused. */
  readonly causedBy: <Done>(network: string, work: () => Promise<Done>) => Promise<Done>
  /** Sends a request to a provider. Its rate is that of sign-ins. Never rejects. */
  readonly ask: (request: ProviderRequest) => Promise<ProviderAnswer>
  /** Posts a notice to a client. Its rate is bounded by NOTICES_AT_ONCE. Never rejects. */
  readonly notify: (notice: OutboundNotice) => Promise<NoticeOutcome>
}

/** Whether the host was asked. If not, the request of another network may be sent (threats.md OUT-13). */
export function wasSent(outcome: OutboundOutcome): boolean {
  return outcome.kind !== 'limited' && (outcome.kind !== 'unreachable' || outcome.reason !== 'off')
}

/** How long a copy serves without another request after one to which the host gave no answer. */
export const OUTAGE_PAUSE_MS = 30_000
/** How long a copy serves past its freshness, or past the last request without an answer, while a limit keeps it from being renewed. */
const LIMITED_COPY_MS = 600_000

/**
 * Whether a copy that may serve while its host is down serves though it could not be renewed. The rate of renewals lets it: others must not
 * lock out a client whose host answers. Slots and files let it only in an outage that is known, because requests for anything use them up.
 *
 * `downSince`: the last request for the copy, if the host gave no answer to it.
 */
export function servesWhileLimited(
  { freshUntil, downSince }: { readonly freshUntil: EpochMs; readonly downSince: EpochMs | undefined },
  reason: LimitedReason,
  now: EpochMs,
): boolean {
  const isKnownOutage = downSince !== undefined && now < after(downSince, LIMITED_COPY_MS)
  return isKnownOutage || (reason === 'budget' && now < after(freshUntil, LIMITED_COPY_MS))
}

/** Notices that are under way at the same time, in this process. */
export const NOTICES_AT_ONCE = { total: 64, perHost: 2 } as const

/** Called with the outcome of each request, also of one that was not sent. */
export type OutboundObserver = (
  purpose: OutboundPurpose,
  outcome: OutboundOutcome | ProviderAnswer | NoticeOutcome,
) => void
