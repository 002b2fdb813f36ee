import { summarizeTimes, type Times } from '../../tools/statistics.ts'

/** The results since the previous reading. */
export interface SoakInterval {
  readonly endpoints: readonly EndpointTimes[]
  /** The number of failures since the start. */
  readonly failed: number
  /** Descriptions of the first of them. */
  readonly failures: readonly string[]
  readonly generatorCpuMs: number
}

export interface EndpointTimes extends Times {
  readonly name: string
}

/** Collects the durations of requests and the faults of answers. */
export interface SoakCounts {
  readonly addAnswer: (name: string, ms: number) => void
  readonly addFailure: (reason: string) => void
  /** Returns the results since the last call. */
  readonly take: () => SoakInterval
}

/** The most failures whose description is kept. */
const FAILURE_TEXT_LIMIT = 20

export function openSoakCounts(): SoakCounts {
  let durations = new Map<string, number[]>()
  let failed = 0
  const failures: string[] = []
  let cpu = process.cpuUsage()
  return {
    addAnswer(name, ms) {
      const known = durations.get(name)
      if (known === undefined) durations.set(name, [ms])
      else known.push(ms)
    },
    addFailure(reason) {
      failed += 1
      if (failures.length < FAILURE_TEXT_LIMIT) failures.push(reason)
    },
    take() {
      const endpoints = [...durations].map(([name, list]) => ({ name, ...summarizeTimes(list) }))
      const { user, system } = process.cpuUsage(cpu)
      durations = new Map()
      cpu = process.cpuUsage()
      return { endpoints, failed, failures: [...failures], generatorCpuMs: (user + system) / 1000 }
    },
  }
}
