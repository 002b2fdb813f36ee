import { openBudgets } from '../../src/http/limits.ts'
import {
  openOutboundClient,
  OUTBOUND_LIMITS,
  SYSTEM_NETWORK,
  type OutboundOptions,
} from '../../src/outbound/outbound-client.ts'
import type { OutboundClient, OutboundOutcome, ProviderAnswer, NoticeOutcome } from '../../src/ports/outbound.ts'
import type { EpochMs } from '../../src/base/brand.ts'

/** A machine that is busy with other work may need longer than the deadline of a server. */
export const PATIENT = {
  'client-document': { ...OUTBOUND_LIMITS['client-document'], deadlineMs: 60_000 },
  'client-keys': { ...OUTBOUND_LIMITS['client-keys'], deadlineMs: 60_000 },
  provider: { ...OUTBOUND_LIMITS.provider, deadlineMs: 60_000 },
  'logout-notice': { ...OUTBOUND_LIMITS['logout-notice'], deadlineMs: 60_000 },
}

/** An outbound client of a server whose issuer is a loopback address. */
export function openClient(options: Partial<OutboundOptions> = {}): OutboundClient {
  return openOutboundClient({
    isOn: true,
    policy: { issuer: 'http://localhost:3000', ports: [443], loopbackExcept: [3000, 3001] },
    userAgent: 'grantor/test (http://localhost:3000)',
    network: SYSTEM_NETWORK,
    budgets: { take: () => ({ isWithin: true, limit: 1, remaining: 1, resetSeconds: 1 }) },
    clock: () => Date.now() as EpochMs,
    limits: PATIENT,
    observe: () => undefined,
    ...options,
  })
}

/** The budgets of a server with the default settings. */
export function usualBudgets() {
  return openBudgets({ registration: 60, authorization: 600, 'client-authentication': 60, 'stored-token': 6000 })
}

/** Requests a document for which the caller has no copy. */
export function getDocument(client: OutboundClient, url: string, network = '192.0.2.1'): Promise<OutboundOutcome> {
  return client.get({ purpose: 'client-document', url, etag: undefined, isRenewal: false, network })
}

/** The kind and the reason of an outcome, and the detail if there is one. */
export function briefly(outcome: OutboundOutcome | ProviderAnswer | NoticeOutcome): string {
  if (!('reason' in outcome)) return outcome.kind
  return [outcome.kind, outcome.reason, ...(outcome.detail === undefined ? [] : [outcome.detail])].join(' ')
}
