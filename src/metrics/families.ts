/** What can be scraped. docs/metrics.md tells the same, and a test compares. */
export interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  /** It is about the store that all processes share, so it has no `worker`. */
  readonly isShared?: true
}

/** Upper bounds of histograms: seconds, and operations. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const
export const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] as const

/**
 * THE TABLE of metrics. Values of labels are words of ours, never of a caller, so the number of series is bounded. Names and
 * units as Prometheus has them; what starts with `process_` and `nodejs_` is named as exporters for Node name it.
 */
export const FAMILIES = {
  grantor_requests_total: {
    type: 'counter',
    labels: ['endpoint', 'outcome', 'reason', 'status'],
    help: 'Answered HTTP requests.',
  },
  grantor_request_seconds: {
    type: 'histogram',
    labels: ['endpoint'],
    help: 'Time from the head of a request to its answer.',
  },
  grantor_introspections_total: {
    type: 'counter',
    labels: ['api', 'active'],
    help: 'Answered introspections, by the API that asked and whether the token was active.',
  },
  grantor_broken_requests_total: {
    type: 'counter',
    labels: [],
    help: 'Connections that sent what is no HTTP request.',
  },
  grantor_dropped_connections_total: {
    type: 'counter',
    labels: [],
    help: 'Connections that were closed because their network had its share, or because they pipelined too much.',
  },
  grantor_connections: { type: 'gauge', labels: [], help: 'Open connections.' },
  grantor_store_operations_total: {
    type: 'counter',
    labels: ['operation', 'outcome'],
    help: 'Operations of the store, by what became of them.',
  },
  grantor_store_batch_operations: { type: 'histogram', labels: [], help: 'Operations in one batch.' },
  grantor_store_commit_seconds: {
    type: 'histogram',
    labels: ['outcome'],
    help: 'Time of one batch, until it is on disk.',
  },
  grantor_store_wait_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Time that the oldest operation of a batch waited for it to begin.',
  },
  grantor_store_waiting: { type: 'gauge', labels: [], help: 'Operations that wait for a batch.' },
  grantor_store_batches_in_flight: { type: 'gauge', labels: [], help: 'Batches that are being committed.' },
  grantor_store_refused_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Operations that were refused before they were begun.',
  },
  grantor_swept_rows_total: { type: 'counter', labels: ['kind'], help: 'Rows removed because they were over.' },
  grantor_grants: { type: 'gauge', labels: ['state'], isShared: true, help: 'Grants in the store, as last walked.' },
  grantor_clients: { type: 'gauge', labels: ['state'], isShared: true, help: 'Clients in the store, as last walked.' },
  grantor_row_counts_age_seconds: {
    type: 'gauge',
    labels: ['of'],
    isShared: true,
    help: 'How long ago the walk over the store began that grantor_grants and grantor_clients are from.',
  },
  grantor_signing_keys: { type: 'gauge', labels: ['algorithm'], isShared: true, help: 'Published signing keys.' },
  grantor_signing_key_age_seconds: {
    type: 'gauge',
    labels: ['algorithm'],
    isShared: true,
    help: 'How long the key that signs has signed.',
  },
  grantor_clock_agrees: {
    type: 'gauge',
    labels: [],
    help: 'Whether the clock of this node agrees; 0: it issues and deletes nothing.',
  },
  grantor_clock_ahead_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How far the clock of this node is ahead of the clock that it is compared with, when it differs.',
  },
  grantor_build_info: { type: 'gauge', labels: ['version', 'node'], help: 'Always 1.' },
  grantor_up: { type: 'gauge', labels: [], help: 'Whether the process answered this scrape.' },
  process_cpu_user_seconds_total: { type: 'counter', labels: [], help: 'Processor time in the program.' },
  process_cpu_system_seconds_total: { type: 'counter', labels: [], help: 'Processor time in the system.' },
  process_resident_memory_bytes: { type: 'gauge', labels: [], help: 'Memory of the process.' },
  process_start_time_seconds: { type: 'gauge', labels: [], help: 'When the process began, since 1970.' },
  nodejs_heap_size_used_bytes: { type: 'gauge', labels: [], help: 'Memory of JavaScript objects.' },
  nodejs_eventloop_lag_mean_seconds: { type: 'gauge', labels: [], help: 'Mean delay of timers since the last scrape.' },
  nodejs_eventloop_lag_p99_seconds: { type: 'gauge', labels: [], help: 'Delay that 99 of 100 timers stayed below.' },
  nodejs_eventloop_lag_max_seconds: { type: 'gauge', labels: [], help: 'Longest delay since the last scrape.' },
  nodejs_eventloop_busy_seconds_total: { type: 'counter', labels: [], help: 'Time that the event loop was not idle.' },
} as const satisfies Readonly<Record<string, Family>>

export type FamilyName = keyof typeof FAMILIES

/** One number, or one histogram: how many were in each bucket and above all bounds, and their sum. */
export type Sample = {
  readonly name: FamilyName
  /** In the order of the family's labels. */
  readonly labels: readonly string[]
} & ({ readonly value: number } | { readonly buckets: readonly number[]; readonly sum: number })
