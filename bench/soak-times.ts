import type { EndpointTimes, SoakInterval } from './soak-order.ts'
import { quantile } from './statistics.ts'

/** Collects the durations of requests and the faults of answers. */
export interface SoakTimes {
  readonly answered: (name: string, ms: number) => void
  readonly failed: (reason: string) => void
  /** All durations since the last call. */
  readonly take: () => SoakInterval
}

/** The most failures whose description is kept. */
const DISPLAY_TEXT_LIMIT = 20

export function openSoakTimes(): SoakTimes {
  let times = new Map<string, number[]>()
  let failed = 0
  const failures: string[] = []
  let cpu = process.cpuUsage()
  return {
    answered(name, ms) {
      const known = times.get(name)
      if (known === undefined) times.set(name, [ms])
      else known.push(ms)
    },
    failed(reason) {
      failed += 1
      if (failures.length < DISPLAY_TEXT_LIMIT) failures.push(reason)
    },
    take() {
      const endpoints = [...times].map(([name, list]) => describe(name, list))
      const { user, system } = process.cpuUsage(cpu)
      times = new Map()
      cpu = process.cpuUsage()
      return { endpoints, failed, failures: [...failures], generatorCpuMs: (user + system) / 1000 }
    },
  }
}

function describe(name: string, list: readonly number[]): EndpointTimes {
  const worstMs = list.reduce((worst, ms) => Math.max(worst, ms), 0)
  return { name, count: list.length, p50Ms: quantile(list, 0.5), p99Ms: quantile(list, 0.99), worstMs }
}
