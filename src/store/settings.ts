import type { StoredSetting } from '../ports/operations/server.ts'
import type { StoredMasterKey } from '../ports/records/key.ts'
import type { EpochMs } from '../base/brand.ts'
import type { ClockNote, ClockNotes } from '../base/clock.ts'

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
export const ALGORITHM = 'server-algorithm'
export const CLOCK_NOTE = 'clock'
export const CLOCK_CONFIRMATION = 'clock-confirmed'
export const LAST_BACKUP = 'last-backup' satisfies StoredSetting['name']

/** Name of the row of `settings` with what is counted of large tables. A backup does not have it. */
export const ROW_COUNTS = 'row-counts' satisfies StoredSetting['name']

/** Name of the row of `settings` with the formats of password hashes that other systems have made (`ForeignFormats`). */
export const PASSWORD_FORMATS = 'password-formats'

/** Names of the rows of `settings` with what each set of `grantor apply` has begin with this. */
export const APPLIED_SET = 'apply:'

/** Names of rows of `settings` that a transaction replaces to wait for the others that do: it then reads what they wrote. */
export const DECLARING = 'declaring'
export const DECLARING_PROVIDER = 'declaring-provider'
export const CREDENTIAL_OF_ORGANIZATION = 'credential-of-organization'

/** The parsed value of a setting that is a time in milliseconds. */
export function timeOf(value: string | undefined): EpochMs | undefined {
  return value === undefined ? undefined : (Number(value) as EpochMs)
}

/** The value of CLOCK_NOTE. */
export function clockNoteValue(note: ClockNote): string {
  return JSON.stringify(note)
}

/** The parsed values of CLOCK_NOTE and CLOCK_CONFIRMATION. */
export function clockNotesOf(note: string | undefined, confirmation: string | undefined): ClockNotes {
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
