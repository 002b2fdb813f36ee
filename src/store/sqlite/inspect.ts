import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { ClientInspection, DatabaseFacts, DatabaseInspection } from '../../ports/inspection.ts'
import type { KeyRecord } from '../../ports/records/key.ts'
import { knownTime } from '../../base/clock.ts'
import { NO_PLACE } from '../../base/store-place.ts'
import { requireKnownSchema } from '../migrations.ts'
import type { Row } from '../rows.ts'
import { CLOSED, LAST_BACKUP, NO_MASTER_KEY, timeOf, findSetting } from '../nouns/server/settings.ts'
import { inspectClients } from '../shared/inspect-clients.ts'
import { openDatabase } from './database.ts'
import { freeBytes, logBytes } from './file/disk.ts'
import { schemaState } from './migrate.ts'
import { findClockNotes } from './clock-notes.ts'
import { openSteps } from './steps.ts'
import { apis } from '../nouns/server/apis.ts'
import { signingKeys } from '../nouns/server/signing-keys.ts'
import { masterKey } from '../nouns/server/master-key.ts'
import { storeEras } from '../nouns/server/store-eras.ts'

/** SQLITE_CORRUPT, the low byte of all codes of damage (https://sqlite.org/rescode.html). */
const CORRUPT = 11
/** The number of reported problems; the first one decides what to do. */
const DAMAGE_LIMIT = 3

/** Inspects the file as the server would open it, and changes nothing. This also works beside a running server. */
export function inspectDatabase(
  path: string,
  linkId: string | undefined,
): {
  readonly database: DatabaseInspection
  readonly clients: ClientInspection | undefined
  readonly keys: readonly KeyRecord[]
} {
  if (!existsSync(path)) return { database: { kind: 'missing' }, keys: [], clients: undefined }
  let database: DatabaseSync | undefined
  try {
    database = openDatabase(path)
    // Another process may be about to finish. Nothing else in this process has to run meanwhile.
    database.exec('pragma busy_timeout = 2000')
    requireKnownSchema(schemaState(database))
    const facts = readFacts(database, path, linkId)
    const isCurrent = facts.missingMigrations.length === 0 && facts.unknownMigrations.length === 0
    return {
      database: { kind: 'opened', ...facts },
      keys: hasTables(database) ? openSteps(database)(signingKeys.reads.listKeys()) : [],
      clients: isCurrent ? openSteps(database)(inspectClients()) : undefined,
    }
  } catch (cause) {
    return { database: { kind: 'unusable', reason: (cause as Error).message }, keys: [], clients: undefined }
  } finally {
    database?.close()
  }
}

/** Returns whether a file has tables of Grantor, and the check of its root secret. Does not create the file. */
export function readSqliteFacts(path: string): {
  readonly hasSchema: boolean
  readonly secretCheck: string | undefined
} {
  if (!existsSync(path)) return { hasSchema: false, secretCheck: undefined }
  const database = openDatabase(path)
  try {
    database.exec('pragma busy_timeout = 2000')
    if (!hasTables(database)) return { hasSchema: false, secretCheck: undefined }
    const { check } = openSteps(database)(masterKey.reads.findMasterKey())
    return { hasSchema: true, secretCheck: check }
  } finally {
    database.close()
  }
}

/** Reads the whole file, and returns what SQLite finds damaged in it; it takes 20 s for each GB. */
export function findDamage(path: string): readonly string[] {
  let database: DatabaseSync | undefined
  try {
    database = openDatabase(path)
    const complaints = database.prepare(`pragma quick_check(${DAMAGE_LIMIT})`).all()
    return complaints.map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok')
  } catch (cause) {
    // Some damage ends the check itself.
    if (!(cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === CORRUPT)) throw cause
    return [cause.message]
  } finally {
    database?.close()
  }
}

function readFacts(database: DatabaseSync, path: string, linkId: string | undefined): DatabaseFacts {
  const { applied, missing, unknown } = schemaState(database)
  return {
    appliedMigrations: applied.map(({ version }) => version),
    missingMigrations: missing.map(({ version, name }) => `${String(version).padStart(4, '0')}-${name}`),
    unknownMigrations: unknown.map(({ version }) => version),
    home: { kind: 'file', freeBytes: freeBytes(path), logBytes: logBytes(path) },
    ...(hasTables(database)
      ? readTables(database, linkId)
      : {
          time: undefined,
          apis: [],
          issuer: undefined,
          masterKey: NO_MASTER_KEY,
          backedUpAt: undefined,
          closedAt: undefined,
          place: NO_PLACE,
        }),
  }
}

function readTables(
  database: DatabaseSync,
  linkId: string | undefined,
): Pick<DatabaseFacts, 'time' | 'apis' | 'issuer' | 'masterKey' | 'backedUpAt' | 'closedAt' | 'place'> {
  const run = openSteps(database)
  const resources = database.prepare('select resource from apis order by resource').all() as Row[]
  return {
    time: knownTime(run(findClockNotes())),
    apis: resources.map(({ resource }) => String(resource)),
    issuer: run(apis.reads.findIssuer()),
    masterKey: run(masterKey.reads.findMasterKey()),
    backedUpAt: timeOf(run(findSetting(LAST_BACKUP))),
    closedAt: timeOf(run(findSetting(CLOSED))),
    place: run(storeEras.reads.findStorePlace(linkId)),
  }
}

function hasTables(database: DatabaseSync): boolean {
  return requireKnownSchema(schemaState(database)).applied.length > 0
}
