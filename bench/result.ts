import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'

/** The machine of a measurement. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly node: string
  readonly sqlite: string
  readonly grantor: string
}

const ROOT = new URL('../', import.meta.url).pathname
const RESULTS = join(ROOT, 'bench/results')

export function describeMachine(): Machine {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
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

/** Writes a result to bench/results. */
export function saveResult(result: { readonly date: string }, name: string): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, `${result.date}-${name}.json`), `${JSON.stringify(result, rounded, 2)}\n`)
}

/** Keeps counts unchanged and rounds measured values to six digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
}
