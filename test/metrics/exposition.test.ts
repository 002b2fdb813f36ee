import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newHistogram, observe, openSeries } from '../../src/metrics/counters.ts'
import { renderMetrics } from '../../src/metrics/exposition.ts'
import { FAMILIES, SECONDS, type Family, type Sample } from '../../src/metrics/families.ts'
import { parseScrape } from '../support/scraped.ts'

test('a histogram has the count at or below each bound, the total count and the sum', () => {
  const histogram = newHistogram(SECONDS)
  for (const seconds of [0.0001, 0.001, 0.0011, 4, 60]) observe(histogram, seconds)
  const { buckets, sum } = histogram
  const sample: Sample = { name: 'grantor_request_seconds', labels: ['token'], buckets, sum }
  const { value, text } = parseScrape(renderMetrics([{ worker: undefined, samples: [sample] }]))
  const below = (le: string): number => value('grantor_request_seconds_bucket', { endpoint: 'token', le })
  assert.deepEqual(['0.0005', '0.001', '0.0025', '2.5', '5', '+Inf'].map(below), [1, 2, 3, 3, 4, 5])
  assert.equal(value('grantor_request_seconds_count'), 5)
  assert.equal(value('grantor_request_seconds_sum'), 64.0022)
  assert.match(text, /^# TYPE grantor_request_seconds histogram$/m)
})

test('a label value cannot end its label', () => {
  const labels = ['a"} 1\ngrantor_up 5', 'back\\slash']
  const text = renderMetrics([{ worker: undefined, samples: [{ name: 'grantor_build_info', labels, value: 1 }] }])
  assert.equal(text.split('\n').length, 4)
  assert.ok(text.endsWith('{version="a\\"} 1\\ngrantor_up 5",node="back\\\\slash"} 1\n'))
})

test('each worker has its own series, and metrics of the store have no label worker', () => {
  const samples: readonly Sample[] = [
    { name: 'grantor_up', labels: [], value: 1 },
    { name: 'grantor_grants', labels: ['live'], value: 7 },
  ]
  const { value } = parseScrape(
    renderMetrics([
      { worker: '1', samples },
      { worker: '2', samples: samples.slice(0, 1) },
    ]),
  )
  assert.equal(value('grantor_up', { worker: '1' }), 1)
  assert.equal(value('grantor_up', { worker: '2' }), 1)
  assert.equal(value('grantor_grants', { state: 'live' }), 7)
})

test('a family has at most two thousand series, and counts the rest together', () => {
  const series = openSeries(2, () => ({ value: 0 }))
  for (let number = 0; number < 5000; number += 1) series.at('token', `made-up-${number}`).value += 1
  const entries = series.entries()
  assert.equal(entries.length, 2001)
  assert.deepEqual(entries.at(-1), [['other', 'other'], { value: 3000 }])
  series.at('token', 'made-up-0').value += 1
  assert.equal(entries[0]?.[1].value, 2)
})

test('names and units follow the conventions of Prometheus', () => {
  for (const [name, { type, labels, help }] of Object.entries<Family>(FAMILIES)) {
    assert.match(name, /^(grantor|process|nodejs)_[a-z0-9_]+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    if (type === 'histogram') assert.match(name, /_(seconds|operations)$/)
    assert.ok(!labels.includes('worker') && !labels.includes('le'), name)
    assert.match(help, /^[A-Z].*\.$/)
  }
})
