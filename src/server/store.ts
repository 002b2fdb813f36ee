import { withIssuer, writtenSetting, type Config } from '../config/config.ts'
import { locationOf } from '../config/database-url.ts'
import {
  createMasterKey,
  masterKeyCheck,
  unlockMasterKey,
  wrapMasterKey,
  type RootSecrets,
  type UnlockedMasterKey,
} from '../keys/master-key.ts'
import { readPreviousSecret, readRootSecret, rootSecretPath } from '../keys/root-secret.ts'
import type { StoredMasterKey } from '../ports/records/key.ts'
import type { Random } from '../protocol/ids.ts'
import type { Context } from '../ports/context.ts'
import type { Log } from './log.ts'
import type { Store, StoreDriver } from '../ports/store.ts'
import type { Secrets } from '../protocol/secrets.ts'
import type { Chains } from '../audit/chain.ts'
import { namesIssuer } from '../protocol/token/resource.ts'
import { isCompatibleIssuer } from '../protocol/uri/loopback.ts'
import type { SchemaState } from '../store/migrations.ts'
import { ISSUER, MASTER_KEY, MASTER_KEY_CHECK } from '../store/nouns/server/settings.ts'
import { forShell } from '../base/shell.ts'

/** The process that opens the store: a server with many concurrent requests, or a command that runs and ends. */
export type StoreUser = 'server' | 'command'

/** Connections to PostgreSQL. A few busy connections cost less than many idle ones. */
const CONNECTIONS = { server: 4, command: 1 } as const

const WATCH_INTERVAL_MS = 1000

/** How long opening waits for a PostgreSQL that is not reachable yet. */
const START_TIMEOUT_MS = { server: 60_000, command: 0 } as const

/**
 * Opens the driver of the configured database, after its migrations. The other driver is not even loaded. `onWaiting` is called
 * after each failed attempt to reach the database.
 */
export async function openDriver(
  config: Config,
  user: StoreUser,
  onWaiting: (cause: unknown) => void,
  audit: Chains,
): Promise<StoreDriver> {
  const { database } = config
  if (database.kind === 'postgres') {
    const [{ openPostgresStore }, { whenReachable }] = await Promise.all([
      import('../store/postgres/store.ts'),
      import('../store/postgres/connection/when-reachable.ts'),
    ])
    const options = { url: database.url, connections: CONNECTIONS[user], audit }
    return whenReachable(START_TIMEOUT_MS[user], () => openPostgresStore(options), onWaiting)
  }
  const { openSqlite } = await import('./sqlite.ts')
  return openSqlite(config, database.path, user, audit)
}

/** Reads the root secrets. Beside a SQLite file, the secret is created if it is missing. */
export function readRootSecrets({ secret, previousSecret, database }: Config): RootSecrets {
  if (secret !== undefined) return { current: secret, previous: previousSecret }
  const path = secretPath(database)
  return { current: readRootSecret(path), previous: readPreviousSecret(path) ?? previousSecret }
}

/** Returns the root secret that opens this master key, for a backup with the secret. */
export function readSecretOf(config: Config, stored: StoredMasterKey): string {
  const unlocked = unlockMasterKey(stored, readRootSecrets(config))
  if (unlocked !== undefined) return unlocked.rootSecret
  throw new Error('The root secret is being changed. Make the backup again when it was changed.')
}

/**
 * Opens the secrets of the store, and creates the master key of a new store. Throws if the store belongs to another root
 * secret, under which every credential would look forged (decision 0003).
 */
export async function openStoredSecrets(
  store: Pick<Store, 'findMasterKey' | 'insertSettingOnce'>,
  config: Config,
  random: Random,
): Promise<Secrets> {
  // The second attempt is for a process that starts while the root secret is being changed: it may have read one of the two
  // before the change and the other after it.
  const unlocked = (await unlockStore(store, config, random)) ?? (await unlockStore(store, config, random))
  if (unlocked !== undefined) return unlocked.secrets
  throw new Error(
    `This database was made under another root secret than the one in ${secretLocation(config)}. Put the right one there.`,
  )
}

async function unlockStore(
  store: Pick<Store, 'findMasterKey' | 'insertSettingOnce'>,
  config: Config,
  random: Random,
): Promise<UnlockedMasterKey | undefined> {
  const stored = await store.findMasterKey()
  const roots = readRootSecrets(config)
  if (stored.check !== undefined) return unlockMasterKey(stored, roots)
  // Of nodes that start at the same time on a new store, one creates the master key.
  const own = wrapMasterKey(createMasterKey(random), roots.current, random)
  const wrapped = await store.insertSettingOnce({ name: MASTER_KEY, value: own })
  const unlocked = unlockMasterKey({ wrapped, check: undefined }, roots)
  if (unlocked === undefined) return undefined
  const check = masterKeyCheck(unlocked.secrets)
  return (await store.insertSettingOnce({ name: MASTER_KEY_CHECK, value: check })) === check ? unlocked : undefined
}

/** Why a store may no longer be served. */
export type ServerEndReason = 'closed' | 'secret-replaced'

/**
 * Calls `onEnd` once, when the store was closed, or has another master key, which is so only after the root secret leaked: every
 * credential that this process would accept or issue is invalid. Returns the function that stops this.
 */
export function startWatchingServerEnd(
  { store, secrets }: Pick<Context, 'store' | 'secrets'>,
  logger: Log,
  onEnd: (reason: ServerEndReason) => void,
): () => void {
  const own = masterKeyCheck(secrets)
  // A read may take longer than the interval.
  let isEnded = false
  const timer = setInterval(() => {
    store.findServerEnd().then(
      ({ masterKeyCheck: check, closedAt }) => {
        if (isEnded || (closedAt === undefined && check === own)) return
        isEnded = true
        clearInterval(timer)
        if (closedAt === undefined) logger.error({ event: 'secret.replaced' })
        else logger.error({ event: 'store.closed', closed_at: closedAt })
        onEnd(closedAt === undefined ? 'secret-replaced' : 'closed')
      },
      // While the store is unavailable, hardly anything can be issued. The next check follows in a second.
      () => undefined,
    )
  }, WATCH_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/** The configuration of a command: with the issuer of the servers of the store, unless GRANTOR_ISSUER names another. */
export async function configOfCommand(config: Config, store: Pick<Store, 'findIssuer'>): Promise<Config> {
  if (config.isIssuerChosen) return config
  return withIssuer(config, (await store.findIssuer()) ?? config.issuer)
}

/**
 * Records the issuer of a server, from which commands learn it. Rejects another one than that of the store, which tokens and clients name,
 * unless both are loopback addresses: then a trial may have another port, and the log says so.
 *
 * @throws Error that says what to do
 */
export async function recordIssuer(
  store: Pick<Store, 'insertSettingOnce' | 'replaceSetting'>,
  { issuer }: Pick<Config, 'issuer'>,
  logger: Pick<Log, 'warn'>,
): Promise<void> {
  const known = await store.insertSettingOnce({ name: ISSUER, value: issuer })
  if (known === issuer) return
  if (isCompatibleIssuer(known, issuer)) {
    logger.warn({ event: 'store.of-other-issuer', known, issuer })
    await store.replaceSetting({ name: ISSUER, value: issuer })
    return
  }
  throw new Error(
    `This database belongs to the issuer ${known}, and GRANTOR_ISSUER is ${issuer}. If GRANTOR_ISSUER is wrong, correct it. If the address has changed, run: grantor issuer set ${forShell(issuer)}`,
  )
}

/** Says in the log which APIs get no tokens, because the address of the server is now theirs (threats.md OP-18). */
export async function warnOfOwnApis(
  { listApis }: Pick<Store, 'listApis'>,
  { issuer }: Pick<Config, 'issuer'>,
  logger: Pick<Log, 'warn'>,
): Promise<void> {
  for (const { resource } of await listApis())
    if (namesIssuer(resource, issuer)) logger.warn({ event: 'api.of-issuer', api: resource })
}

/**
 * Rejects a database in which a restore is running, or was interrupted: its administrator is missing, and what happened is not in
 * its audit.
 *
 * @throws Error that says what to do
 */
export async function refusePendingRestore(
  store: Pick<Store, 'findPendingRestore'>,
  { database }: Pick<Config, 'database'>,
): Promise<void> {
  if ((await store.findPendingRestore()) === undefined) return
  throw new Error(
    `A backup is being restored into ${locationOf(database)}, or its restore was interrupted. If no restore is running, run the same command again, which completes it: grantor restore or grantor import, with the same file.`,
  )
}

/** Returns the applied migrations and those that this release would add. Changes nothing. */
export async function readSchema({ database }: Config): Promise<SchemaState> {
  if (database.kind === 'postgres') {
    const { readPostgresSchema } = await import('../store/postgres/schema/migrate-at.ts')
    return readPostgresSchema(database.url)
  }
  const { readSqliteSchema } = await import('../store/sqlite/migrate.ts')
  return readSqliteSchema(database.path)
}

/** Returns how a PostgreSQL database stores its tables, why they cannot be distributed now, and a function that does it. */
export async function openDistribution(url: string) {
  const { planDistribution, distributeAt } = await import('../store/postgres/schema/migrate-at.ts')
  return { ...(await planDistribution(url)), run: (shards: number) => distributeAt(url, shards) }
}

/** Where the root secret is, as messages name it. */
export function secretLocation(config: Config): string {
  return config.secret === undefined ? secretPath(config.database) : writtenSetting(config, 'GRANTOR_SECRET')
}

/** The file of the root secret beside a SQLite database. */
export function secretPath(database: Config['database']): string {
  // The configuration rejects PostgreSQL without a secret already, because nodes share no file.
  if (database.kind === 'postgres') throw new Error('GRANTOR_SECRET must be set with PostgreSQL.')
  return rootSecretPath(database.path)
}
