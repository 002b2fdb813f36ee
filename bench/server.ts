import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from '../tools/process/children.ts'
import { freePorts } from '../tools/process/free-ports.ts'
import { openServerProcess, type ServerOptions, type ServerProcess } from '../tools/process/server.ts'

const MAIN = new URL('../src/cli/main.ts', import.meta.url)

export interface BenchServerOptions extends Omit<ServerOptions, 'port' | 'settings'> {
  /** undefined: the server uses a SQLite file in the folder. */
  readonly databaseUrl?: string | undefined
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts the server with default settings. Only the rate limits are higher, because one address sends all requests. */
export async function startServer(options: BenchServerOptions): Promise<ServerProcess> {
  const { folder, databaseUrl = `sqlite:${join(folder, 'grantor.db')}` } = options
  const [port = 0] = await freePorts(1)
  const settings = {
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: 'info',
    GRANTOR_REGISTRATION_RATE: '1000000000',
    GRANTOR_STORED_TOKEN_RATE: '1000000000',
    // Codes are created in advance, so they must not expire before the slice that redeems them.
    GRANTOR_CODE_LIFETIME: '600',
    ...options.settings,
  }
  const server = openServerProcess({ ...options, port, settings })
  await server.start()
  return server
}

/** The folder of a command's log, and the settings of the command. */
interface CommandPlace {
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
  /** The exit codes of a command that did its work; absent: 0. */
  readonly codes?: readonly number[]
}

/** Runs a command of `grantor`, and returns its seconds. @throws Error with its output if it fails */
export async function runCommand(
  { folder, settings, codes = [0] }: CommandPlace,
  words: readonly string[],
): Promise<number> {
  const [name = ''] = words
  const logPath = join(folder, `${name}.log`)
  const startedAt = performance.now()
  const [code] = await once(startChild({ script: MAIN, args: words, env: settings, logPath }), 'exit')
  if (!codes.includes(Number(code)))
    throw new Error(`grantor ${name} ended with ${code}: ${readFileSync(logPath, 'utf8')}`)
  return (performance.now() - startedAt) / 1000
}
