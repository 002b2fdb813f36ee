import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { locationOf } from '../config/database-url.ts'
import { readRootSecret, rootSecretPath } from '../keys/root-secret.ts'
import type { SecretInspection, StoreInspection } from '../ports/inspection.ts'
import type { Store, StoreDriver } from '../ports/store.ts'
import { openSecrets, type Secrets } from '../protocol/secrets.ts'
import type { Chains } from '../audit/chain.ts'
import type { SchemaState } from '../store/migrations.ts'

/** The process that opens the store: a server with many concurrent requests, or a command that runs and ends. */
export type StoreUser = 'server' | 'command'

/** How long a commit waits for another process that holds SQLite's lock. A request cannot wait long; a command can. */
const LOCK_TIMEOUT_MS = { server: 200, command: 10_000 } as const
/** Connections to PostgreSQL. A few busy connections cost less than many idle ones. */
const CONNECTIONS = { server: 4, command: 1 } as const

/** How long opening waits for a PostgreSQL that is not reachable yet. */
const START_TIMEOUT_MS = { server: 60_000, command: 0 } as const

/**
 * Opens the driver of the configured database, after its migrations. The other driver is not even loaded. `onWaiting` is called
 * after each failed attempt to reach the database.
 */
export async function openDriver(
  { database }: Config,
  user: StoreUser,
  onWaiting: (cause: unknown) => void,
  audit: Chains,
): Promise<StoreDriver> {
  if (database.kind === 'postgres') {
    const [{ openPostgresStore }, { whenReachable }] = await Promise.all([
      import('../store/postgres/store.ts'),
      import('../store/postgres/when-reachable.ts'),
    ])
    const options = { url: database.url, connections: CONNECTIONS[user], audit }
    return whenReachable(START_TIMEOUT_MS[user], () => openPostgresStore(options), onWaiting)
  }
  const { openSqliteStore } = await import('../store/sqlite/store.ts')
  const checkpoints = user === 'server' ? 'worker' : 'inline'
  return openSqliteStore({ path: database.path, patienceMs: LOCK_TIMEOUT_MS[user], checkpoints, audit })
}

/** Reads the root secret. Beside a SQLite file, the secret is created if it is missing. */
export function openRootSecret({ secret, database }: Config): Secrets {
  return openSecrets(secret ?? readRootSecret(secretPath(database)))
}

/** Throws if the store belongs to another root secret, under which every credential would look forged (decision 0003). */
export async function refuseOtherSecret(store: Store, secrets: Secrets, config: Config): Promise<void> {
  const check = secrets.digest('store-check', [])
  if ((await store.insertSettingOnce({ name: 'secret-check', value: check })) === check) return
  throw new Error(
    `This database was made under another root secret than the one in ${secretLocation(config)}. Put the right one there.`,
  )
}

/** Returns the applied migrations and those that this release would add. Changes nothing. */
export async function readSchema({ database }: Config): Promise<SchemaState> {
  if (database.kind === 'postgres') {
    const { readPostgresSchema } = await import('../store/postgres/migrate-at.ts')
    return readPostgresSchema(database.url)
  }
  const { readSqliteSchema } = await import('../store/sqlite/migrate.ts')
  return readSqliteSchema(database.path)
}

/** Inspects everything that is stored, for `grantor doctor`. Changes nothing. */
export async function inspectStore(config: Config): Promise<StoreInspection> {
  const { database: choice } = config
  const { inspectKey } = await import('../keys/inspect-keys.ts')
  const { database, keys } = await inspectStored(choice)
  const { secrets, inspection } = inspectSecret(config, database.kind === 'opened' ? database.secretCheck : undefined)
  return {
    location: locationOf(choice),
    secretLocation: secretLocation(config),
    database,
    secret: inspection,
    keys: secrets === undefined ? [] : keys.map((key) => inspectKey(key, secrets.encryptionKey)),
  }
}

async function inspectStored(choice: Config['database']) {
  if (choice.kind === 'postgres') return (await import('../store/postgres/inspect.ts')).inspectPostgres(choice.url)
  return (await import('../store/sqlite/inspect.ts')).inspectDatabase(choice.path)
}

function inspectSecret(config: Config, check: string | undefined): { secrets?: Secrets; inspection: SecretInspection } {
  // Reading the secret would create it.
  if (config.secret === undefined && !existsSync(secretPath(config.database))) {
    return { inspection: { kind: check === undefined ? 'unused' : 'missing' } }
  }
  try {
    const secrets = openRootSecret(config)
    if (check === undefined) return { secrets, inspection: { kind: 'unused' } }
    return { secrets, inspection: { kind: secrets.digest('store-check', []) === check ? 'matches' : 'differs' } }
  } catch (cause) {
    return { inspection: { kind: 'unusable', reason: (cause as Error).message } }
  }
}

function secretLocation({ secret, database }: Config): string {
  return secret === undefined ? secretPath(database) : 'GRANTOR_SECRET'
}

function secretPath(database: Config['database']): string {
  // The configuration rejects PostgreSQL without a secret already, because nodes share no file.
  if (database.kind === 'postgres') throw new Error('GRANTOR_SECRET must be set with PostgreSQL.')
  return rootSecretPath(database.path)
}
