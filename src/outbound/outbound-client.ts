import { AsyncLocalStorage } from 'node:async_hooks'
import { isUtf8 } from 'node:buffer'
import type { Budgets } from '../ports/budgets.ts'
import {
  type NoticeOutcome,
  NOTICES_AT_ONCE,
  type OutboundClient,
  type OutboundFailure,
  type OutboundNotice,
  type OutboundObserver,
  type OutboundOutcome,
  type OutboundPurpose,
  type OutboundRequest,
  type ProviderAnswer,
  type ProviderRequest,
  wasSent,
} from '../ports/outbound.ts'
import type { EpochMs } from '../base/brand.ts'
import { freshSeconds } from '../base/freshness.ts'
import { parseMediaType } from '../base/message.ts'
import { checkOutboundUrl, checkProviderUrl, type OutboundPolicy } from '../protocol/uri/outbound-url.ts'
import { openSingleFlight } from '../base/single-flight.ts'
import { openSlots, type Slots } from '../base/slots.ts'
import { BUSY, exchange, type ExchangeOutcome } from './exchange.ts'
import { openResolver } from './resolve.ts'
import { isPublicAddress } from './special-use-addresses.ts'
import { findTarget, type Network } from './target.ts'

/** The network of this machine. */
export const SYSTEM_NETWORK: Network = { resolve: openResolver(undefined), isPublicAddress }

export interface OutboundOptions {
  /** Whether anything may be requested at all. */
  readonly isOn: boolean
  readonly policy: OutboundPolicy
  readonly userAgent: string
  readonly network: Network
  readonly budgets: Pick<Budgets, 'take'>
  readonly clock: () => EpochMs
  readonly limits: Readonly<Record<OutboundPurpose, Limits>>
  readonly observe: OutboundObserver
}

/** The limits of one request. */
interface Limits {
  /** Bytes of the body. */
  readonly body: number
  /**
   * For waiting, and then for the rest until the answer is complete: resolving, connecting and reading. So what other callers do is not
   * taken for a fault of the host.
   */
  readonly deadlineMs: number
}

/** A client ID metadata document has at most 5 KB (draft-ietf-oauth-client-id-metadata-document §8.7). */
export const OUTBOUND_LIMITS: Readonly<Record<OutboundPurpose, Limits>> = {
  'client-document': { body: 5 * 1024, deadlineMs: 3000 },
  'client-keys': { body: 64 * 1024, deadlineMs: 3000 },
  // A person may be in a thousand groups, which the ID token and the access token of one answer have.
  provider: { body: 256 * 1024, deadlineMs: 5000 },
  // The body of the answer is not read.
  'logout-notice': { body: 0, deadlineMs: 5000 },
}

type Limited = Extract<OutboundFailure, { readonly kind: 'limited' }>

/** Requests that are under way at the same time, in this process. */
const CONCURRENT = { total: 32, perHost: 2, waiting: 512 }
/** The same to providers, so that a provider that does not answer delays neither the others nor the documents of clients. */
const CONCURRENT_TO_PROVIDERS = { total: 64, perHost: 16, waiting: 512 }

/**
 * Opens the way out of this process (threats.md OUT-01 to OUT-14).
 *
 *  1. The URL must be one that may be requested: `checkOutboundUrl`.
 *  2. Requests for one URL at the same time are one request, if it is sent.
 *  3. The network of the caller and the host must be within their rates, and wait for a slot.
 *  4. The host is resolved once, and each of its addresses must be public. An answer that has a private address among public
 *     ones is an attack, so it is refused as a whole.
 *  5. The connection goes to one of these addresses, whose name the certificate must have.
 */
export function openOutboundClient(options: OutboundOptions): OutboundClient {
  const slots = openSlots(CONCURRENT)
  const providerSlots = openSlots(CONCURRENT_TO_PROVIDERS)
  const noticeSlots = openSlots({ ...NOTICES_AT_ONCE, waiting: NOTICES_AT_ONCE.total })
  const share = openSingleFlight<{ readonly outcome: OutboundOutcome; readonly payer: string }>()
  const causes = new AsyncLocalStorage<string>()

  async function send(request: OutboundRequest): Promise<OutboundOutcome> {
    if (!options.isOn) return { kind: 'unreachable', reason: 'off' }
    const verdict = checkOutboundUrl(request.url, options.policy)
    if (verdict.kind === 'refused') return { kind: 'unacceptable', reason: 'url', detail: verdict.reason }
    const spent = takeBudgets(options, request, verdict.url)
    if (spent !== undefined) return spent
    const { deadlineMs } = options.limits[request.purpose]
    const wait = { host: verdict.url.host, network: request.network, signal: AbortSignal.timeout(deadlineMs) }
    return inSlot(slots, wait, () => fetchUrl(options, request, verdict.url, AbortSignal.timeout(deadlineMs)))
  }

  async function ask(request: ProviderRequest): Promise<ProviderAnswer> {
    if (!options.isOn) return { kind: 'unreachable', reason: 'off' }
    const verdict = checkProviderUrl(request.url, options.policy, request.privateHosts)
    if (verdict.kind === 'refused') return { kind: 'unacceptable', reason: 'url', detail: verdict.reason }
    const { deadlineMs } = options.limits.provider
    const network = causes.getStore() ?? ''
    const wait = { host: verdict.url.host, network, signal: AbortSignal.timeout(deadlineMs) }
    return inSlot(providerSlots, wait, () =>
      askProvider(options, request, verdict.url, AbortSignal.timeout(deadlineMs)),
    )
  }

  async function notify(notice: OutboundNotice): Promise<NoticeOutcome> {
    if (!options.isOn) return { kind: 'unreachable', reason: 'off' }
    const verdict = checkOutboundUrl(notice.url, options.policy)
    if (verdict.kind === 'refused') return { kind: 'unacceptable', reason: 'url', detail: verdict.reason }
    const signal = AbortSignal.any([notice.signal, AbortSignal.timeout(options.limits['logout-notice'].deadlineMs)])
    const wait = { host: verdict.url.host, network: '', signal }
    return inSlot(noticeSlots, wait, () => postForm(options, notice, verdict.url, signal))
  }

  async function sendAndCount(request: OutboundRequest): Promise<OutboundOutcome> {
    const outcome = await send(request)
    options.observe(request.purpose, outcome)
    return outcome
  }

  return {
    async get(request) {
      const key = JSON.stringify([request.purpose, request.url, request.etag])
      const payer = JSON.stringify([request.isRenewal, request.network])
      const asked = await share(key, async () => ({ outcome: await sendAndCount(request), payer }))
      // The limits that kept the request from being sent say nothing about another network or kind of request (threats.md OUT-13).
      const isOwn = wasSent(asked.outcome) || asked.payer === payer
      return isOwn ? asked.outcome : sendAndCount(request)
    },
    causedBy: (network, work) => causes.run(network, work),
    async ask(request) {
      const answer = await ask(request)
      options.observe('provider', answer)
      return answer
    },
    async notify(notice) {
      const outcome = await notify(notice)
      options.observe('logout-notice', outcome)
      return outcome
    },
  }
}

async function inSlot<Outcome>(
  slots: Slots,
  { host, network, signal }: { readonly host: string; readonly network: string; readonly signal: AbortSignal },
  work: () => Promise<Outcome>,
): Promise<Outcome | Limited> {
  const free = await slots.take(host, network, signal)
  if (free === undefined) return BUSY
  try {
    return await work()
  } finally {
    free()
  }
}

/** Returns the outcome if the network or the host has used up its rate. */
function takeBudgets({ budgets, clock }: OutboundOptions, request: OutboundRequest, url: URL): Limited | undefined {
  const now = clock()
  const { purpose, isRenewal, network } = request
  const own = budgets.take(isRenewal ? 'outbound-renewal' : 'outbound', network, now)
  if (!own.isWithin) return { kind: 'limited', reason: 'budget', retryAfterSeconds: own.resetSeconds }
  const hostBudget = isRenewal ? 'outbound-host-renewal' : 'outbound-host'
  const ofHost = budgets.take(hostBudget, JSON.stringify([purpose, url.host]), now, network)
  return ofHost.isWithin ? undefined : { kind: 'limited', reason: 'budget', retryAfterSeconds: ofHost.resetSeconds }
}

async function fetchUrl(
  { limits, network, userAgent }: OutboundOptions,
  { purpose, etag }: OutboundRequest,
  url: URL,
  signal: AbortSignal,
): Promise<OutboundOutcome> {
  const target = await findTarget(network, url, { isNamed: false, signal })
  if (target.kind !== 'target') return target
  const outcome = await exchange({
    ...target,
    method: 'GET',
    url,
    body: undefined,
    accepts: 'success',
    headers: {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': userAgent,
      ...(etag === undefined ? {} : { 'If-None-Match': etag }),
    },
    bodyLimit: limits[purpose].body,
    signal,
  })
  return describe(outcome, etag)
}

async function askProvider(
  { limits, network, userAgent }: OutboundOptions,
  { method, headers, body, privateHosts }: ProviderRequest,
  url: URL,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  const target = await findTarget(network, url, { isNamed: privateHosts.includes(url.hostname), signal })
  if (target.kind !== 'target') return target
  const own = { 'Accept-Encoding': 'identity', 'User-Agent': userAgent }
  const outcome = await exchange({
    ...target,
    method,
    url,
    body,
    accepts: 'refusals-too',
    headers: {
      ...headers,
      ...own,
      ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    },
    bodyLimit: limits.provider.body,
    signal,
  })
  if (outcome.kind === 'not-modified') return { kind: 'unacceptable', reason: 'status', detail: '304' }
  if (outcome.kind !== 'answered') return outcome
  if (!isUtf8(outcome.body)) return { kind: 'unacceptable', reason: 'content-type' }
  // openid-client compares it letter by letter.
  const contentType = parseMediaType(outcome.headers['content-type'] ?? '')?.name ?? ''
  return { kind: 'answered', status: outcome.status, contentType, text: outcome.body.toString('utf8') }
}

async function postForm(
  { limits, network, userAgent }: OutboundOptions,
  { form }: OutboundNotice,
  url: URL,
  signal: AbortSignal,
): Promise<NoticeOutcome> {
  const target = await findTarget(network, url, { isNamed: false, signal })
  if (target.kind !== 'target') return target
  const body = new URLSearchParams(form).toString()
  const outcome = await exchange({
    ...target,
    method: 'POST',
    url,
    body,
    accepts: 'acknowledgement',
    headers: {
      'Accept-Encoding': 'identity',
      'Content-Length': String(Buffer.byteLength(body)),
      'Content-Type': 'application/x-www-form-urlencoded',
      'User-Agent': userAgent,
    },
    bodyLimit: limits['logout-notice'].body,
    signal,
  })
  if (outcome.kind === 'not-modified') return { kind: 'unacceptable', reason: 'status', detail: '304' }
  return outcome.kind === 'answered' ? { kind: 'acknowledged' } : outcome
}

function describe(outcome: ExchangeOutcome, sent: string | undefined): OutboundOutcome {
  if (outcome.kind !== 'answered' && outcome.kind !== 'not-modified') return outcome
  const { headers } = outcome
  const fresh = freshSeconds(headers)
  if (outcome.kind === 'not-modified') return { kind: 'not-modified', etag: sent, freshSeconds: fresh }
  if (!isUtf8(outcome.body)) return { kind: 'unacceptable', reason: 'content-type' }
  return { kind: 'fetched', text: outcome.body.toString('utf8'), etag: readEtag(headers.etag), freshSeconds: fresh }
}

/** RFC 9110 §8.8.3. The tag is stored and sent back. A longer one is not kept, so the copy is fetched whole next time. */
function readEtag(text: string | undefined): string | undefined {
  return text !== undefined && /^(W\/)?"[\x21\x23-\x7e]{0,128}"$/.test(text) ? text : undefined
}
