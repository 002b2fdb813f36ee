import assert from 'node:assert/strict'
import type { ClientLookup } from '../ports/client-lookup.ts'
import type { Context, DocumentFailure } from '../ports/context.ts'
import type { DocumentClient } from '../ports/operations/client.ts'
import {
  OUTAGE_PAUSE_MS,
  servesWhileLimited,
  wasSent,
  type LimitedReason,
  type OutboundOutcome,
} from '../ports/outbound.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import { findPolicyRefusal } from './evaluate-client.ts'
import { newClient, settleIdTokenAlgorithm } from './new-client.ts'
import { registrationPolicy, reportDormant } from './registration-policy.ts'
import { after, type EpochMs } from '../base/brand.ts'
import { describeUri } from '../protocol/uri/canonical-uri.ts'
import { findDocumentUrlFault, freshUntil, readClientDocument, servesWhileDown } from '../protocol/client/document.ts'
import { documentClientId } from '../protocol/client/identifier.ts'
import { DEFAULT_RULES } from '../protocol/client/policy.ts'
import { isSameIdentity } from '../protocol/client/identity.ts'
import type { ClientMetadata } from '../protocol/client/members.ts'
import { sameResource } from '../protocol/token/resource.ts'

/** A client whose document was never fetched. */
const UNKNOWN = { source: 'document', verifiedAt: undefined, rules: DEFAULT_RULES, initialToken: undefined } as const

/** How long a client is kept that was only fetched. An authorization keeps it longer. */
const RETAIN_MS = 3_600_000

/**
 * Fetches the metadata document of a client, and stores the client. draft-ietf-oauth-client-id-metadata-document §4 and §5.
 *
 *  1. The URL is one from which a document may be fetched, is not that of an API, and the policy of the server allows it. Nothing
 *     is requested otherwise, not even an address from a name server.
 *  2. If the host cannot answer now, the stored document serves for a day after it ceased to be fresh, and the host is asked once in 30
 *     seconds. If a limit of this server keeps the host from being asked, it serves for ten minutes (threats.md OUT-15).
 *  3. A document that is missing or not acceptable is never replaced by the stored one, and the answer is not remembered (§5.2):
 *     the next request fetches it again, as far as the rates of the network and of the host allow.
 *  4. A changed name or redirect host makes it another client to users, as with a registration (decision 0021). A client that stops
 *     authenticating loses its tokens, because others could use them now.
 *
 * `stored` is the client as it was fetched last.
 */
export async function loadDocument(
  context: Context,
  url: string,
  stored: ClientRecord | undefined,
  network: string,
): Promise<ClientLookup> {
  if (findDocumentUrlFault(url, context.settings.outbound) !== undefined) return { kind: 'unknown' }
  const refusal = await findRefusal(context, url, stored)
  if (refusal !== undefined) return refusal
  if (stored !== undefined && isPaused(context, url, stored)) return { kind: 'found', client: stored }
  const isRenewal = stored !== undefined && isOrdinary(context, url, stored)
  // Never conditional (RFC 9110 §13): what is stored is what an earlier release or other settings made of the document.
  const answer = await context.outbound.get({ purpose: 'client-document', url, etag: undefined, isRenewal, network })
  assert(answer.kind !== 'not-modified', 'The request was not conditional.')
  if (answer.kind !== 'fetched') return answerWithout(context, url, stored, answer)
  const origin = stored ?? { ...UNKNOWN, document: { url } }
  const reading = readClientDocument(answer.text, url, registrationPolicy(context, await context.apis(), origin))
  if (reading.kind === 'refused') return reportUnacceptable(context, url, reading.reason, stored)
  context.documentFailures.delete(url)
  const metadata = await settleIdTokenAlgorithm(context, origin, reading.metadata)
  reportDormant(context, { id: documentClientId(url), metadata })
  const now = context.clockCheck.now()
  const document = { url, fetchedAt: now, freshUntil: freshUntil(now, answer.freshSeconds) }
  return stored === undefined
    ? add(context, { ...newDocumentClient(context, now, metadata, url), document })
    : renew(context, stored, metadata, document)
}

/**
 * A document of an API's identifier would make the `client_id`, which is the `sub` and the audience of other tokens, the same text
 * as the audience of an API (RFC 8725 §3.9).
 */
async function findRefusal(
  context: Context,
  url: string,
  stored: ClientRecord | undefined,
): Promise<ClientLookup | undefined> {
  const apis = await context.apis()
  if (apis.some(({ resource }) => sameResource(resource, url))) {
    return reportUnacceptable(context, url, 'The URL is the identifier of an API.', stored)
  }
  const metadata = { redirect_uris: [], token_endpoint_auth_method: 'none' } as const
  const candidate = stored ?? { ...UNKNOWN, document: { url }, metadata }
  return findPolicyRefusal(context, candidate, stored === undefined ? 'enter' : 'use')
}

/** What the request leads to if the document could not be fetched. */
function answerWithout(
  context: Context,
  url: string,
  stored: ClientRecord | undefined,
  answer: Exclude<OutboundOutcome, { readonly kind: 'fetched' | 'not-modified' }>,
): ClientLookup {
  const { reason, detail } = answer
  if (answer.kind === 'unacceptable')
    return reportUnacceptable(context, url, detail === undefined ? reason : `${reason} ${detail}`, stored)
  context.record({
    event: 'client.document-unavailable',
    client: documentClientId(url),
    document: describeUri(url),
    reason,
    description: detail,
  })
  if (answer.kind === 'limited') {
    const isEnough = stored !== undefined && servesLimited(context, url, stored, answer.reason)
    return isEnough
      ? { kind: 'found', client: stored }
      : { kind: 'limited', retryAfterSeconds: answer.retryAfterSeconds }
  }
  if (stored !== undefined && wasSent(answer)) noteFailure(context, url, 'unreachable')
  return stored !== undefined && isServing(context, stored)
    ? { kind: 'found', client: stored }
    : { kind: 'unavailable' }
}

function noteFailure({ clockCheck, documentFailures }: Context, url: string, kind: DocumentFailure['kind']): void {
  documentFailures.set(url, { kind, at: clockCheck.now() })
}

/** Whether the host is not asked, because it gave no answer a moment ago. */
function isPaused(context: Context, url: string, stored: ClientRecord): boolean {
  const failure = context.documentFailures.get(url)
  const isRecent = failure?.kind === 'unreachable' && context.clockCheck.now() < after(failure.at, OUTAGE_PAUSE_MS)
  return isRecent && isServing(context, stored)
}

/** Requests that have no pause are not paid from the rate of renewals, because a caller repeats them at will. */
function isOrdinary(context: Context, url: string, stored: ClientRecord): boolean {
  const failure = context.documentFailures.get(url)
  return failure === undefined || (failure.kind === 'unreachable' && isServing(context, stored))
}

/** A document that was missing or not acceptable when the host was asked last does not serve. */
function servesLimited(context: Context, url: string, stored: ClientRecord, reason: LimitedReason): boolean {
  const failure = context.documentFailures.get(url)
  const { document } = stored
  if (document === undefined || failure?.kind === 'unacceptable' || !isServing(context, stored)) return false
  return servesWhileLimited({ ...document, downSince: failure?.at }, reason, context.clockCheck.now())
}

function isServing({ clockCheck }: Context, { document }: ClientRecord): boolean {
  return document !== undefined && servesWhileDown(document.freshUntil, clockCheck.now())
}

function reportUnacceptable(
  context: Context,
  url: string,
  reason: string,
  stored: ClientRecord | undefined,
): ClientLookup {
  if (stored !== undefined) noteFailure(context, url, 'unacceptable')
  const client = documentClientId(url)
  context.record({ event: 'client.document-unacceptable', client, document: describeUri(url), reason })
  return { kind: 'unacceptable' }
}

/**
 * A client that was deleted may come back. What was issued and allowed before its deletion stays invalid, because both times
 * begin now.
 */
function newDocumentClient(context: Context, now: EpochMs, metadata: ClientMetadata, url: string): ClientRecord {
  const client = newClient(context, now, metadata, 'document')
  return { ...client, id: documentClientId(url), identityFrom: now, notBefore: now }
}

async function add(context: Context, client: DocumentClient): Promise<ClientLookup> {
  const refusal = await findPolicyRefusal(context, client, 'enter')
  if (refusal !== undefined) return refusal
  const outcome = await context.store.addDocumentClient({
    client,
    retainUntil: after(client.document.fetchedAt, RETAIN_MS),
  })
  return outcome === 'added' ? { kind: 'found', client } : findOther(context, client)
}

async function renew(
  context: Context,
  stored: ClientRecord,
  metadata: ClientMetadata,
  document: DocumentClient['document'],
): Promise<ClientLookup> {
  assert(stored.document, 'A client that was found by the URL of its document has a document.')
  const renewed = { ...stored, metadata, document }
  const refusal = await findPolicyRefusal(context, renewed, 'use')
  if (refusal !== undefined) {
    noteFailure(context, document.url, 'unacceptable')
    return refusal
  }
  const now = document.fetchedAt
  const stopsAuthenticating =
    metadata.token_endpoint_auth_method === 'none' && stored.metadata.token_endpoint_auth_method !== 'none'
  await context.store.renewDocument({
    id: stored.id,
    previous: { metadata: stored.metadata, fetchedAt: stored.document.fetchedAt },
    metadata,
    document,
    identityFrom: isSameIdentity(stored.metadata, metadata) ? undefined : now,
    notBefore: stopsAuthenticating ? now : undefined,
  })
  return findOther(context, stored)
}

/** Reads the client again: another node may have stored it at the same time, or an administrator may have changed it. */
async function findOther(context: Context, { id }: Pick<ClientRecord, 'id'>): Promise<ClientLookup> {
  const client = await context.store.findClient(id)
  return client === undefined ? { kind: 'unknown' } : { kind: 'found', client }
}
