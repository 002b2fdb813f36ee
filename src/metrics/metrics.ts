import type { Server } from 'node:http'
import type { Answered, StoreObserver } from '../ports/observers.ts'
import type { RowCounts } from './row-counts.ts'
import type { Sample } from './families.ts'
import { watchProcess } from './process-samples.ts'
import { openRequestCounters } from './request-counters.ts'
import { openStoreCounters } from './store-counters.ts'

/** What this process counts. */
export interface Metrics {
  readonly countRequest: (answer: Answered) => void
  readonly storeObserver: Omit<StoreObserver, 'mark'>
  /** Counts the connections of a server. */
  readonly watch: (server: Server) => void
  /** Everything at this moment; with what stands in the store, when there is a census. */
  readonly sample: (census: RowCounts | undefined) => Promise<readonly Sample[]>
  readonly close: () => void
}

/** Plain numbers in memory, read when somebody scrapes. */
export function openMetrics(version: string, endpoints: readonly string[]): Metrics {
  const requests = openRequestCounters(endpoints)
  const store = openStoreCounters()
  const processWatch = watchProcess()
  const constant: readonly Sample[] = [
    { name: 'grantor_build_info', labels: [version, process.version], value: 1 },
    { name: 'grantor_up', labels: [], value: 1 },
  ]
  return {
    countRequest: requests.count,
    storeObserver: store.observer,
    watch: requests.watch,
    async sample(census) {
      const kept = (await census?.sample()) ?? []
      return [...requests.samples(), ...store.samples(), ...kept, ...constant, ...processWatch.sample()]
    },
    close: processWatch.close,
  }
}
