import { cpus } from 'node:os'

/** Exits properly at Ctrl-C and SIGTERM, so that all child processes end with this process. */
export function stopOnSignal(): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => process.exit(code))
  }
}

export function describeMachine(): string {
  const processors = cpus()
  const model = processors[0]?.model ?? 'unknown processor'
  return `${new Date().toISOString().slice(0, 10)} · ${model}, ${processors.length} cores · Node.js ${process.versions.node}`
}

/** Parses an option that is a whole number of at least 1. @throws Error if it is not */
export function readWhole(name: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new Error(`--${name} takes a whole number, 1 or more.`)
}
