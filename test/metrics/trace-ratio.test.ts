import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestServer } from '../support/server.ts'
import { openCollector } from './collector.ts'

const PARENT = '00f067aa0ba902b7'
/** The lowest trace id: a sampler that decides by the id samples it at any ratio. */
const CHOSEN = `${'0'.repeat(31)}1`

test('a caller that chooses a trace id causes no more spans than the configured ratio', async (t) => {
  const collector = await openCollector(t)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, GRANTOR_TRACE_RATIO: '0.2' }
  const server = await openTestServer(t, { env })
  const headers = { traceparent: `00-${CHOSEN}-${PARENT}-01` }
  for (let request = 0; request < 400; request += 1) await server.inject({ method: 'GET', url: '/version', headers })
  await server.close()
  const sent = collector.spans.filter(({ traceId }) => traceId === CHOSEN).length
  // 80 are expected; one in a billion runs has so many more or fewer.
  assert.ok(sent > 30 && sent < 135, String(sent))
})
