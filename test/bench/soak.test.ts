import assert from 'node:assert/strict'
import { test } from 'node:test'
import { summarizeSoak, type SoakSample } from '../../bench/soak/report.ts'
import { MIX } from '../../bench/soak/session.ts'

test('the mix has a hundred steps', () => {
  assert.equal(
    Object.values(MIX).reduce((sum, share) => sum + share, 0),
    100,
  )
})

test('the summary of a soak names its worst request and its largest log', () => {
  const samples = [4, 4, 4, 4, 4, 4, 5, 5].map((cpuMicros, index): SoakSample => {
    const at = (index + 1) * 10
    return {
      at,
      seconds: 10,
      endpoints: [{ name: 'refresh', count: 1000, p50Ms: 1, p99Ms: 2, worstMs: index === 3 ? 70 : 9 }],
      cpuMicros,
      residentMegabytes: 100 + at / 3600,
      logMegabytes: index,
      databaseMegabytes: 1,
      generatorShare: 0.2,
    }
  })
  const { residentMegabytesPerHour, ...rest } = summarizeSoak(samples)
  assert.deepEqual(rest, {
    requests: 8000,
    requestsPerSecond: 100,
    rateDrift: 1,
    cpuDrift: 1.25,
    worst: { name: 'refresh', ms: 70, at: 40 },
    logMegabytes: 7,
  })
  assert.ok(Math.abs(residentMegabytesPerHour - 1) < 1e-6)
})
