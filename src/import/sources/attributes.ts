import type * as z from 'zod'
import { NAME } from '../../admin/fields.ts'
import { PROFILE_CHANGE } from '../../admin/user/tasks.ts'
import { isObject, parseJson, type JsonObject } from '../../base/json.ts'
import { isAcceptable, type RecordLine } from '../input-file.ts'
import { termOf } from '../report.ts'
import type { ImportedKind, Impossible, SourceRecord } from '../records.ts'

/** What of the attributes of a user or a client is taken, and the names of the others. */
interface Taken {
  readonly name: string | undefined
  readonly profile: Readonly<Record<string, unknown>>
  readonly dropped: readonly string[]
}

/** The attributes that are standard claims, as this server has them (OpenID Connect Core 1.0 §5.1). Those without a value are ignored. */
export function takeAttributes(name: unknown, attributes: Readonly<Record<string, unknown>>): Taken {
  const schemas: Readonly<Record<string, z.ZodType | undefined>> = PROFILE_CHANGE.shape
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const taken = given.filter(([one, value]) => Object.hasOwn(schemas, one) && schemas[one]?.safeParse(value).success)
  const profile: Record<string, unknown> = Object.fromEntries(taken)
  if (profile['phone_number'] === undefined) delete profile['phone_number_verified']
  const shown = NAME.safeParse(name)
  const isDropped = typeof name === 'string' && name.trim() !== '' && !shown.success
  return {
    name: shown.data,
    profile,
    dropped: [...given.map(([one]) => one).filter((one) => !(one in profile)), ...(isDropped ? ['name'] : [])],
  }
}

/** How files spell "no", apart from an absent value. */
const NO: ReadonlySet<string> = new Set(['', '0', '[]', 'f', 'false', 'no', '{}'])

/** Whether a value grants something: `true`, or 1 as SQLite and MySQL have it. Every other value grants nothing. */
export function isGranted(value: unknown): boolean {
  return value === true || value === 1
}

/** Whether a value restricts something, or is something that can be lost: every value that is neither absent, nor empty, nor "no". */
export function mayApply(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'object') return Object.keys(value).length > 0
  return typeof value === 'string' ? !NO.has(value.toLowerCase()) : value !== false && value !== 0
}

/** A time as databases and JSON write it. undefined: another value, which `Date.parse` may take for a year. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}[T ]\d{2}:/.test(value)) return undefined
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}

/** Whether a time is known to be past. */
export function isPast(value: unknown): boolean {
  const time = timeOf(value)
  return time !== undefined && time <= Date.now()
}

/** Whether a time is known to come, so that what ends then is temporary. */
export function isFuture(value: unknown): boolean {
  return timeOf(value) !== undefined && !isPast(value)
}

interface FactorReading {
  /** Whether a credential is not a second factor. */
  readonly isNoFactor: (credential: JsonObject) => boolean
  /** Whether it only replaces an authenticator app. */
  readonly isReplacement: (credential: JsonObject) => boolean
  /** The secret of an authenticator app that can be moved. */
  readonly appOf: (credential: JsonObject) => string | undefined
  /** The member with its kind. */
  readonly kindIn: string
}

/**
 * The members of a user that tell of second factors: one app is moved, and every other credential is a lost factor, whatever it is called.
 * So is what cannot be read.
 */
export function readFactors(list: unknown, { isNoFactor, isReplacement, appOf, kindIn }: FactorReading) {
  const given: readonly unknown[] = Array.isArray(list) ? list : list === undefined || list === null ? [] : [list]
  const factors = given.filter((one) => !isObject(one) || !isNoFactor(one))
  const secrets = factors.map((one) => (isObject(one) ? appOf(one) : undefined))
  const moved = secrets.findIndex((secret) => secret !== undefined)
  const lost = factors.filter(
    (one, index) => index !== moved && (moved === -1 || !isObject(one) || !isReplacement(one)),
  )
  return {
    factors: { totp: moved === -1 ? null : { secret: secrets[moved] }, has_second_factor: lost.length > 0 },
    lostFactors: lost.map((one) => termOf(isObject(one) ? one[kindIn] : one) ?? '…'),
  }
}

/** The grant types that clients of other systems keep. */
const KEPT_GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token', 'client_credentials']

/** The grant types that a client keeps, and the others as attributes that it loses. Without one of the first it is not possible. */
export function takeGrantTypes(given: readonly string[]): {
  readonly grantTypes: readonly string[]
  readonly dropped: readonly string[]
  readonly impossible: Impossible | undefined
} {
  const [kept, others] = [true, false].map((isKept) => given.filter((one) => KEPT_GRANT_TYPES.includes(one) === isKept))
  const dropped = (others ?? []).map((one) => `grant type ${termOf(one) ?? '…'}`)
  const names = (others ?? []).map((one) => termOf(one) ?? '…').join(', ')
  const uses = names === '' ? 'It uses no grant type' : `It uses only ${names}`
  const impossible =
    kept?.length === 0
      ? impossibleClient(
          `${uses} there, which is not possible here. Let it use authorization_code or client_credentials there.`,
        )
      : undefined
  return { grantTypes: kept ?? [], dropped, impossible }
}

/** Why the server cannot have a client, in sentences. */
export function impossibleClient(detail: string): Impossible {
  return { reason: 'client_not_possible', detail }
}

/** Why a client with restrictions, by their names there, is refused: without them it could do more than before. undefined: it has none. */
export function restrictedClient(names: readonly string[]): Impossible | undefined {
  return names.length === 0
    ? undefined
    : impossibleClient(
        `It is restricted by ${names.join(', ')} there, which is not possible here. Remove the restriction there, or create the client here.`,
      )
}

/** A record of a source. */
export function sourceRecord(
  kind: ImportedKind,
  line: number,
  sourceId: unknown,
  rest: Partial<Omit<SourceRecord, 'kind' | 'line' | 'sourceId'>>,
): SourceRecord {
  return {
    kind,
    line,
    sourceId: typeof sourceId === 'string' ? sourceId : undefined,
    value: undefined,
    skipped: undefined,
    impossible: undefined,
    notes: [],
    secretHash: undefined,
    dropped: [],
    lostFactors: [],
    ...rest,
  }
}

/**
 * The records of a list in a document. What is no object in it cannot be read.
 *
 * @throws Error when it is no list, which names its members
 */
export function* recordsIn(path: string, what: string, list: unknown): Generator<RecordLine> {
  if (!Array.isArray(list)) {
    const names = isObject(list) ? `an object with the members ${Object.keys(list).slice(0, 8).join(', ')}` : 'none'
    throw new Error(`${path}: ${what} must be a JSON array, and this is ${names}.`)
  }
  for (const [index, one] of list.entries()) yield { line: index + 1, value: isObject(one) ? one : undefined }
}

/** Each element of a list as the neutral format has it. What is no list, and elements that are no objects, stay, and are refused. */
export function mapObjects(list: unknown, map: (one: JsonObject) => unknown): unknown {
  if (!Array.isArray(list)) return list ?? []
  return list.map((one) => (isObject(one) ? map(one) : (one as unknown)))
}

/** An object that is JSON as text, or itself. What is no such object is an empty one. */
export function parsedObject(text: unknown): JsonObject {
  const value = typeof text === 'string' ? parseJson(text) : text
  return isAcceptable(value) ? value : {}
}

/** The objects of a list. Whatever else it has is no record. */
export function objectsOf(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

export function textsOf(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
}

/** A text, also of an attribute that is a list of one. Of a number only if it is exact. undefined: another value. */
export function textOf(value: unknown): string | undefined {
  const [one] = Array.isArray(value) && value.length === 1 ? (value as readonly unknown[]) : [value]
  if (typeof one === 'number' && Number.isSafeInteger(one)) return String(one)
  return typeof one === 'string' ? one : undefined
}

/**
 * Rows of other tables that belong to the row of a user. If a query left them out, the user would lose identities or a second factor in silence.
 *
 * @throws Error when a line has no list of one of these names
 */
export function requireRows(path: string, { line, value }: RecordLine, names: readonly string[]): void {
  const missing = value === undefined ? undefined : names.find((name) => !Array.isArray(value[name]))
  if (missing === undefined) return
  throw new Error(`${path}: line ${line} has no list ${missing}. docs/moving.md has the query that makes the file.`)
}
