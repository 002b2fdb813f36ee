import type { StoredSetting } from '../../../ports/operations/server.ts'
import type { StoredMasterKey, SigningAlgorithm } from '../../../ports/records/key.ts'
import type { RowCountsRecord } from '../../../ports/records/row-counts.ts'
import type { SweepRoundsRecord } from '../../../ports/records/sweep-rounds.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { ClockNote, ClockNotes } from '../../../base/clock.ts'
import type { NounOperations } from '../../noun.ts'
import { rows, shared, type Steps } from '../../shared/statement.ts'

/** Names of the rows of `settings` with the master key and its check. */
export const MASTER_KEY = 'master-key'
export const MASTER_KEY_CHECK = 'secret-check'

/** The master key of a database without tables. */
export const NO_MASTER_KEY: StoredMasterKey = { wrapped: undefined, check: undefined }

/** Name of the row of `settings` with the issuer as which servers use the store. */
export const ISSUER = 'issuer' satisfies StoredSetting['name']

/** Name of the row of `settings` with the mark of the backup that is being restored: its checksum, and whether the store moves. */
export const RESTORING = 'restoring'

/** Name of the row of `settings` with the time at which the store was closed, in milliseconds. */
export const CLOSED = 'closed'

/** Name of the row of `settings` with the eras of the store, a JSON array (base/store-place.ts). */
export const STORE_ERAS = 'store-eras'

/** Name of the row of `settings` with the era in which a node noticed that the store went back. */
export const WENT_BACK = 'went-back' satisfies StoredSetting['name']

/** Names of the rows of `settings` that are replaced. */
const ALGORITHM = 'server-algorithm'
const CLOCK_NOTE = 'clock'
const CLOCK_CONFIRMATION = 'clock-confirmed'
export const LAST_BACKUP = 'last-backup' satisfies StoredSetting['name']

/** Name of the row of `settings` with what is counted of large tables. A backup does not have it. */
const ROW_COUNTS = 'row-counts' satisfies StoredSetting['name']

/** Name of the row of `settings` with where the rounds of the sweep are. A backup does not have it. */
const SWEEP_ROUNDS = 'sweep-rounds' satisfies StoredSetting['name']

/** Name of the row of `settings` with the formats of password hashes that other systems have made (`ForeignFormats`). */
const PASSWORD_FORMATS = 'password-formats'

/** Names of the rows of `settings` with what each set of `grantor apply` has begin with this. */
export const APPLIED_SET = 'apply:'

/** Names of rows of `settings` that a transaction replaces to wait for the others that do: it then reads what they wrote. */
export const DECLARING = 'declaring'
export const DECLARING_PROVIDER = 'declaring-provider'
export const CREDENTIAL_OF_ORGANIZATION = 'credential-of-organization'

const NOTE = shared(
  'insert into settings (name, value) values (:name, :value) on conflict (name) do update set value = excluded.value',
)
const INSERT_SETTING_ONCE = shared(
  'insert into settings (name, value) values (:name, :value) on conflict (name) do nothing',
)
const REPLACE_UNCHANGED = shared(
  `insert into settings (name, value) values (:name, :value)
   on conflict (name) do update set value = excluded.value
   where settings.value is not distinct from cast(:previous as text) returning name`,
)
const FIND_SETTING = shared('select value from settings where name = :name')

/** What the server keeps for itself, and what the operator configures beside the configuration. */
const operations = {
  noteServerAlgorithm: {
    keys: () => [`setting:${ALGORITHM}`],
    cache: 'kept',
    event: 'no-event',
    *run(algorithm) {
      yield* setting(ALGORITHM, algorithm)
      return 'noted'
    },
  },
  noteClock: {
    keys: () => [`setting:${CLOCK_NOTE}`],
    cache: 'kept',
    event: 'no-event',
    *run(note) {
      yield* setting(CLOCK_NOTE, clockNoteValue(note))
      return 'noted'
    },
  },
  confirmClock: {
    keys: () => [`setting:${CLOCK_CONFIRMATION}`],
    cache: 'kept',
    event: ({ now }) => ({ event: 'clock.confirmed', details: { clock: now } }),
    *run({ now }) {
      yield* setting(CLOCK_CONFIRMATION, String(now))
      return 'confirmed'
    },
  },
  insertSettingOnce: {
    keys: ({ name }) => [`setting:${name}`],
    cache: 'kept',
    event: 'no-event',
    *run(wanted) {
      // A node that starts writes nothing that is stored already, because a table with copies needs all machines for a write.
      const stored = yield* findSetting(wanted.name)
      if (stored !== undefined) return stored
      yield* rows(INSERT_SETTING_ONCE, wanted)
      return (yield* findSetting(wanted.name)) as string
    },
  },
  replaceSetting: {
    keys: ({ name }) => [`setting:${name}`],
    cache: 'kept',
    event({ name, value }) {
      switch (name) {
        case 'issuer':
          return { event: 'server.issuer-changed', details: { issuer: value } }
        case 'last-backup':
          return { event: 'server.backed-up' }
        case 'went-back':
          return { event: 'server.went-back' }
        case 'row-counts':
        case 'sweep-rounds':
          return undefined
      }
    },
    *run({ name, value }) {
      yield* setting(name, value)
      return 'replaced'
    },
  },
  setPasswordFormats: {
    keys: () => [`setting:${PASSWORD_FORMATS}`],
    cache: 'kept',
    event: 'no-event',
    *run({ previous, value }) {
      const replaced = yield* rows(REPLACE_UNCHANGED, { name: PASSWORD_FORMATS, previous, value })
      return replaced.length === 1 ? 'changed' : 'conflict'
    },
  },
} satisfies NounOperations

const reads = {
  *findServerAlgorithm(): Steps<SigningAlgorithm | undefined> {
    return (yield* findSetting(ALGORITHM)) as SigningAlgorithm | undefined
  },
  *findClockNotes(): Steps<ClockNotes> {
    return clockNotesOf(yield* findSetting(CLOCK_NOTE), yield* findSetting(CLOCK_CONFIRMATION))
  },
  *findPendingRestore(): Steps<string | undefined> {
    return yield* findSetting(RESTORING)
  },
  *findLastBackup(): Steps<EpochMs | undefined> {
    return timeOf(yield* findSetting(LAST_BACKUP))
  },
  *findRowCounts(): Steps<RowCountsRecord | undefined> {
    const value = yield* findSetting(ROW_COUNTS)
    return value === undefined ? undefined : (JSON.parse(value) as RowCountsRecord)
  },
  *findSweepRounds(): Steps<SweepRoundsRecord | undefined> {
    const value = yield* findSetting(SWEEP_ROUNDS)
    return value === undefined ? undefined : (JSON.parse(value) as SweepRoundsRecord)
  },
  *findPasswordFormats(): Steps<string | undefined> {
    return yield* findSetting(PASSWORD_FORMATS)
  },
}

export const settings = { operations, reads }

/** The parsed value of a setting that is a time in milliseconds. */
export function timeOf(value: string | undefined): EpochMs | undefined {
  return value === undefined ? undefined : (Number(value) as EpochMs)
}

/** The value of CLOCK_NOTE. */
function clockNoteValue(note: ClockNote): string {
  return JSON.stringify(note)
}

/** The parsed values of CLOCK_NOTE and CLOCK_CONFIRMATION. */
function clockNotesOf(note: string | undefined, confirmation: string | undefined): ClockNotes {
  return {
    node: note === undefined ? undefined : (JSON.parse(note) as ClockNote),
    confirmation: confirmation === undefined ? undefined : (Number(confirmation) as EpochMs),
  }
}

/** Uses the newest row as a note: the clock agreed when the row was made. */
export function noteOfNewestRow(newestRowAt: EpochMs | undefined): ClockNote | undefined {
  if (newestRowAt === undefined) return undefined
  return { agreedAt: newestRowAt, deletionTime: newestRowAt, confirmation: undefined }
}

/** Replaces a setting. */
export function* setting(name: string, value: string): Steps<void> {
  yield* rows(NOTE, { name, value })
}

export function* findSetting(name: string): Steps<string | undefined> {
  return (yield* rows(FIND_SETTING, { name }))[0]?.['value'] as string | undefined
}
