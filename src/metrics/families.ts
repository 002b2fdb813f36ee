/** A metric with its labels. */
export interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  /** The text of `# HELP`, and the start of the meaning in docs/monitoring.md. */
  readonly help: string
  /** More about the meaning, in Markdown, for docs/monitoring.md alone. */
  readonly more?: string
  /** The metric is about the store, which all workers share, so it has no label `worker`. */
  readonly isShared?: true
}

/** Upper bounds of histogram buckets, in seconds and in operations. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const
export const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] as const

type Families = Readonly<Record<string, Family>>

const REQUESTS = {
  grantor_requests_total: {
    type: 'counter',
    labels: ['endpoint', 'outcome', 'reason', 'status'],
    help: 'Answered HTTP requests.',
    more: '`endpoint`: `token`, `register`, …, or `none` (unknown). `outcome`: the event of the log line. `reason`: of a refusal, or a detail, such as the grant type.',
  },
  grantor_request_seconds: {
    type: 'histogram',
    labels: ['endpoint'],
    help: 'Time from the head of a request to its response.',
    more: 'It includes the time to receive the body.',
  },
  grantor_introspections_total: {
    type: 'counter',
    labels: ['api', 'active'],
    help: 'Answered introspections, by the API that asked and whether the token was active.',
    more: '`api` is empty when a client asked.',
  },
  grantor_broken_requests_total: {
    type: 'counter',
    labels: [],
    help: 'Connections that were closed because they sent something other than HTTP.',
  },
  grantor_dropped_connections_total: {
    type: 'counter',
    labels: [],
    help: 'Connections that were closed because their network had used up its share, or because they pipelined too many requests.',
    more: 'See [faults.md](faults.md).',
  },
  grantor_forwarded_addresses_ignored_total: {
    type: 'counter',
    labels: [],
    help: 'Requests of a proxy on this machine that GRANTOR_TRUST_PROXY does not name.',
    more: 'All callers behind such a proxy share one rate limit.',
  },
  grantor_forwarded_addresses_missing_total: {
    type: 'counter',
    labels: [],
    help: 'POST requests of a trusted proxy that name no caller in X-Forwarded-For.',
    more: 'All callers behind such a proxy share one rate limit.',
  },
  grantor_connections: { type: 'gauge', labels: [], help: 'Open connections.', more: 'Those of the public listener.' },
} as const satisfies Families

const STORE = {
  grantor_store_operations_total: {
    type: 'counter',
    labels: ['operation', 'outcome'],
    help: 'Operations of the store, by outcome.',
    more: 'As in [`src/ports/operations/`](../src/ports/operations/index.ts). `failed`: or the outcome is unknown.',
  },
  grantor_store_batch_operations: {
    type: 'histogram',
    labels: [],
    help: 'Operations in one batch.',
    more: '512 at most.',
  },
  grantor_store_commit_seconds: {
    type: 'histogram',
    labels: ['outcome'],
    help: 'Time to commit one batch to disk.',
    more: '`failed`: all requests of the batch got a 503.',
  },
  grantor_store_wait_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Time that the oldest operation of a batch waited for the batch to start.',
    more: 'If the store is too slow, this grows first.',
  },
  grantor_store_waiting: {
    type: 'gauge',
    labels: [],
    help: 'Operations that are waiting for a batch.',
    more: '10,000 at most.',
  },
  grantor_store_batches_in_flight: {
    type: 'gauge',
    labels: [],
    help: 'Batches that are being committed.',
    more: 'At most 1 on SQLite, 2 on PostgreSQL.',
  },
  grantor_store_accepts_writes: { type: 'gauge', labels: [], help: 'Whether commits succeed.' },
  grantor_store_log_bytes: {
    type: 'gauge',
    labels: [],
    help: 'The length of the write-ahead log of a SQLite file.',
    more: 'Above 64 MiB it is truncated, unless a snapshot keeps it.',
  },
  grantor_store_refused_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Operations that were rejected before they started.',
    more: '`full`: too many waited; `late`: it had waited for two seconds.',
  },
  grantor_password_upgrades_total: {
    type: 'counter',
    labels: ['format'],
    help: 'Password hashes of other systems that a sign-in replaced.',
    more: '`format`: of the previous one.',
  },
  grantor_sign_ins_total: {
    type: 'counter',
    labels: ['method'],
    help: 'Sessions that started, by how the user authenticated first.',
    more: '`password`, `passkey`, `provider` or `application`.',
  },
  grantor_swept_rows_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Expired rows that this process removed.',
    more: '`clients`: those that never got a token; `idleClients`: those that got none for `GRANTOR_IDLE_CLIENT_LIFETIME`; `consents`: to deleted clients.',
  },
} as const satisfies Families

const STORED_OBJECTS = {
  grantor_grants: {
    type: 'gauge',
    labels: ['state'],
    isShared: true,
    help: 'Grants in the store, as last counted.',
    more: '`live`: also those of disabled clients and users. `over`: revoked or expired, but not deleted yet.',
  },
  grantor_clients: {
    type: 'gauge',
    labels: ['state'],
    isShared: true,
    help: 'Clients in the store, as last counted.',
    more: '`disabled`, `used` (have got a token) or `unused`.',
  },
  grantor_users: {
    type: 'gauge',
    labels: ['state'],
    isShared: true,
    help: 'Users in the store, as last counted.',
    more: '`disabled`, `used` (signed in) or `unused`.',
  },
  grantor_users_indexed: {
    type: 'gauge',
    labels: [],
    isShared: true,
    help: 'Users that the index of a search has, as last counted.',
    more: 'Less than grantor_users: a search looks at the others one by one.',
  },
  grantor_row_counts_age_seconds: {
    type: 'gauge',
    labels: ['of'],
    isShared: true,
    help: 'Time since the start of the count that grantor_grants, grantor_clients or grantor_users is from.',
    more: 'Before the first count has ended: since its start.',
  },
  grantor_row_count_duration_seconds: {
    type: 'gauge',
    labels: ['of'],
    isShared: true,
    help: 'How long the last count took. The next one begins after nine times as long, at least a minute.',
    more: '0: the first count has not ended.',
  },
  grantor_signing_keys: {
    type: 'gauge',
    labels: ['algorithm', 'purpose'],
    isShared: true,
    help: 'Published signing keys.',
  },
  grantor_signing_key_age_seconds: {
    type: 'gauge',
    labels: ['algorithm', 'purpose'],
    isShared: true,
    help: 'Time since the current signing key became active.',
    more: '`GRANTOR_KEY_ROTATION` limits it.',
  },
  grantor_admin_credentials_expire_seconds: {
    type: 'gauge',
    labels: [],
    isShared: true,
    help: 'Time until the next credentials of an administrator expire.',
    more: 'No sample without valid credentials.',
  },
} as const satisfies Families

const PROCESS = {
  grantor_outbound_requests_total: {
    type: 'counter',
    labels: ['purpose', 'outcome'],
    help: 'Requests of the server for metadata documents and keys of clients, to providers, and to notify clients of a logout.',
    more: '`outcome`: `fetched`, `not-modified`, `answered`, `acknowledged`, or why the answer was not used ([`src/ports/outbound.ts`](../src/ports/outbound.ts)).',
  },
  grantor_upstream_total: {
    type: 'counter',
    labels: ['provider', 'outcome'],
    help: 'Sign-ins at providers.',
    more: '`outcome`: `authenticated`, `refused` (by the person or the provider), `rejected` (code or credentials), `invalid` (the answer), `unreachable`, `busy`, `secret-missing`, `off`.',
  },
  grantor_access_left_out_total: {
    type: 'counter',
    labels: ['rule', 'state'],
    help: 'Tokens from which an access rule took something, or would have.',
    more: '`rule`: empty for those of organizations. `state`: `on`, or `report` for what would have been left out.',
  },
  grantor_audit_failures_total: {
    type: 'counter',
    labels: [],
    help: 'Attempts to record events or counts in the audit that failed.',
    more: 'Log event: `audit.recording-failed`. Changes are not lost.',
  },
  grantor_backup_age_seconds: {
    type: 'gauge',
    labels: [],
    isShared: true,
    help: 'Time since the last "grantor backup"; absent if there was none.',
  },
  grantor_clock_agrees: {
    type: 'gauge',
    labels: [],
    help: 'Whether the clock of this node agrees with its reference. While it is 0, the node issues and deletes nothing.',
    more: 'See [faults.md](faults.md#a-clock-that-differs).',
  },
  grantor_clock_ahead_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How far the clock of this node is ahead of its reference; 0 while they agree.',
    more: 'Negative when it is behind.',
  },
  grantor_store_went_back: {
    type: 'gauge',
    labels: [],
    help: 'Whether the store went back, so that nothing is served until the operator has answered.',
    more: 'See [restored.md](operations/backup.md#restored-by-other-means).',
  },
  grantor_build_info: { type: 'gauge', labels: ['version', 'node'], help: 'Always 1.' },
  grantor_up: {
    type: 'gauge',
    labels: [],
    help: 'Whether the process answered this scrape.',
    more: '1, or 0 for a worker that did not reply to its supervisor within two seconds.',
  },
  process_cpu_user_seconds_total: { type: 'counter', labels: [], help: 'User CPU time.', more: 'Of all threads.' },
  process_cpu_system_seconds_total: { type: 'counter', labels: [], help: 'System CPU time.' },
  process_resident_memory_bytes: { type: 'gauge', labels: [], help: 'Resident memory of the process.' },
  process_start_time_seconds: { type: 'gauge', labels: [], help: 'Start time of the process, in epoch seconds.' },
  nodejs_heap_size_used_bytes: { type: 'gauge', labels: [], help: 'Used JavaScript heap.' },
  nodejs_eventloop_lag_mean_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Mean delay of the event loop since the last scrape.',
    more: 'Since the last scrape by any scraper. No request is served during a delay.',
  },
  nodejs_eventloop_lag_p99_seconds: {
    type: 'gauge',
    labels: [],
    help: 'The 99th percentile of the event loop delay since the last scrape.',
  },
  nodejs_eventloop_lag_max_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Longest delay of the event loop since the last scrape.',
  },
  nodejs_eventloop_busy_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'Time that the event loop was busy.',
    more: 'Its rate is the utilization of the main thread.',
  },
} as const satisfies Families

/** The sections of docs/monitoring.md. `npm run docs` writes its tables from them. */
export const SECTIONS = {
  requests: REQUESTS,
  'the store': STORE,
  'stored objects': STORED_OBJECTS,
  'the process': PROCESS,
} as const

/**
 * The table of metrics. Label values are names of the server's own and never come from a caller, so the number of series is
 * bounded. Names and units follow the conventions of Prometheus; `process_` and `nodejs_` names are those of other exporters for Node.js.
 */
export const FAMILIES = { ...REQUESTS, ...STORE, ...STORED_OBJECTS, ...PROCESS } as const

export type FamilyName = keyof typeof FAMILIES

/** One number, or one histogram: the count of each bucket, with the values above all bounds last, and the sum. */
export type Sample = {
  readonly name: FamilyName
  /** In the order of the family's labels. */
  readonly labels: readonly string[]
} & ({ readonly value: number } | { readonly buckets: readonly number[]; readonly sum: number })
