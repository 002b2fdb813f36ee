import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createAdminCredential } from '../admin/admin.ts'
import { asAdministrator, COMMAND_LINE } from '../admin/administrators.ts'
import type { Config } from '../config/config.ts'
import { locationOf, type DatabaseChoice } from '../config/database-url.ts'
import { unlockMasterKey, type RootSecrets } from '../keys/master-key.ts'
import { readPreviousSecret, readRootSecret, rootSecretPath, writeRootSecret } from '../keys/root-secret.ts'
import type { Context } from '../ports/context.ts'
import { isCompatibleIssuer } from '../protocol/uri/loopback.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { openBackup, type CheckedBackup } from '../store/backup/read.ts'
import { endedWith, fitOlder } from '../store/backup/older.ts'
import { endEverything, keepEverything, STORED_TABLES, type Slice } from '../store/backup/tables.ts'
import { digestOf, listMigrations, schemaDigest } from '../store/migrations.ts'
import { listBackups, SECRET_SUFFIX } from './backup-folder.ts'
import { openRuntime } from '../server/context.ts'
import { beginFirstEra, newEra } from '../server/store-memory.ts'
import { openPlatform, type Platform } from '../server/platform.ts'
import { readRootSecrets } from '../server/store.ts'

export interface RestorePlan {
  readonly from: string
  /** Whether a SQLite database that exists is moved aside. */
  readonly replace: boolean
  /** Whether what a final export has stays valid. In another backup everything ends. */
  readonly isMove: boolean
}

export interface Restored {
  readonly location: string
  /** ISO 8601, UTC: the time of the backup. */
  readonly madeAt: string
  readonly rows: Readonly<Record<string, number>>
  /** Where the previous database is now; undefined: there was none. */
  readonly replaced: string | undefined
  /** Whether the restored store is encrypted under the previous root secret, which the place needs until it is rotated. */
  readonly isUnderPreviousSecret: boolean
  /** The token of a new administrator. It is not stored and not shown again. undefined: the store moved, with its administrators. */
  readonly adminToken: string | undefined
  /** What ended although the store moved with everything: an older version issued it in another form. */
  readonly ended: readonly string[]
}

/** How long the credentials of the new administrator are valid. */
const ADMIN_DAYS = 90

/**
 * Restores a backup into an empty place. Everything is checked before anything is written, and a kill at any point leaves the
 * previous store, or none, or the whole restored store. Tokens, sessions, grants and signing keys from before do not exist in
 * the restored store, and the credentials of all administrators and all initial access tokens are revoked; unless a final export
 * moves the store, which keeps everything.
 *
 * @throws Error that says what is wrong
 */
export async function restore(config: Config, { from, replace, isMove }: RestorePlan): Promise<Restored> {
  const status = statSync(from, { throwIfNoEntry: false })
  if (status === undefined) throw new Error(`There is no backup at ${from}.`)
  if (status.isDirectory()) {
    const newest = listBackups(from).at(-1)
    throw new Error(
      `${from} is a folder. ${newest === undefined ? 'It has no backup.' : `Its newest backup is ${join(from, newest)}.`}`,
    )
  }
  const opened = openBackup(from)
  const isOlder = opened.header.schema_digest !== digestOfSchema(opened.header.schema)
  const backup: Loading = { ...opened, isMove: isMove && opened.header.final === true, isOlder }
  try {
    const { roots, secrets, under } = unlock(config, backup, from)
    refuseUnfit(config, backup, secrets, from)
    const { current: secret, previous: previousSecret } = roots
    // The machine remembers the store from before until the restore is complete.
    const place = { ...config, secret, previousSecret, logLevel: 'silent' as const, stateFile: undefined }
    const ended = isOlder ? endedWith(opened.columns) : []
    const described = { ...describe(config, backup), ended, isUnderPreviousSecret: under === 'previous' }
    const { database } = config
    if (database.kind === 'postgres') {
      const end = await fillPostgres(database, backup)
      const adminToken = await complete(place, backup)
      await end()
      await rememberHere(config)
      return { ...described, replaced: undefined, adminToken }
    }
    const { replaceSqlite } = await import('./replace-sqlite.ts')
    let adminToken: string | undefined
    const replaced = await replaceSqlite(database.path, {
      replace,
      async fill(path, load) {
        load(backup.header.schema, slicesOf(backup, Date.now()))
        adminToken = await complete({ ...place, database: { kind: 'sqlite', path } }, backup)
        if (config.secret === undefined) writeRootSecret(rootSecretPath(database.path), secret)
      },
      requireUnchanged: () => requireSameSecrets(config, roots),
    })
    await rememberHere(config)
    return { ...described, replaced, adminToken }
  } finally {
    backup.close()
  }
}

/** A backup, and whether what it has stays valid. */
type Loading = CheckedBackup & {
  readonly isMove: boolean
  /** Whether a version with another 0001-start.sql made it: until the release 0.1.0 its tables are taken if they fit. */
  readonly isOlder: boolean
}

/** The root secrets of the place, and what they open. */
interface Unlocked {
  readonly roots: RootSecrets
  readonly secrets: Secrets
  readonly under: keyof RootSecrets
}

/** Finds the root secret of the backup: one of the configuration or of the place, or the one beside the backup. */
function unlock({ secret, previousSecret, database }: Config, { header }: CheckedBackup, from: string): Unlocked {
  const stored = { wrapped: header.master_key ?? undefined, check: header.secret_check }
  // The configuration rejects PostgreSQL without a secret.
  const own = database.kind === 'sqlite' ? rootSecretPath(database.path) : ''
  const files = secret === undefined ? [own, from + SECRET_SUFFIX].filter((path) => existsSync(path)) : []
  const known = secret ?? (files[0] === undefined ? undefined : readRootSecret(files[0]))
  if (known === undefined) {
    throw new Error(
      `The root secret of the backup is missing. Put it into ${own} (mode 600), or set GRANTOR_SECRET to it. Without the secret the backup cannot be restored.`,
    )
  }
  const previous = (secret === undefined ? readPreviousSecret(own) : undefined) ?? previousSecret
  const roots = { current: known, previous }
  const unlocked = unlockMasterKey(stored, roots)
  if (unlocked !== undefined) return { roots, secrets: unlocked.secrets, under: unlocked.under }
  const beside = files[1] === undefined ? '' : ` To use ${files[1]} instead, move ${own} to another place.`
  throw new Error(
    `${from} was made under another root secret than the one in ${files[0] ?? 'GRANTOR_SECRET'}. Set GRANTOR_SECRET to the secret of the server that made it; or, to keep the present one, set GRANTOR_SECRET_PREVIOUS to it.${beside}`,
  )
}

/** Rejects a place whose secret was changed during the restore: the restored store would belong to no secret. */
function requireSameSecrets(config: Config, { current, previous }: RootSecrets): void {
  const now = readRootSecrets(config)
  if (now.current === current && now.previous === previous) return
  throw new Error('The root secret was changed during the restore. Nothing was replaced. Restore again.')
}

/** The digest that a backup of this version has with so many migrations. */
function digestOfSchema(schema: number): string {
  const texts = listMigrations().filter(({ version }) => version <= schema)
  return schemaDigest(texts.map(digestOf))
}

/** The version is judged before damage: a file of another version may lack tables. */
function refuseUnfit(config: Config, backup: Loading, secrets: Secrets, from: string): void {
  const { header, lacking, sha256, mac, isOlder } = backup
  if (!secrets.digestMatches('backup', [sha256], mac)) {
    throw new Error(`${from} was changed after it was made: its authentication code is wrong.`)
  }
  const newest = listMigrations().at(-1)?.version ?? 0
  if (header.schema > newest) {
    throw new Error(
      `${from} has version ${header.schema} of the schema, and this release knows ${newest}. Restore it with release ${header.release} or a newer one.`,
    )
  }
  if (!isOlder && lacking.length > 0) throw new Error(`${from} is damaged: rows are missing in ${lacking.join(', ')}.`)
  if (config.isIssuerChosen && !isCompatibleIssuer(header.issuer, config.issuer)) {
    throw new Error(
      `${from} belongs to the issuer ${header.issuer}, and GRANTOR_ISSUER is ${config.issuer}. Restore it with GRANTOR_ISSUER=${header.issuer}, or without the setting; afterwards "grantor issuer set" can change it.`,
    )
  }
}

/**
 * Inserts the rows, unless a restore of the same backup was interrupted after it had inserted them. Returns the function that makes
 * the restore complete: until then no server starts.
 */
async function fillPostgres(
  database: Extract<DatabaseChoice, { readonly kind: 'postgres' }>,
  backup: Loading,
): Promise<() => Promise<void>> {
  const { endRestore, findRestore, loadPostgres } = await import('../store/postgres/snapshot.ts')
  const { url } = database
  const { header, sha256, isMove } = backup
  const mark = isMove ? `${sha256} moved` : sha256
  const interrupted = await findRestore(url)
  if (interrupted === undefined) {
    const slices = (databaseNow: number) => slicesOf(backup, Math.max(databaseNow, Date.now()))
    await loadPostgres(url, { schema: header.schema, mark }, slices)
  } else if (interrupted !== mark) {
    throw new Error(
      `${locationOf(database)} has the rows of another backup, whose restore was interrupted. Name an empty database in DATABASE_URL.`,
    )
  }
  return () => endRestore(url)
}

function* slicesOf(backup: Loading, now: number): Generator<Slice> {
  const times = { madeAt: Date.parse(backup.header.made_at), now }
  for (const read of backup.slices()) {
    const slice = backup.isOlder ? fitOlder(read) : read
    if (backup.isMove) yield keepEverything(slice)
    else if (STORED_TABLES.includes(slice.table)) yield endEverything(slice, times)
  }
}

/**
 * Creates the signing keys and an administrator, which a store that moved has already, and records the restore. Returns the token of
 * the administrator.
 */
async function complete(config: Config, { header, sha256, isMove }: Loading): Promise<string | undefined> {
  const platform: Platform = openPlatform(config)
  const { context, close } = await openRuntime(config, platform)
  const administration = asAdministrator(context, COMMAND_LINE)
  try {
    const details = { made_at: Date.parse(header.made_at), sha256 }
    if (isMove) {
      await administration.store.recordEvent({ event: 'server.imported', details })
      return undefined
    }
    await administration.store.recordEvent({ event: 'server.restored', details })
    // Nodes that remember the store from before the restore then know that an operator restored it.
    const { clock, random, secrets } = administration
    await beginFirstEra(administration.store, secrets)
    await administration.store.beginEra({ era: newEra(random), now: clock(), reason: 'restored', ending: undefined })
    await revokeAdministrators(administration)
    return await createRestoreAdministrator(administration)
  } finally {
    await close()
  }
}

/** The operator has said where the store is from, so this machine does not ask. */
async function rememberHere(config: Config): Promise<void> {
  if (config.stateFile === undefined) return
  const { context, close } = await openRuntime(config, openPlatform({ ...config, logLevel: 'silent' }))
  try {
    await context.storeWatch.confirm()
  } finally {
    await close()
  }
}

/** Creates an administrator after all others were revoked. Returns the token. */
export async function createRestoreAdministrator(
  administration: Parameters<typeof createAdminCredential>[0],
): Promise<string> {
  const input = { name: 'restore', access: 'write', organizationId: undefined, days: ADMIN_DAYS } as const
  return (await createAdminCredential(administration, input)).token
}

/** An interrupted restore may have created an administrator, whose token it did not print. */
async function revokeAdministrators({ store, clock }: Pick<Context, 'store' | 'clock'>): Promise<void> {
  const credentials = await store.listAdminCredentials({ before: undefined, limit: 1000 })
  const live = credentials.filter(({ revokedAt }) => revokedAt === undefined)
  for (const { id } of live) await store.revokeAdminCredential({ id, now: clock() })
}

function describe(
  { database }: Config,
  { header, rows }: CheckedBackup,
): Pick<Restored, 'location' | 'madeAt' | 'rows'> {
  return { location: locationOf(database), madeAt: header.made_at, rows }
}
