import type { JsonObject } from '../../base/json.ts'
import { readRecordLines, type RecordLine } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import {
  isFuture,
  isGranted,
  isPast,
  mayApply,
  objectsOf,
  requireRows,
  sourceRecord,
  takeAttributes,
  textOf,
} from './attributes.ts'

/** As it names the account that has the password. */
const OWN = 'credential'
/** Columns that are no attributes. */
const STATE: ReadonlySet<string> = new Set([
  'id',
  'accounts',
  'email',
  'emailVerified',
  'name',
  'image',
  'username',
  'phoneNumber',
  'phoneNumberVerified',
  'banned',
  'banReason',
  'banExpires',
  'passkeys',
  'twoFactorEnabled',
  'createdAt',
  'updatedAt',
])

/** Rows of its table `user`, each with its rows of `account` (docs/moving.md has the query). */
export const BETTER_AUTH: Source = {
  verb: 'better-auth',
  summary: 'Import users from the tables user and account of better-auth.',
  argument: ['ndjson', 'rows of user with their accounts, a JSON object on each line'],
  switches: [],
  options: [],
  namesProvidersHere: false,
  paths: ({ main }) => [main],
  *read({ main }): Generator<SourceRecord> {
    for (const record of readRecordLines(main)) {
      requireRows(main, record, ['accounts'])
      yield userOf(record)
    }
  },
}

function userOf({ line, value }: RecordLine): SourceRecord {
  const id = value?.['id']
  if (value === undefined) return sourceRecord('user', line, id, {})
  const user = namedByCase(value)
  const accounts = objectsOf(user['accounts']).map(namedByCase)
  const taken = takeAttributes(user['name'], {
    ...Object.fromEntries(Object.entries(user).filter(([name]) => !STATE.has(name))),
    picture: user['image'],
    preferred_username: user['username'],
    phone_number: user['phoneNumber'],
    phone_number_verified:
      textOf(user['phoneNumber']) === undefined ? undefined : isGranted(user['phoneNumberVerified']),
  })
  const isBanned = mayApply(user['banned']) && !isPast(user['banExpires'])
  const lostFactors = ['twoFactorEnabled', 'passkeys'].filter((name) => mayApply(user[name]))
  return sourceRecord('user', line, id, {
    lostFactors,
    notes: isBanned && isFuture(user['banExpires']) ? ['ban_unlimited'] : [],
    dropped: taken.dropped,
    value: {
      type: 'user',
      id,
      email: user['email'] ?? null,
      email_verified: isGranted(user['emailVerified']),
      name: taken.name,
      profile: taken.profile,
      password_hash: textOf(accounts.find(({ providerId }) => providerId === OWN)?.['password']),
      disabled: isBanned,
      // The secrets of authenticator apps are encrypted.
      has_second_factor: lostFactors.length > 0,
      identities: accounts
        .filter(({ providerId }) => providerId !== OWN)
        .map(({ providerId: provider, accountId: subject }) => ({ provider, subject })),
    },
  })
}

/** Drizzle names the columns `two_factor_enabled`, other adapters `twoFactorEnabled`. */
function namedByCase(row: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}
