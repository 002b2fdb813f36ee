import { parseEnv } from 'node:util'
import { namesPostgres } from './database-url.ts'
import { readGuardedFile, type GuardedFile } from '../files/guarded-file.ts'
import { SECRET_SETTINGS } from './schema.ts'

type Values = Readonly<Record<string, string | undefined>>

/** The content of the file that GRANTOR_CONFIG names, and all that is wrong with the file. */
export interface ConfigFile {
  /** undefined: the file cannot be read, so that nothing is known of its settings. */
  readonly values: Values | undefined
  readonly mistakes: readonly string[]
  readonly warnings: readonly string[]
}

/** Reads a file of `NAME=value` lines. `path` is undefined or empty when there is no file. */
export function readConfigFile(path: string | undefined): ConfigFile {
  if (path === undefined || path === '') return { values: {}, mistakes: [], warnings: [] }
  try {
    const { values, faults, warnings } = parseFile(path, readGuardedFile(path))
    return { values, mistakes: faults.map(mistakeOf), warnings }
  } catch (cause) {
    const mistakes = [mistakeOf(`${path}, which cannot be read: ${(cause as Error).message}`)]
    return { values: undefined, mistakes, warnings: [] }
  }
}

function mistakeOf(fault: string): string {
  return `GRANTOR_CONFIG names ${fault}`
}

function parseFile(path: string, { text, fault, exposure, remedy }: GuardedFile) {
  const faults: string[] = []
  const warnings: string[] = []
  const lineOf = (isWrong: (line: string) => boolean): number => text.split('\n').findIndex(isWrong) + 1
  const malformed = lineOf((line) => !/^\s*(#.*|(export\s+)?[A-Z_][A-Z0-9_]*\s*=.*)?$/.test(line))
  if (malformed > 0) faults.push(`${path}, whose line ${malformed} is not NAME=value`)
  const cut = lineOf((line) => /^[^#=]*=\s*#\S/.test(line))
  if (cut > 0) faults.push(`${path}, whose line ${cut} has a value that begins with #: write it in quotes`)
  if (fault !== undefined) faults.push(`a file that is not safe. ${fault}`)
  const values = parseEnv(text)
  const unread = Object.keys(values).find((name) => /^(NODE|SSL)_/.test(name))
  if (unread !== undefined)
    faults.push(`${path}, where ${unread} has no effect: Node.js reads it from the environment when it starts`)
  const secrets = Object.entries(values).filter(([name, value = '']) => isSecret(name, value))
  if (exposure !== 'none' && secrets.length > 0) {
    const exposed = `Other users can read ${path}, which contains ${secrets.map(([name]) => name).join(', ')}`
    if (exposure === 'fault') faults.push(`a file that is not safe. ${exposed}. Run: ${remedy}`)
    else warnings.push(`${exposed}, and the file is mounted read-only`)
  }
  return { values, faults, warnings }
}

function isSecret(name: string, value: string): boolean {
  return SECRET_SETTINGS.includes(name) && (name !== 'DATABASE_URL' || namesPostgres(value))
}
