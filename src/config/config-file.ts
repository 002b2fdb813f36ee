import { parseEnv } from 'node:util'
import { namesPostgres } from './database-url.ts'
import { readGuardedFile, type GuardedFile } from '../files/guarded-file.ts'
import { SECRET_SETTINGS } from './schema.ts'

type Values = Readonly<Record<string, string | undefined>>

/** The content of the file that GRANTOR_CONFIG names, or what is wrong with the file. */
export type ConfigFile =
  | { readonly kind: 'read'; readonly values: Values; readonly warnings: readonly string[] }
  | { readonly kind: 'mistaken'; readonly mistake: string }

/** Reads a file of `NAME=value` lines. `path` is undefined or empty when there is no file. */
export function readConfigFile(path: string | undefined): ConfigFile {
  if (path === undefined || path === '') return { kind: 'read', values: {}, warnings: [] }
  try {
    return parseFile(path, readGuardedFile(path))
  } catch (cause) {
    return mistaken(`${path}, which cannot be read: ${(cause as Error).message}`)
  }
}

function parseFile(path: string, { text, fault, exposure, remedy }: GuardedFile): ConfigFile {
  const malformed = text.split('\n').findIndex((line) => !/^\s*(#.*|(export\s+)?[A-Z_][A-Z0-9_]*\s*=.*)?$/.test(line))
  if (malformed !== -1) return mistaken(`${path}, whose line ${malformed + 1} is not NAME=value`)
  const cut = text.split('\n').findIndex((line) => /^[^#=]*=\s*#\S/.test(line))
  if (cut !== -1) return mistaken(`${path}, whose line ${cut + 1} has a value that begins with #: write it in quotes`)
  if (fault !== undefined) return mistaken(`a file that is not safe. ${fault}`)
  const values = parseEnv(text)
  const unread = Object.keys(values).find((name) => /^(NODE|SSL)_/.test(name))
  if (unread !== undefined)
    return mistaken(`${path}, where ${unread} has no effect: Node.js reads it from the environment when it starts`)
  const secrets = Object.entries(values).filter(([name, value = '']) => isSecret(name, value))
  if (exposure === 'none' || secrets.length === 0) return { kind: 'read', values, warnings: [] }
  const exposed = `Other users can read ${path}, which contains ${secrets.map(([name]) => name).join(', ')}`
  if (exposure === 'fault') return mistaken(`a file that is not safe. ${exposed}. Run: ${remedy}`)
  return { kind: 'read', values, warnings: [`${exposed}, and the file is mounted read-only`] }
}

function isSecret(name: string, value: string): boolean {
  return SECRET_SETTINGS.includes(name) && (name !== 'DATABASE_URL' || namesPostgres(value))
}

function mistaken(what: string): ConfigFile {
  return { kind: 'mistaken', mistake: `GRANTOR_CONFIG names ${what}` }
}
