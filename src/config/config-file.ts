import { readFileSync, statSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { namesPostgres } from './database-url.ts'
import { checkSecretFile, othersMayRead, type FileFacts } from '../protocol/secret-file.ts'

type Values = Readonly<Record<string, string | undefined>>

/** The file that GRANTOR_CONFIG names. */
export type ConfigFile =
  | { readonly kind: 'read'; readonly values: Values; readonly warnings: readonly string[] }
  | { readonly kind: 'mistaken'; readonly mistake: string }

/** Reads `NAME=value` lines. `path` is undefined or empty where no file is named. */
export function readConfigFile(path: string | undefined): ConfigFile {
  if (path === undefined || path === '') return { kind: 'read', values: {}, warnings: [] }
  try {
    return judge(path, readFileSync(path, 'utf8'), statSync(path))
  } catch (cause) {
    return mistaken(`${path}, which cannot be read: ${(cause as Error).message}`)
  }
}

function judge(path: string, text: string, facts: FileFacts): ConfigFile {
  const odd = text.split('\n').findIndex((line) => !/^\s*(#.*|(export\s+)?[A-Z_][A-Z0-9_]*\s*=.*)?$/.test(line))
  if (odd !== -1) return mistaken(`${path}, whose line ${odd + 1} is not NAME=value`)
  const fault = checkSecretFile(path, facts, process.getuid?.(), 'read')
  if (fault !== undefined) return mistaken(`a file that is not safe. ${fault}`)
  const values = parseEnv(text)
  return { kind: 'read', values, warnings: exposureOf(path, values, facts) }
}

/** Containers get their secrets in files that every user of them may read and none may write, so this is no mistake. */
function exposureOf(path: string, values: Values, facts: FileFacts): readonly string[] {
  const secrets = Object.entries(values).filter(([name, value = '']) => isSecret(name, value))
  if (!othersMayRead(facts) || secrets.length === 0) return []
  const names = secrets.map(([name]) => name).join(', ')
  return [`Others may read ${path}, which has ${names}. Unless it is mounted so, run: chmod 600 ${path}`]
}

function isSecret(name: string, value: string): boolean {
  if (name === 'DATABASE_URL') return namesPostgres(value)
  return name === 'GRANTOR_SECRET' || name === 'OTEL_EXPORTER_OTLP_HEADERS'
}

function mistaken(what: string): ConfigFile {
  return { kind: 'mistaken', mistake: `GRANTOR_CONFIG names ${what}` }
}
