import { accessSync, closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { namesPostgres } from './database-url.ts'
import { checkSecretFile, othersMayRead, type FileFacts } from '../protocol/secret-file.ts'

type Values = Readonly<Record<string, string | undefined>>

/** The content of the file that GRANTOR_CONFIG names, or what is wrong with the file. */
export type ConfigFile =
  | { readonly kind: 'read'; readonly values: Values; readonly warnings: readonly string[] }
  | { readonly kind: 'mistaken'; readonly mistake: string }

/** Reads a file of `NAME=value` lines. `path` is undefined or empty when there is no file. */
export function readConfigFile(path: string | undefined): ConfigFile {
  if (path === undefined || path === '') return { kind: 'read', values: {}, warnings: [] }
  let file: number | undefined
  try {
    // Opened once, so that what is checked is what is read.
    file = openSync(path, 'r')
    return parseFile(path, readFileSync(file, 'utf8'), fstatSync(file))
  } catch (cause) {
    return mistaken(`${path}, which cannot be read: ${(cause as Error).message}`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function parseFile(path: string, text: string, facts: FileFacts): ConfigFile {
  const malformed = text.split('\n').findIndex((line) => !/^\s*(#.*|(export\s+)?[A-Z_][A-Z0-9_]*\s*=.*)?$/.test(line))
  if (malformed !== -1) return mistaken(`${path}, whose line ${malformed + 1} is not NAME=value`)
  const fault = checkSecretFile(path, facts, process.getuid?.(), 'read')
  if (fault !== undefined) return mistaken(`a file that is not safe. ${fault}`)
  const values = parseEnv(text)
  const exposure = exposureOf(path, values, facts)
  if (exposure === undefined) return { kind: 'read', values, warnings: [] }
  if (!isReadOnly(path)) return mistaken(`a file that is not safe. ${exposure}. Run: chmod 600 ${path}`)
  return { kind: 'read', values, warnings: [`${exposure}, and the file is mounted read-only`] }
}

function exposureOf(path: string, values: Values, facts: FileFacts): string | undefined {
  const secrets = Object.entries(values).filter(([name, value = '']) => isSecret(name, value))
  if (!othersMayRead(facts) || secrets.length === 0) return undefined
  const names = secrets.map(([name]) => name).join(', ')
  return `Other users can read ${path}, which contains ${names}`
}

/** Containers get their secrets on read-only mounts, in files that all users of the container can read. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EROFS'
  }
}

function isSecret(name: string, value: string): boolean {
  if (name === 'DATABASE_URL') return namesPostgres(value)
  return name.startsWith('GRANTOR_SECRET') || name === 'OTEL_EXPORTER_OTLP_HEADERS'
}

function mistaken(what: string): ConfigFile {
  return { kind: 'mistaken', mistake: `GRANTOR_CONFIG names ${what}` }
}
