import type { Server } from 'node:http'
import { FORWARDED_ADDRESS_IGNORED, FORWARDED_ADDRESS_MISSING, type Answered } from '../ports/observers.ts'
import { counterSamples, histogramSamples, newHistogram, observe, openSeries, type Counter } from './counters.ts'
import { SECONDS, type Sample } from './families.ts'

export interface RequestCounters {
  readonly count: (answer: Answered) => void
  readonly answered: () => number
  /** Counts the connections of a server. */
  readonly countConnections: (server: Server) => void
  readonly samples: () => readonly Sample[]
}

/** Counts requests. `endpoints` lists all names, so that each endpoint appears from the first scrape on. */
export function openRequestCounters(endpoints: readonly string[]): RequestCounters {
  const requests = openSeries<Counter>(4, () => ({ value: 0 }))
  const introspections = openSeries<Counter>(2, () => ({ value: 0 }))
  const seconds = openSeries(1, () => newHistogram(SECONDS))
  let answered = 0
  let connections = 0
  let broken = 0
  let dropped = 0
  let ignored = 0
  let unnamed = 0
  for (const active of ['true', 'false']) introspections.at('', active)
  for (const endpoint of [...endpoints, 'none']) seconds.at(endpoint)
  return {
    count({ endpoint, event, reason = '', status, ms, api = '', active }) {
      answered += 1
      requests.at(endpoint, event, reason, String(status)).value += 1
      observe(seconds.at(endpoint), ms / 1000)
      if (active !== undefined) introspections.at(api, String(active)).value += 1
    },
    answered: () => answered,
    countConnections(server) {
      server.on('connection', (socket) => {
        connections += 1
        socket.once('close', () => void (connections -= 1))
      })
      server.on('clientError', () => void (broken += 1))
      server.on('drop', () => void (dropped += 1))
      server.on(FORWARDED_ADDRESS_IGNORED, () => void (ignored += 1))
      server.on(FORWARDED_ADDRESS_MISSING, () => void (unnamed += 1))
    },
    samples: () => [
      ...counterSamples('grantor_requests_total', requests),
      ...histogramSamples('grantor_request_seconds', seconds),
      ...counterSamples('grantor_introspections_total', introspections),
      { name: 'grantor_connections', labels: [], value: connections },
      { name: 'grantor_broken_requests_total', labels: [], value: broken },
      { name: 'grantor_dropped_connections_total', labels: [], value: dropped },
      { name: 'grantor_forwarded_addresses_ignored_total', labels: [], value: ignored },
      { name: 'grantor_forwarded_addresses_missing_total', labels: [], value: unnamed },
    ],
  }
}
