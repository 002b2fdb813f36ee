import type * as z from 'zod'
import { NAME } from '../../admin/fields.ts'
import { PROFILE_CHANGE } from '../../admin/user/tasks.ts'
import { isObject } from '../../base/json.ts'
import type { RecordLine } from '../input-file.ts'
import type { ImportedKind, SourceRecord } from '../records.ts'

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

/** The grant types that clients of other systems keep. */
const KEPT_GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token', 'client_credentials']

/** The grant types that a client keeps, and the others as attributes that it loses. */
export function takeGrantTypes(given: readonly string[]): {
  readonly grantTypes: readonly string[]
  readonly dropped: readonly string[]
} {
  const [kept, others] = [true, false].map((isKept) => given.filter((one) => KEPT_GRANT_TYPES.includes(one) === isKept))
  return { grantTypes: kept ?? [], dropped: (others ?? []).map((one) => `grant type ${one}`) }
}

/** A record of a source. */
export function sourceRecord(
  kind: ImportedKind,
  line: number,
  sourceId: unknown,
  rest: Partial<Pick<SourceRecord, 'value' | 'notes' | 'dropped' | 'secretHash'>>,
): SourceRecord {
  return {
    kind,
    line,
    sourceId: typeof sourceId === 'string' ? sourceId : undefined,
    value: undefined,
    notes: [],
    secretHash: undefined,
    dropped: [],
    ...rest,
  }
}

/** The objects of a list. Whatever else it has is no record. */
export function objectsOf(list: unknown): readonly Readonly<Record<string, unknown>>[] {
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
