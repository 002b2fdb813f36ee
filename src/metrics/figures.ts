import { mostFrequent } from '../base/most-frequent.ts'
import { REFUSALS } from '../protocol/refusals.ts'
import { NAMED_REFUSALS, type FigureCounts, type FigureGroup } from '../ports/records/figures.ts'
import { SECONDS, type Sample } from './families.ts'

/** What the counters of a process showed at a time. */
export interface FigureReading {
  readonly numbers: ReadonlyMap<string, number>
  /** The buckets of the time of requests, by endpoint. */
  readonly times: ReadonlyMap<string, readonly number[]>
}

/** The store keeps a row of at most 1 KB. */
const BYTES = 900
/** The endpoints whose time of requests is kept. */
const TIMED: ReadonlySet<string> = new Set(['token', 'authorize'])
/** A load balancer asks these each second, also while a node is not ready. */
const HEALTH: ReadonlySet<string> = new Set(['ready', 'alive'])
const SCOPE_REASONS: ReadonlySet<string> = new Set(Object.keys(REFUSALS.invalid_scope.reasons))

/** What an operation of the store is in the figures, by its name and outcome. */
const OPERATIONS: Readonly<Record<string, readonly [group: FigureGroup, name: string]>> = {
  'addDocumentClient added': ['registrations', 'document'],
  'createClient created': ['registrations', 'operator'],
  'rotateRefreshToken reused': ['events', 'token_reused'],
  'rotateRefreshToken parted': ['events', 'token_parted'],
  'redeemCode replayed': ['events', 'code_replayed'],
}

/** Reads the counters of `/metrics` that figures are made of. */
export function readFigures(samples: readonly Sample[]): FigureReading {
  const numbers = new Map<string, number>()
  const times = new Map<string, readonly number[]>()
  const add = (group: FigureGroup, name: string, value: number): void => {
    const key = `${group} ${name}`
    numbers.set(key, (numbers.get(key) ?? 0) + value)
  }
  for (const sample of samples) {
    const [first = '', second = '', third = '', fourth = ''] = sample.labels
    if ('buckets' in sample) {
      if (sample.name === 'grantor_request_seconds' && TIMED.has(first)) times.set(first, sample.buckets)
      continue
    }
    const { name, value } = sample
    if (name === 'grantor_requests_total')
      for (const row of ofRequests(first, second, third, fourth)) add(...row, value)
    if (name === 'grantor_sign_ins_total') add('sign_ins', first, value)
    if (name !== 'grantor_store_operations_total') continue
    const row = OPERATIONS[`${first} ${second}`]
    if (row !== undefined) add(...row, value)
  }
  return { numbers, times }
}

function ofRequests(
  endpoint: string,
  outcome: string,
  reason: string,
  status: string,
): readonly (readonly [group: FigureGroup, name: string])[] {
  if (HEALTH.has(endpoint)) return []
  const isRefusal = outcome.endsWith('.refused')
  return [
    ...(outcome === 'token.issued' ? [['tokens', shortGrantType(reason)] as const] : []),
    ...(outcome === 'client.registered' ? [['registrations', 'registration'] as const] : []),
    ...(outcome === 'sign-in.refused' ? [['events', 'sign_in_failed'] as const] : []),
    ...(isRefusal && reason !== '' ? [['refusals', reason] as const] : []),
    ...(isRefusal && SCOPE_REASONS.has(reason) ? [['events', 'scope_refused'] as const] : []),
    ...(status === '429' ? [['events', 'too_many'] as const] : []),
    ...(status.startsWith('5') ? [['events', 'failed'] as const] : []),
  ]
}

/** `urn:ietf:params:oauth:grant-type:device_code` is `device_code`. */
function shortGrantType(grantType: string): string {
  return grantType.slice(grantType.lastIndexOf(':') + 1)
}

/** Returns what was counted between two readings, with the most frequent refusals, in at most 1 KB. */
export function countsBetween(before: FigureReading, now: FigureReading): FigureCounts {
  const groups: Partial<Record<FigureGroup, Record<string, number>>> = {}
  for (const [key, value] of now.numbers) {
    const [group, name] = key.split(' ') as [FigureGroup, string]
    const difference = value - (before.numbers.get(key) ?? 0)
    if (difference > 0) (groups[group] ??= {})[name] = difference
  }
  for (const [endpoint, buckets] of now.times) {
    const earlier = before.times.get(endpoint) ?? []
    const ms = percentile99Ms(buckets.map((count, place) => count - (earlier[place] ?? 0)))
    if (ms !== undefined) (groups.p99_ms ??= {})[endpoint] = ms
  }
  const { refusals = {} } = groups
  let counts: FigureCounts = groups
  for (let named = NAMED_REFUSALS; named >= 0; named -= 1) {
    if (Object.keys(refusals).length > named)
      counts = { ...groups, refusals: Object.fromEntries(mostFrequent(Object.entries(refusals), named)) }
    if (JSON.stringify(counts).length <= BYTES) break
  }
  return counts
}

/** The 99th percentile, within its bucket as if the times there were spread evenly. undefined: there was no request. */
function percentile99Ms(buckets: readonly number[]): number | undefined {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total <= 0) return undefined
  const rank = total * 0.99
  let below = 0
  for (const [place, count] of buckets.entries()) {
    const [from, to] = [SECONDS[place - 1] ?? 0, SECONDS[place]]
    if (below + count >= rank && count > 0) {
      const seconds = to === undefined ? from : from + ((to - from) * (rank - below)) / count
      return Math.round(seconds * 10_000) / 10
    }
    below += count
  }
  return undefined
}
