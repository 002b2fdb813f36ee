import { join } from 'node:path'
import { freePorts } from '../tools/free-ports.ts'
import { openServerProcess, type ServerOptions, type ServerProcess } from '../tools/server-process.ts'

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
