import { AdminError, conflict } from '../admin/admin-error.ts'
import { asAdministrator, COMMAND_LINE } from '../admin/administrators.ts'
import { readLinks } from '../admin/audit/verify.ts'
import type { Config } from '../config/config.ts'
import {
  linksUntil,
  masterKeyCheck,
  succeedMasterKey,
  unlockMasterKey,
  wrapMasterKey,
  type RootSecrets,
  type UnlockedMasterKey,
} from '../keys/master-key.ts'
import { removePreviousSecret, renewRootSecret, replacePendingSecret } from '../keys/root-secret.ts'
import type { Context } from '../ports/context.ts'
import type { Store } from '../ports/store.ts'
import type { EpochMs } from '../base/brand.ts'
import { openMasterKey } from '../protocol/secrets.ts'
import { MASTER_KEY } from '../store/nouns/server/settings.ts'
import { LockTaken, takeServerLock, type ServerLock } from '../store/sqlite/file/server-lock.ts'
import { makeNewKeys } from '../server/keys.ts'
import { readRootSecrets, secretPath } from '../server/store.ts'

/** The result of changing the root secret. */
export interface SecretRotation {
  /** The file with the new secret; undefined: it is in GRANTOR_SECRET. */
  readonly file: string | undefined
  /** The master key is the former root secret itself, as in every store of a release without a master key. */
  readonly isMasterKeyFormerSecret: boolean
}

/** The records whose credentials end with a leaked secret, and which get no new ones by themselves. */
export interface EndedCredentials {
  /** Identifiers of the APIs that have credentials for introspection. */
  readonly apis: readonly string[]
  /** Names of the administrators' credentials that are neither revoked nor expired. */
  readonly administrators: readonly string[]
  /** Ids of the providers whose secrets have to be set again: they were encrypted under the former master key. */
  readonly providers: readonly string[]
}

const PAGE = 1000

/**
 * Encrypts the master key under a new root secret. Nothing else changes, so no session, token or credential ends, and running
 * servers continue with the master key that they have.
 *
 * @throws AdminError when the configuration has no new secret, or the secret is being changed by another process
 */
export function rotateSecret(context: Context, config: Config): Promise<SecretRotation> {
  return alone(config, async () => {
    const { store, unlocked, newSecret, previous } = await prepare(context, config, 'kept')
    const wrapped = wrapMasterKey(unlocked.masterKey, newSecret, context.random)
    if ((await store.rewrapMasterKey({ previous, wrapped })) === 'conflict') throw changedMeanwhile()
    return finish(store, config, unlocked)
  })
}

/** Runs a change while no other process changes the files of the secret. In GRANTOR_SECRET, only the operator changes it. */
async function alone<T>({ secret, database }: Config, change: () => Promise<T>): Promise<T> {
  if (secret !== undefined) return change()
  const lock = lockSecret(secretPath(database))
  try {
    return await change()
  } finally {
    lock.release()
  }
}

function lockSecret(path: string): ServerLock {
  try {
    return takeServerLock(path)
  } catch (cause) {
    if (!(cause instanceof LockTaken)) throw cause
    throw new Error(`Another process changes ${path}. Run this command again when it has ended.`, { cause })
  }
}

/**
 * Replaces the root secret and the master key, because other persons may know them. Everything that was issued under them ends
 * in one commit, and signing keys are replaced. Running servers notice this within a second and stop.
 *
 * @throws AdminError as `rotateSecret` does
 */
export function replaceLeakedSecret(
  context: Context,
  config: Config,
): Promise<SecretRotation & { readonly ended: EndedCredentials }> {
  return alone(config, () => replace(context, config))
}

async function replace(
  context: Context,
  config: Config,
): Promise<SecretRotation & { readonly ended: EndedCredentials }> {
  const { clock, random } = context
  const ended = await findEndingCredentials(context)
  const { store, unlocked, newSecret, previous } = await prepare(context, config, 'leaked')
  const now = clock()
  const masterKey = succeedMasterKey(unlocked.masterKey, random, now, await findHeadsAhead(store, linksUntil(now)))
  const secrets = openMasterKey(masterKey)
  const keys = await makeNewKeys({ store, random, secrets }, config, now)
  const wrapped = wrapMasterKey(masterKey, newSecret, random)
  const replacement = { previous, wrapped, check: masterKeyCheck(secrets), keys, now }
  if ((await store.replaceMasterKey(replacement)) === 'conflict') throw changedMeanwhile()
  return { ...(await finish(store, config, { ...unlocked, masterKey })), ended }
}

/** Returns when the last link of each chain was recorded that has links of this time or later. */
async function findHeadsAhead(
  store: Pick<Store, 'listAuditLinks'>,
  since: EpochMs,
): Promise<ReadonlyMap<string, EpochMs>> {
  const heads = new Map<string, EpochMs>()
  await readLinks(store, since, ({ chainId, recordedAt }) => {
    heads.set(chainId, Math.max(recordedAt, heads.get(chainId) ?? 0) as EpochMs)
  })
  return heads
}

interface Preparation {
  readonly store: Store
  readonly unlocked: UnlockedMasterKey
  readonly newSecret: string
  /** The wrapped master key as it is stored. */
  readonly previous: string
}

/**
 * Finds the new secret, or creates it in its file. An interrupted change is continued with the secret that it created, unless a
 * secret leaked: that one may have, too.
 */
async function prepare(context: Context, config: Config, known: 'kept' | 'leaked'): Promise<Preparation> {
  const { store } = asAdministrator(context, COMMAND_LINE)
  const stored = await store.findMasterKey()
  const roots = readRootSecrets(config)
  const unlocked = unlockMasterKey(stored, roots)
  if (unlocked === undefined) throw changedMeanwhile()
  const previous =
    stored.wrapped ??
    // The store of a release without a master key.
    (await store.insertSettingOnce({
      name: MASTER_KEY,
      value: wrapMasterKey(unlocked.masterKey, unlocked.rootSecret, context.random),
    }))
  return { store, unlocked, newSecret: newSecretOf(config, unlocked, roots, known), previous }
}

function newSecretOf(
  config: Config,
  { under }: UnlockedMasterKey,
  roots: RootSecrets,
  known: 'kept' | 'leaked',
): string {
  if (under === 'previous') {
    return known === 'leaked' && config.secret === undefined
      ? replacePendingSecret(secretPath(config.database))
      : roots.current
  }
  if (config.secret === undefined) return renewRootSecret(secretPath(config.database))
  if (roots.previous !== undefined) {
    throw new AdminError(
      'The database uses GRANTOR_SECRET already. GRANTOR_SECRET_PREVIOUS is no longer needed: remove it from every node.',
    )
  }
  throw new AdminError(
    'The root secret is in GRANTOR_SECRET, so it is changed there: on every node, set GRANTOR_SECRET to a new secret (openssl rand -base64 32) and GRANTOR_SECRET_PREVIOUS to the present one, and restart the node. Then run this command again, with both.',
  )
}

/** Removes the previous secret from its file, if the database opens with the new one. */
async function finish(store: Store, config: Config, { masterKey }: UnlockedMasterKey): Promise<SecretRotation> {
  const roots = readRootSecrets(config)
  if (unlockMasterKey(await store.findMasterKey(), { ...roots, previous: undefined }) === undefined)
    throw changedMeanwhile()
  const isMasterKeyFormerSecret = masterKey.root === roots.previous
  if (config.secret !== undefined) return { file: undefined, isMasterKeyFormerSecret }
  const file = secretPath(config.database)
  removePreviousSecret(file)
  return { file, isMasterKeyFormerSecret }
}

async function findEndingCredentials({ clock, store }: Pick<Context, 'clock' | 'store'>): Promise<EndedCredentials> {
  const now = clock()
  const [apis, administrators, providers] = await Promise.all([
    store.listApis(),
    store.listAdminCredentials({ before: undefined, limit: PAGE }),
    store.listProviders(),
  ])
  return {
    apis: apis.filter(({ credentials }) => credentials !== undefined).map(({ resource }) => resource),
    administrators: administrators
      .filter(({ revokedAt, expiresAt }) => revokedAt === undefined && now < expiresAt)
      .map(({ name }) => name),
    providers: providers.map(({ id }) => id),
  }
}

function changedMeanwhile(): AdminError {
  return conflict('Another process is changing the root secret. See "grantor doctor", and run this command again.')
}
