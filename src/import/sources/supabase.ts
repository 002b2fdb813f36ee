import { isObject } from '../../base/json.ts'
import { base32Bytes } from '../../protocol/sign-in/totp.ts'
import { readRecordLines, type RecordLine } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import {
  isPast,
  mayApply,
  objectsOf,
  readFactors,
  requireRows,
  sourceRecord,
  takeAttributes,
  textOf,
  timeOf,
} from './attributes.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** What its own connections are called: they have no account elsewhere. */
const OWN: ReadonlySet<unknown> = new Set(['email', 'phone'])
/** Of the metadata: what is no attribute. */
const STATE: ReadonlySet<string> = new Set(['sub', 'iss', 'provider_id', 'email', 'email_verified', 'phone_verified'])
const SHORTEST_SECRET = 16

/** Rows of `auth.users`, each with its rows of `auth.identities` and `auth.mfa_factors` (docs/moving.md has the query). */
export const SUPABASE: Source = {
  verb: 'supabase',
  summary: 'Import users from the table auth.users of Supabase.',
  argument: ['ndjson', 'rows of auth.users with their identities and mfa_factors, a JSON object on each line'],
  options: [],
  namesProvidersHere: false,
  paths: ({ main }) => [main],
  *read({ main }): Generator<SourceRecord> {
    for (const record of readRecordLines(main)) {
      requireRows(main, record, ['identities', 'mfa_factors'])
      yield userOf(record)
    }
  },
}

function userOf({ line, value: user }: RecordLine): SourceRecord {
  const id = user?.['id']
  if (user === undefined) return sourceRecord('user', line, id, {})
  const metadata = isObject(user['raw_user_meta_data']) ? user['raw_user_meta_data'] : {}
  const { name, full_name: fullName, avatar_url: avatar, ...attributes } = metadata
  const phone = textOf(user['phone']) ?? ''
  const taken = takeAttributes(textOf(name) ?? fullName, {
    picture: avatar,
    ...Object.fromEntries(Object.entries(attributes).filter(([one]) => !STATE.has(one))),
    // Users write the metadata themselves, so it says nothing of these. A number is stored without its plus sign.
    phone_number: phone === '' ? undefined : `+${phone.replace(/^\+/, '')}`,
    phone_number_verified: phone === '' ? undefined : timeOf(user['phone_confirmed_at']) !== undefined,
  })
  const identities = objectsOf(user['identities']).filter(({ provider }) => !OWN.has(provider))
  return sourceRecord('user', line, id, {
    dropped: taken.dropped,
    value: {
      type: 'user',
      id,
      email: user['email'] ?? null,
      email_verified: timeOf(user['email_confirmed_at']) !== undefined,
      name: taken.name,
      profile: taken.profile,
      // An account without a password has an empty text.
      password_hash: textOf(user['encrypted_password']) || null,
      // A time that cannot be read, as PostgreSQL's `infinity`, has not come.
      disabled: (mayApply(user['banned_until']) && !isPast(user['banned_until'])) || mayApply(user['deleted_at']),
      ...readFactors(user['mfa_factors'], {
        // The user has not finished setting it up.
        isNoFactor: ({ status }) => status === 'unverified',
        isReplacement: () => false,
        appOf,
      }),
      identities: identities.map((one) => ({ provider: one['provider'], subject: one['provider_id'] })),
    },
  })
}

/** The secret of an authenticator app, unless it is encrypted. */
function appOf({ factor_type: type, secret }: JsonObject): string | undefined {
  const bytes = type === 'totp' && typeof secret === 'string' ? base32Bytes(secret) : undefined
  return bytes !== undefined && bytes.length >= SHORTEST_SECRET ? String(secret) : undefined
}
