import { isObject, isSameJson, type JsonObject } from '../../base/json.ts'
import { mayApply } from './attributes.ts'

/**
 * What becomes of a member of a record of another system. Every member that has no rule is lost if it has a value.
 *
 * - `read`: the reader takes it, or says by itself what is lost.
 * - `harmless`: nothing is lost without it.
 * - a list: nothing is lost without one of these values.
 * - a table: the rules of the members of the object.
 */
export type MemberRule = 'read' | 'harmless' | readonly unknown[] | { readonly members: MemberTable }

/** The rules by the names of the members. A name that ends in `*` is the start of names. */
export type MemberTable = Readonly<Record<string, MemberRule>>

/** Returns the paths of the members whose values are neither taken nor harmless to lose. No values, which may be secrets. */
export function lostMembers(record: JsonObject, table: MemberTable): readonly string[] {
  const starts = Object.keys(table).filter((name) => name.endsWith('*'))
  return Object.entries(record).flatMap(([name, value]) => {
    const start = starts.find((one) => name.startsWith(one.slice(0, -1)))
    const rule = Object.hasOwn(table, name) ? table[name] : start === undefined ? undefined : table[start]
    if (rule === 'read' || rule === 'harmless') return []
    if (isList(rule)) return isEmpty(value) || rule.some((one) => isSameJson(one, value)) ? [] : [memberName(name)]
    if (!isSet(value)) return []
    if (rule === undefined || !isObject(value)) return [memberName(name)]
    return lostMembers(value, rule.members).map((inner) => `${memberName(name)}.${inner}`)
  })
}

/** Whether a member has a value somewhere that may say something. */
export function isSet(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some(isSet) : mayApply(value)
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function isList(rule: MemberRule | undefined): rule is readonly unknown[] {
  return Array.isArray(rule)
}

/** The name of a member, if a program may have named it so. Others may be personal data or secrets. */
export function memberName(name: string): string {
  return /^(?=.{1,80}$)[A-Za-z]{1,40}\d{0,4}(?:[-_.:/][A-Za-z]{0,40}\d{0,4})*$/.test(name) ? name : '…'
}
