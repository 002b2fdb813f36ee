import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passesGate } from '../../bench/throughput/report.ts'

test('a gate must be reached by rate and by processor time', () => {
  assert.ok(passesGate({ ratio: 0.25, cpuRatio: 0.25, gate: 0.25 }))
  assert.ok(!passesGate({ ratio: 0.249, cpuRatio: 0.3, gate: 0.25 }))
  assert.ok(!passesGate({ ratio: 0.53, cpuRatio: 0.17, gate: 0.25 }))
})

test('without processor times the rate decides, and an endpoint without a gate passes', () => {
  assert.ok(passesGate({ ratio: 0.3, cpuRatio: undefined, gate: 0.25 }))
  assert.ok(passesGate({ ratio: 0.01, cpuRatio: 0.01, gate: undefined }))
})
