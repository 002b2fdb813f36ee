import { readFileSync, statSync } from 'node:fs'
import { isObject, type JsonObject } from '../../base/json.ts'
import { isAcceptable, readDocument } from '../input-file.ts'
import type { SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import {
  isGranted,
  mapObjects,
  mayApply,
  objectsOf,
  recordsIn,
  sourceRecord,
  takeAttributes,
  textOf,
} from './attributes.ts'

/** What is no attribute. */
const STATE: ReadonlySet<string> = new Set([
  'localId',
  'mfaInfo',
  'multiFactor',
  'email',
  'emailVerified',
  'passwordHash',
  'salt',
  'displayName',
  'photoUrl',
  'phoneNumber',
  'lastSignedInAt',
  'createdAt',
  'disabled',
  'providerUserInfo',
])
/** A file of a few lines. */
const PARAMS_BYTES = 10_000

/** Users as `firebase auth:export` writes them, and the parameters of their hashes as its console shows them. */
export const FIREBASE: Source = {
  verb: 'firebase',
  summary: 'Import users from the file of "firebase auth:export".',
  argument: ['users', 'the file, which ends in .json'],
  switches: [],
  options: [['params', 'the hash_config that the console of Firebase shows; a file that only you can read']],
  unsaid: 'An export of firebase-tools before 15.23 does not say who has a second factor.',
  namesProvidersHere: false,
  paths: ({ main, others }) => [main, ...Object.values(others)],
  *read({ main, others: { params } }): Generator<SourceRecord> {
    const document = readDocument(main)
    const users = isObject(document) ? document['users'] : undefined
    if (!Array.isArray(users)) throw new Error(`${main} is not a file of "firebase auth:export".`)
    const hashing = params === undefined ? undefined : readParams(params)
    if (hashing === undefined && objectsOf(users).some(({ passwordHash: hash }) => (textOf(hash) ?? '') !== ''))
      throw new Error(`${main} has password hashes, which need the parameters of the project. See --params.`)
    for (const { line, value } of recordsIn(main, 'users', users)) yield userOf(line, value, hashing)
  },
}

/** The start of a hash as Supabase writes it. */
function readParams(path: string): string {
  const { mode, size } = statSync(path)
  if ((mode & 0o077) !== 0)
    throw new Error(`${path} has the signer key of the project, and others can read it. Change its mode to 0600.`)
  const text = size > PARAMS_BYTES ? '' : readFileSync(path, 'utf8')
  const given = (name: string, form: string) =>
    new RegExp(String.raw`\b${name}\s*:\s*"?(${form})"?\s*(?:,|\}|$)`, 'm').exec(text)?.[1]
  const algorithm = given('algorithm', '[A-Z0-9_]+')
  const base64 = '[A-Za-z0-9+/_=-]*'
  const [key, separator] = ['base64_signer_key', 'base64_salt_separator'].map((name) => given(name, base64))
  const [rounds, memory] = ['rounds', 'mem_cost'].map((name) => given(name, String.raw`\d+`))
  const isWhole = [key, separator, rounds, memory].every((one) => one !== undefined) && key !== ''
  if (algorithm !== 'SCRYPT' || !isWhole)
    throw new Error(`${path} is not the hash_config of a project that hashes with SCRYPT.`)
  return `$fbscrypt$v=1,n=${memory},r=${rounds},p=1,ss=${usual(separator)},sk=${usual(key)}`
}

function userOf(line: number, user: JsonObject | undefined, hashing: string | undefined): SourceRecord {
  const id = user?.['localId']
  if (!isAcceptable(user)) return sourceRecord('user', line, id, {})
  const taken = takeAttributes(user['displayName'], {
    ...Object.fromEntries(Object.entries(user).filter(([name]) => !STATE.has(name))),
    picture: user['photoUrl'],
    phone_number: user['phoneNumber'],
  })
  const hash = textOf(user['passwordHash']) ?? ''
  const lostFactors = [
    ...(mayApply(user['mfaInfo']) ? ['mfaInfo'] : []),
    ...(mayApply(ofAdminSdk(user['multiFactor'])) ? ['multiFactor'] : []),
  ]
  return sourceRecord('user', line, id, {
    lostFactors,
    dropped: taken.dropped,
    value: {
      type: 'user',
      id,
      email: user['email'] ?? null,
      email_verified: isGranted(user['emailVerified']),
      name: taken.name,
      profile: taken.profile,
      password_hash: hash === '' ? null : `${hashing}$${usual(textOf(user['salt']))}$${usual(hash)}`,
      disabled: mayApply(user['disabled']),
      has_second_factor: lostFactors.length > 0,
      identities: mapObjects(user['providerUserInfo'], (one) => ({
        provider: one['providerId'],
        subject: one['rawId'],
      })),
    },
  })
}

/** Its list of second factors. Of another form, the value itself. */
function ofAdminSdk(value: unknown): unknown {
  return isObject(value) && 'enrolledFactors' in value ? value['enrolledFactors'] : value
}

/** The usual alphabet of base64. The Admin SDK writes the other one. */
function usual(text: string | undefined): string {
  return (text ?? '').replaceAll('-', '+').replaceAll('_', '/')
}
