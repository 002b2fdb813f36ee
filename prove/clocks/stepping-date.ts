import { readFileSync } from 'node:fs'

/**
 * Loaded before the server. Its wall clock is ahead by the current number of milliseconds in a file, so it can be set while the
 * process runs. The monotonic clock is unchanged, as in a real step.
 */
const RealDate = Date
const file = process.env['CLOCK_FILE'] ?? ''

function now(): number {
  return RealDate.now() + Number(readFileSync(file, 'utf8'))
}

globalThis.Date = class extends RealDate {
  constructor(...values: ConstructorParameters<typeof RealDate> | []) {
    if (values.length === 0) super(now())
    else super(...values)
  }

  static override now(): number {
    return now()
  }
} as DateConstructor
