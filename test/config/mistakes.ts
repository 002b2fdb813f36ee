import assert from 'node:assert/strict'
import { ConfigError, readConfig } from '../../src/config/config.ts'

/** The mistakes of a configuration; none if it is valid. */
export function mistakesOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(environment)
  } catch (cause) {
    assert.ok(cause instanceof ConfigError)
    return cause.mistakes
  }
  return []
}
