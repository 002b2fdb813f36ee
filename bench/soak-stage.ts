import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createUser } from '../src/admin/users.ts'
import { openRuntime } from '../src/server/server.ts'
import { readConfig } from '../src/config/config.ts'
import { EMAIL, PASSWORD } from '../test/support/flow.ts'
import type { Children } from './children.ts'
import { declareApis } from './codes.ts'
import { startDatabase } from './database.ts'
import { fillPostgres, fillSqlite } from './growth-fill.ts'
import type { SoakOptions } from './soak-options.ts'
import { openSoakDatabase, openSoakFile, type Lifetimes, type SoakStore } from './soak-store.ts'
import { startSubject, type Subject } from './subject.ts'

/** Starts the server of a soak on a database with the rows of weeks of use. */
export interface SoakStage {
  readonly subject: Subject
  readonly store: SoakStore
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

export async function openSoakStage(children: Children, folder: string, options: SoakOptions): Promise<SoakStage> {
  const postgres = options.store === 'postgres' ? await startDatabase(undefined) : undefined
  const path = join(folder, 'grantor.db')
  const url = (await postgres?.open())?.url ?? `sqlite:${path}`
  const secret = randomBytes(32).toString('base64url')
  const own = { ...SETTINGS, DATABASE_URL: url, GRANTOR_SECRET: secret }
  await (await openRuntime(readConfig({ ...own, LOG_LEVEL: 'silent' }))).close()
  const fill = { rows: options.rows, now: Date.now() }
  if (postgres === undefined) fillSqlite(path, fill)
  else await fillPostgres(url, fill)

  const subject = await startSubject(children, {
    folder,
    core: undefined,
    profileFolder: undefined,
    databaseUrl: url,
    workers: 1,
    runtime: undefined,
    settings: own,
  })
  const workshop = await openRuntime(readConfig({ ...subject.settings, LOG_LEVEL: 'silent' }))
  await createUser(workshop.context, { email: EMAIL, password: PASSWORD, name: 'Ada' })
  await declareApis(workshop.context)
  await workshop.close()
  const store = postgres === undefined ? openSoakFile(path) : await openSoakDatabase(url)
  return {
    subject,
    store,
    async close() {
      await store.close()
      await children.end()
      await postgres?.close()
    },
  }
}
