import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { FamilyName, Sample } from './families.ts'

/** How often the delay of the event loop is measured. */
const RESOLUTION_MS = 20

/** Metrics of the process itself. */
export interface ProcessSampler {
  /** Returns the current values, and starts a new measurement of the event loop delay. */
  readonly sample: () => readonly Sample[]
  readonly close: () => void
}

export function openProcessSampler(): ProcessSampler {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  return {
    sample() {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed } = process.memoryUsage()
      // In the first milliseconds nothing has been measured yet.
      const lag = (nanoseconds: number): number =>
        delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
      const samples = [
        one('process_cpu_user_seconds_total', user / 1e6),
        one('process_cpu_system_seconds_total', system / 1e6),
        one('process_resident_memory_bytes', rss),
        one('process_start_time_seconds', performance.timeOrigin / 1000),
        one('nodejs_heap_size_used_bytes', heapUsed),
        one('nodejs_eventloop_lag_mean_seconds', lag(delay.mean)),
        one('nodejs_eventloop_lag_p99_seconds', lag(delay.percentile(99))),
        one('nodejs_eventloop_lag_max_seconds', lag(delay.max)),
        one('nodejs_eventloop_busy_seconds_total', performance.eventLoopUtilization().active / 1000),
      ]
      delay.reset()
      return samples
    },
    close: () => void delay.disable(),
  }
}

function one(name: FamilyName, value: number): Sample {
  return { name, labels: [], value }
}
