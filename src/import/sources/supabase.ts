import { isObject, type JsonObject } from '../../base/json.ts'
import { base32Bytes } from '../../protocol/sign-in/totp.ts'
import { readRecordLines, type RecordLine } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import {
  isFuture,
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
import { lostMembers, type MemberTable } from './members.ts'

/** What its own connections are called: they have no account elsewhere. */
const OWN: ReadonlySet<unknown> = new Set(['email', 'phone'])
/** Of the metadata: what is no attribute. */
const STATE: ReadonlySet<string> = new Set(['sub', 'iss', 'provider_id', 'email', 'email_verified', 'phone_verified'])
const SHORTEST_SECRET = 16
const USER: MemberTable = {
  banned_until: 'read',
  deleted_at: 'read',
  email: 'read',
  email_confirmed_at: 'read',
  encrypted_password: 'read',
  id: 'read',
  identities: 'read',
  mfa_factors: 'read',
  phone: 'read',
  phone_confirmed_at: 'read',
  raw_user_meta_data: 'read',
  // Which of the identities the user has signed up with.
  raw_app_meta_data: { members: { provider: 'harmless', providers: 'harmless' } },
  // As each user has them.
  aud: ['authenticated'],
  role: ['authenticated'],
  instance_id: 'harmless',
  // `email_confirmed_at` and `phone_confirmed_at` together.
  confirmed_at: 'harmless',
  created_at: 'harmless',
  invited_at: 'harmless',
  last_sign_in_at: 'harmless',
  updated_at: 'harmless',
  // Links that were mailed and are not used yet. They end.
  confirmation_sent_at: 'harmless',
  confirmation_token: 'harmless',
  recovery_sent_at: 'harmless',
  recovery_token: 'harmless',
  'email_change*': 'harmless',
  'phone_change*': 'harmless',
  'reauthentication_*': 'harmless',
}

/** Rows of `auth.users`, each with its rows of `auth.identities` and `auth.mfa_factors` (docs/moving.md has the query). */
export const SUPABASE: Source = {
  verb: 'supabase',
  summary: 'Import users from the table auth.users of Supabase.',
  argument: ['ndjson', 'rows of auth.users with their identities and mfa_factors, a JSON object on each line'],
  switches: [],
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
  const { factors, lostFactors } = readFactors(user['mfa_factors'], {
    kindIn: 'factor_type',
    // The user has not finished setting it up.
    isNoFactor: ({ status }) => status === 'unverified',
    isReplacement: () => false,
    appOf,
  })
  const isDeleted = mayApply(user['deleted_at'])
  return sourceRecord('user', line, id, {
    lostFactors,
    notes: !isDeleted && isFuture(user['banned_until']) ? ['ban_unlimited'] : [],
    dropped: [...taken.dropped, ...lostMembers(user, USER)],
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
      disabled: (mayApply(user['banned_until']) && !isPast(user['banned_until'])) || isDeleted,
      ...factors,
      identities: identities.map((one) => ({ provider: one['provider'], subject: one['provider_id'] })),
    },
  })
}

/** The secret of an authenticator app, unless it is encrypted. */
function appOf({ factor_type: type, secret }: JsonObject): string | undefined {
  const bytes = type === 'totp' && typeof secret === 'string' ? base32Bytes(secret) : undefined
  return bytes !== undefined && bytes.length >= SHORTEST_SECRET ? String(secret) : undefined
}
