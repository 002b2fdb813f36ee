import { cpus } from 'node:os'

/** Ends in order at Ctrl-C and at SIGTERM, so that everything that was started ends with us. */
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

/** An option that is a whole number, 1 or more. @throws Error if it is none */
export function readWhole(name: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new Error(`--${name} takes a whole number, 1 or more.`)
}
