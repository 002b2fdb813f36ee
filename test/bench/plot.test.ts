import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Measurement } from '../../bench/throughput/measure.ts'
import { plotRatios } from '../../bench/throughput/plot.ts'

function measured(endpoint: string, server: string, ratio: number): Measurement {
  return { endpoint, server, ratio, connections: 64, subject: { best: ratio * 1000 } } as Measurement
}

test('every measurement has a bar as long as its ratio, and text is escaped', () => {
  const svg = plotRatios('A & B', 'on a machine', [
    measured('refresh', 'SQLite', 0.2),
    measured('refresh', '<other>', 0.1),
    measured('code', 'SQLite', 0.05),
  ])
  const widths = [...svg.matchAll(/<rect [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width))
  assert.deepEqual(widths, [420, 210, 105])
  assert.match(svg, /A &amp; B/)
  assert.match(svg, /&lt;other>/)
  assert.ok(!svg.includes('<other>'))
})
