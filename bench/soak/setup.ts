import { join } from 'node:path'
import { startDatabase } from '../../tools/postgres/database.ts'
import { openReader, type DatabaseReader } from '../../tools/postgres/database-reader.ts'
import { stopChildren } from '../../tools/process/children.ts'
import { addUser, openStoreOf } from '../../tools/runtime.ts'
import { newSecret, type ServerProcess } from '../../tools/process/server.ts'
import { declareApis } from '../codes.ts'
import { fillPostgres, fillSqlite } from '../growth/fill.ts'
import { startServer } from '../server.ts'
import type { SoakOptions } from './options.ts'
import type { Lifetimes } from './rows.ts'

/** The server of a soak on a database with the rows of weeks of use. */
export interface SoakSetup {
  readonly server: ServerProcess
  readonly reader: DatabaseReader
  readonly close: () => Promise<void>
}

/** Settings with which rows expire and are swept within minutes. There are no settings for redeemed codes (a day) and the audit (whole hours). */
export const LIFETIMES: Lifetimes = { unusedClient: 60, auditRetention: 1 }
export const SESSION_SECONDS = 150
const SETTINGS = {
  GRANTOR_AUTHORIZATION_RATE: '1000000000',
  GRANTOR_CODE_LIFETIME: '30',
  GRANTOR_AUTHORIZATION_LIFETIME: '60',
  GRANTOR_ACCESS_TOKEN_LIFETIME: '60',
  GRANTOR_REFRESH_IDLE_LIFETIME: '90',
  GRANTOR_REFRESH_ABSOLUTE_LIFETIME: '120',
  GRANTOR_SESSION_LIFETIME: String(SESSION_SECONDS),
  GRANTOR_UNUSED_CLIENT_LIFETIME: String(LIFETIMES.unusedClient),
  GRANTOR_AUDIT_RETENTION: String(LIFETIMES.auditRetention),
  // The server does not rotate keys, because the soak changes the signing key itself.
  GRANTOR_KEY_ROTATION: '0',
}

export async function openSetup(folder: string, { store, rows }: SoakOptions): Promise<SoakSetup> {
  const postgres = store === 'postgres' ? await startDatabase(undefined) : undefined
  const path = join(folder, 'grantor.db')
  const database = await postgres?.open()
  const databaseUrl = database?.url ?? `sqlite:${path}`
  const settings = { ...SETTINGS, DATABASE_URL: databaseUrl, GRANTOR_SECRET: newSecret() }
  await (await openStoreOf(settings)).close()
  const fill = { rows, now: Date.now() }
  if (postgres === undefined) fillSqlite(path, fill)
  else await fillPostgres(databaseUrl, fill)
  const server = await startServer({ folder, databaseUrl, settings })
  await addUser(server.settings, declareApis)
  const reader = await openReader(database?.adminUrl ?? databaseUrl)
  return {
    server,
    reader,
    async close() {
      await reader.close()
      await stopChildren()
      await postgres?.close()
    },
  }
}
