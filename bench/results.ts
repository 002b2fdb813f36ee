import { writeFileSync } from 'node:fs'

/** The folder of kept results, from which `npm run bench render` generates a page. */
export const RESULTS = new URL('./results/', import.meta.url)

/** Writes a result to bench/results, if it has a name. */
export function saveResult(result: { readonly date: string }, name: string | undefined): void {
  if (name === undefined) return
  writeFileSync(new URL(`${result.date}-${name}.json`, RESULTS), `${JSON.stringify(result, rounded, 2)}\n`)
}

/** Keeps counts unchanged and rounds measured values to six digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
}
