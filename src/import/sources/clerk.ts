import { normalizeEmail } from '../../protocol/sign-in/email-address.ts'
import { readCsvRecords } from '../csv-file.ts'
import type { RecordLine } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import { mayApply, sourceRecord, takeAttributes, textOf } from './attributes.ts'

/** Without one of them, an account would lose its password or its second factor in silence. */
const COLUMNS = [
  'id',
  'primary_email_address',
  'verified_email_addresses',
  'totp_secret',
  'password_digest',
  'password_hasher',
]
/** Columns that tell of an authenticator app, or of codes instead of it, and those that tell of another second factor. Its API has them. */
const APP_COLUMNS = ['two_factor_enabled', 'totp_enabled', 'backup_code_enabled']
const FACTOR_COLUMNS = ['passkeys']
const BAN_COLUMNS = ['banned', 'locked']
/** Columns that are read, but are no attributes. */
const STATE: ReadonlySet<string> = new Set([
  ...COLUMNS,
  ...APP_COLUMNS,
  ...FACTOR_COLUMNS,
  ...BAN_COLUMNS,
  'first_name',
  'last_name',
  'username',
  'primary_phone_number',
  'verified_phone_numbers',
  'unverified_email_addresses',
  'unverified_phone_numbers',
])
/** Its names of formats whose text alone says what it is. Others look the same, and have been hashed twice or with a pepper. */
const HASHERS: ReadonlySet<string> = new Set([
  'argon2i',
  'argon2id',
  'bcrypt',
  'pbkdf2_sha1',
  'pbkdf2_sha256',
  'pbkdf2_sha256_django',
  'pbkdf2_sha512',
])

/** Users as the dashboard of Clerk exports them. */
export const CLERK: Source = {
  verb: 'clerk',
  summary: 'Import users from the CSV file of the dashboard of Clerk.',
  argument: ['csv', 'the export of all users, with their password hashes'],
  switches: [],
  options: [],
  unsaid: 'The file does not say who is banned, or has a second factor other than an authenticator app.',
  namesProvidersHere: false,
  paths: ({ main }) => [main],
  *read({ main }): Generator<SourceRecord> {
    for (const record of readCsvRecords(main, COLUMNS)) yield userOf(record)
  },
}

function userOf({ line, value }: RecordLine): SourceRecord {
  if (value === undefined) return sourceRecord('user', line, undefined, {})
  const cell = (name: string) => textOf(value[name]) ?? ''
  const [id, email, secret] = [cell('id'), cell('primary_email_address'), cell('totp_secret')] as const
  const [given, family, phone] = [cell('first_name'), cell('last_name'), cell('primary_phone_number')] as const
  const others = Object.entries(value).filter(([name, text]) => !STATE.has(name) && text !== '{}')
  const taken = takeAttributes([given, family].filter((one) => one !== '').join(' '), {
    ...Object.fromEntries(others),
    given_name: given,
    family_name: family,
    preferred_username: cell('username'),
    phone_number: phone,
    ...(phone !== '' && { phone_number_verified: listOf(cell('verified_phone_numbers')).includes(phone) }),
  })
  const lostFactors = (secret === '' ? [...APP_COLUMNS, ...FACTOR_COLUMNS] : FACTOR_COLUMNS).filter((name) =>
    mayApply(value[name]),
  )
  return sourceRecord('user', line, id, {
    lostFactors,
    // Its lock ends by itself.
    notes: mayApply(value['locked']) && !mayApply(value['banned']) ? ['ban_unlimited'] : [],
    dropped: taken.dropped,
    value: {
      type: 'user',
      id,
      email,
      email_verified: listOf(cell('verified_email_addresses')).map(normalizeEmail).includes(normalizeEmail(email)),
      name: taken.name,
      profile: taken.profile,
      password_hash: hashOf(cell('password_digest'), cell('password_hasher')),
      disabled: BAN_COLUMNS.some((name) => mayApply(value[name])),
      totp: secret === '' ? null : { secret },
      has_second_factor: lostFactors.length > 0,
    },
  })
}

/** Of a digest that cannot be verified here, a text that is refused as one. */
function hashOf(digest: string, hasher: string): string | null {
  if (digest === '') return null
  return HASHERS.has(hasher) ? digest : 'of another format'
}

/** Neither addresses nor numbers have one of these. */
function listOf(cell: string): readonly string[] {
  return cell.split(/[\s,;|]+/)
}
