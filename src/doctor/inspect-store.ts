import { existsSync } from 'node:fs'
import { writtenSetting, type Config } from '../config/config.ts'
import { locationOf } from '../config/database-url.ts'
import { unlockMasterKey } from '../keys/master-key.ts'
import { previousSecretPath } from '../keys/root-secret.ts'
import type { DatabaseInspection, HistoryInspection, SecretInspection, StoreInspection } from '../ports/inspection.ts'
import type { StoredMasterKey } from '../ports/records/key.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { compareWithMemory, type StoreMemory } from '../base/store-place.ts'
import { readMemory } from '../server/store-memory.ts'
import { readRootSecrets, secretLocation, secretPath } from '../server/store.ts'

/** Inspects everything that is stored, for `grantor doctor`. Changes nothing. */
export async function inspectStore(config: Config): Promise<StoreInspection> {
  const { database: choice } = config
  const { inspectKey } = await import('../keys/inspect-keys.ts')
  const memory = config.stateFile === undefined ? undefined : readMemory(config.stateFile)
  const { database, keys, clients } = await inspectStored(choice, memory?.link?.id)
  const { secrets, inspection } = inspectSecret(config, database.kind === 'opened' ? database.masterKey : undefined)
  return {
    location: locationOf(choice),
    secretLocation: secretLocation(config),
    previousSecretLocation: previousSecretLocation(config),
    database,
    secret: inspection,
    keys: secrets === undefined ? [] : keys.map((key) => inspectKey(key, secrets.encryptionKey)),
    clients,
    history: historyOf(config, memory, database),
  }
}

/** The issuer of the servers of a store; undefined: none is known, or the store cannot be read. */
export async function readStoredIssuer({ database: choice }: Pick<Config, 'database'>): Promise<string | undefined> {
  return issuerIn(await inspectStored(choice, undefined))
}

export function issuerIn({ database }: Pick<StoreInspection, 'database'>): string | undefined {
  return database.kind === 'opened' ? database.issuer : undefined
}

/** Adds what is damaged in a file, all of which is read. */
export async function inspectWhole(store: StoreInspection, config: Config): Promise<StoreInspection> {
  const { database } = store
  if (database.kind !== 'opened' || database.home.kind !== 'file' || config.database.kind !== 'sqlite') return store
  const { findDamage } = await import('../store/sqlite/inspect.ts')
  return { ...store, database: { ...database, home: { ...database.home, damage: findDamage(config.database.path) } } }
}

async function inspectStored(choice: Config['database'], linkId: string | undefined) {
  if (choice.kind === 'postgres')
    return (await import('../store/postgres/inspect.ts')).inspectPostgres(choice.url, linkId)
  return (await import('../store/sqlite/inspect.ts')).inspectDatabase(choice.path, linkId)
}

/** Returns whether the root secret decrypts the master key, and what it then opens. Creates no root secret. */
export function inspectSecret(
  config: Config,
  stored: StoredMasterKey | undefined,
): { secrets?: Secrets; inspection: SecretInspection } {
  const isUnused = stored?.check === undefined
  // Reading the secret would create it.
  if (config.secret === undefined && !existsSync(secretPath(config.database))) {
    return { inspection: { kind: isUnused ? 'unused' : 'missing' } }
  }
  try {
    const roots = readRootSecrets(config)
    if (isUnused) return { inspection: { kind: 'unused' } }
    const unlocked = unlockMasterKey(stored, roots)
    if (unlocked === undefined) return { inspection: { kind: 'differs' } }
    const ofCurrent = roots.previous === undefined ? 'matches' : 'matches-alone'
    const kind = unlocked.under === 'previous' ? 'matches-previous' : ofCurrent
    return { secrets: unlocked.secrets, inspection: { kind } }
  } catch (cause) {
    return { inspection: { kind: 'unusable', reason: (cause as Error).message } }
  }
}

/** Compares a store that servers have used with what this machine remembers of it. */
function historyOf(
  { stateFile: path }: Config,
  memory: StoreMemory | undefined,
  database: DatabaseInspection,
): HistoryInspection | undefined {
  if (database.kind !== 'opened' || database.masterKey.check === undefined) return undefined
  if (database.place.isMarked) return { kind: 'went-back', path }
  if (path === undefined) return { kind: 'no-file' }
  const comparison = memory === undefined ? 'unknown' : compareWithMemory(memory, database.place)
  if (comparison === 'back') return { kind: 'went-back', path }
  // The first server of this release begins the first era.
  if (comparison === 'known') return { kind: memory?.isUnconfirmed === true ? 'unconfirmed' : 'remembered', path }
  return database.place.eras.length === 0 ? undefined : { kind: 'unconfirmed', path }
}

function previousSecretLocation(config: Config): string {
  const isFile = config.secret === undefined && config.previousSecret === undefined
  const path = isFile ? previousSecretPath(secretPath(config.database)) : undefined
  return path ?? writtenSetting(config, 'GRANTOR_SECRET_PREVIOUS')
}
