import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answered } from '../../src/ports/observers.ts'
import { countsBetween, readFigures } from '../../src/metrics/figures.ts'
import { openMetrics } from '../../src/metrics/metrics.ts'
import { OFFERED_GRANT_TYPES } from '../../src/protocol/token/grant-types.ts'
import { REFUSALS } from '../../src/protocol/refusals.ts'

const ANSWERED = {
  endpoint: 'token',
  event: 'token.issued',
  reason: undefined,
  status: 200,
  ms: 1,
  method: 'POST',
  path: '',
}

/** Counts requests, and returns a function for what was counted since its last call. */
function openCounted() {
  const metrics = openMetrics('1', ['token', 'authorize'])
  metrics.close()
  let before = readFigures(metrics.count())
  return {
    count: (answer: Partial<Answered>) => metrics.countRequest({ ...ANSWERED, ...answer } as Answered),
    take: () => {
      const now = readFigures(metrics.count())
      const counts = countsBetween(before, now)
      before = now
      return counts
    },
  }
}

test('figures are differences of the counters, without what did not happen', () => {
  const { count, take } = openCounted()
  assert.deepEqual(take(), {})
  for (const reason of ['refresh_token', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'])
    count({ reason })
  count({ endpoint: 'register', event: 'client.registered', status: 201 })
  count({ event: 'request.refused', reason: 'scope_not_allowed', status: 400 })
  count({ endpoint: 'sign-in', event: 'sign-in.refused', reason: 'throttled', status: 429 })
  count({ endpoint: 'authorize', event: 'authorize.answered', status: 503, ms: 100_000 })
  count({ endpoint: 'ready', event: 'request.refused', reason: 'store_unavailable', status: 503 })
  const { p99_ms: times, ...counts } = take()
  assert.deepEqual(counts, {
    tokens: { refresh_token: 2, device_code: 1 },
    registrations: { registration: 1 },
    refusals: { scope_not_allowed: 1, throttled: 1 },
    events: { scope_refused: 1, sign_in_failed: 1, too_many: 1, failed: 1 },
  })
  assert.deepEqual(times, { token: 1, authorize: 5000 }, 'a time beyond all buckets is that of the last one')
  count({ reason: 'refresh_token' })
  assert.deepEqual(take().tokens, { refresh_token: 1 })
})

test('the 99th percentile is that of the requests since the last figures', () => {
  const { count, take } = openCounted()
  for (let index = 0; index < 100; index += 1) count({ ms: 900 })
  assert.equal(take().p99_ms?.['token'], 995)
  for (let index = 0; index < 200; index += 1) count({ ms: index < 2 ? 900 : 2 })
  assert.equal(take().p99_ms?.['token'], 2.5)
})

test('a row names the eight most frequent refusals and has at most 1 KB, whatever was counted', () => {
  const { count, take } = openCounted()
  const reasons = Object.values(REFUSALS).flatMap(({ reasons: some }) => Object.keys(some))
  for (const [index, reason] of reasons.entries())
    for (let times = 0; times <= index; times += 1) count({ event: 'request.refused', reason, status: 400 })
  const { refusals = {} } = take()
  assert.deepEqual(Object.keys(refusals), [...reasons.toReversed().slice(0, 8), 'other'])
  assert.equal(
    Object.values(refusals).reduce((sum, value) => sum + value, 0),
    (reasons.length * (reasons.length + 1)) / 2,
  )
  const many = 10 ** 15
  const longest = reasons.toSorted((left, right) => right.length - left.length).slice(0, 20)
  const samples = [
    ...OFFERED_GRANT_TYPES.map((reason) => ['token', 'token.issued', reason, '200']),
    ...longest.map((reason) => ['token', 'sign-in.refused', reason, '503']),
  ].map((labels) => ({ name: 'grantor_requests_total', labels, value: many }) as const)
  const counts = countsBetween(readFigures([]), readFigures(samples))
  assert.ok(JSON.stringify(counts).length <= 1024, JSON.stringify(counts))
  assert.equal(counts.tokens?.['jwt-bearer'], many)
})
