import type { Server } from 'node:http'
import type { Answered, StoreObserver } from '../ports/observers.ts'
import type { RowCounts } from './row-counts.ts'
import type { Sample } from './families.ts'
import type { ProviderSignInObserver } from '../ports/provider-sign-in.ts'
import { OUTBOUND_PURPOSES, type OutboundObserver, type OutboundPurpose } from '../ports/outbound.ts'
import { counterSamples, openSeries, type Counter } from './counters.ts'
import { openProcessSampler } from './process-samples.ts'
import { openRequestCounters } from './request-counters.ts'
import { openStoreCounters } from './store-counters.ts'

/** The metrics of this process. */
export interface Metrics {
  readonly countRequest: (answer: Answered) => void
  /** How many requests were counted. */
  readonly answered: () => number
  readonly storeObserver: Omit<StoreObserver, 'mark'>
  readonly countAuditFailure: () => void
  readonly countOutbound: OutboundObserver
  readonly countUpstream: ProviderSignInObserver
  /** Counts what an access rule took, or would have. */
  readonly countLeftOut: (rule: string, state: string) => void
  /** Counts the connections of a server. */
  readonly countConnections: (server: Server) => void
  /** Returns what was counted of requests and of the store: cheap, and without an effect on a scrape. */
  readonly count: () => readonly Sample[]
  /** Returns the current values, with the row counts of the store if they are given. */
  readonly sample: (rowCounts: RowCounts | undefined) => Promise<readonly Sample[]>
  readonly close: () => void
}

/** The outcome of a request that succeeded. Its series starts at zero. */
const ACCEPTED: Readonly<Record<OutboundPurpose, string>> = {
  'client-document': 'fetched',
  'client-keys': 'fetched',
  provider: 'answered',
  'logout-notice': 'acknowledged',
}

/** Opens the metrics: numbers in memory, which a scrape reads. */
export function openMetrics(version: string, endpoints: readonly string[]): Metrics {
  const requests = openRequestCounters(endpoints)
  const store = openStoreCounters()
  const processSampler = openProcessSampler()
  const outbound = openSeries<Counter>(2, () => ({ value: 0 }))
  for (const purpose of OUTBOUND_PURPOSES) outbound.at(purpose, ACCEPTED[purpose])
  const upstream = openSeries<Counter>(2, () => ({ value: 0 }))
  upstream.at('', 'authenticated')
  const leftOut = openSeries<Counter>(2, () => ({ value: 0 }))
  for (const state of ['on', 'report']) leftOut.at('', state)
  let auditFailures = 0
  const constant: readonly Sample[] = [
    { name: 'grantor_build_info', labels: [version, process.version], value: 1 },
    { name: 'grantor_up', labels: [], value: 1 },
  ]
  return {
    countRequest: requests.count,
    answered: requests.answered,
    storeObserver: store.observer,
    countAuditFailure: () => void (auditFailures += 1),
    countOutbound(purpose, outcome) {
      outbound.at(purpose, 'reason' in outcome ? outcome.reason : outcome.kind).value += 1
    },
    countUpstream: (provider, outcome) => void (upstream.at(provider, outcome).value += 1),
    countLeftOut: (rule, state) => void (leftOut.at(rule, state).value += 1),
    countConnections: requests.countConnections,
    count: () => [...requests.samples(), ...store.samples()],
    async sample(rowCounts) {
      const failures: Sample = { name: 'grantor_audit_failures_total', labels: [], value: auditFailures }
      const rows = (await rowCounts?.sample()) ?? []
      const sent = counterSamples('grantor_outbound_requests_total', outbound)
      const signIns = counterSamples('grantor_upstream_total', upstream)
      const taken = counterSamples('grantor_access_left_out_total', leftOut)
      const counted = [...requests.samples(), ...store.samples(), ...sent, ...signIns, ...taken, failures]
      return [...counted, ...rows, ...constant, ...processSampler.sample()]
    },
    close: processSampler.close,
  }
}
