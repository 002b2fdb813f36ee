import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** The machine of a measurement. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly node: string
  readonly sqlite: string
  readonly grantor: string
}

export function readMachine(): Machine {
  const page = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(page) as { version: string }
  return {
    processor: cpus()[0]?.model ?? 'unknown processor',
    cores: cpus().length,
    node: process.versions.node,
    sqlite: process.versions['sqlite'] ?? 'unknown',
    grantor: version,
  }
}

/** The date in results and their file names. */
export function today(): string {
  return new Date().toISOString().slice(0, 10)
}

/** The first line of a report. */
export function describeMachine(date = today(), { processor, cores, grantor, node } = readMachine()): string {
  return `${date} · ${processor}, ${cores} cores · Grantor ${grantor} · Node.js ${node}`
}

/** The databases and their durability, for the first line of a report. */
export function describeStore(store: 'sqlite' | 'postgres', { sqlite }: Machine): string {
  return store === 'sqlite' ? `SQLite ${sqlite}, synchronous = full` : 'PostgreSQL, fsync and synchronous_commit on'
}
