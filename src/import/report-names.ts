import type * as z from 'zod'
import { factorMembersOf } from './plan-user.ts'
import type { SourceRecord } from './records.ts'
import { termOf } from './report.ts'

/** Of a URI in the report. */
const URI_LIMIT = 256

/** The names of members, and of a client also a value that is none of those that a member may have. No other text of the file. */
export function membersOf(issues: readonly z.core.$ZodIssue[], { kind, value }: SourceRecord): string {
  const names = issues.flatMap((issue) => {
    const place = issue.path.map(String)
    if (issue.code === 'invalid_value' && kind === 'client') return [[nameOf(place), ...termIn(value, place)].join(' ')]
    if (issue.code !== 'unrecognized_keys') return [nameOf(place)]
    return issue.keys.map((key) => `${nameOf([...place, key])} (unknown)`)
  })
  return [...new Set(names)].slice(0, 5).join(', ')
}

/** The value at a place, if it may be shown. */
function termIn(value: unknown, place: readonly string[]): readonly string[] {
  const found = place.reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>>)[name], value)
  const term = termOf(found)
  return term === undefined ? [] : [term]
}

/** A member that no program would name so may be personal data. */
function nameOf(place: readonly string[]): string {
  const named = place.map((one) => (/^(?:[A-Za-z]{1,20}(?:_[A-Za-z]{1,20}){0,6}|\d{1,3})$/.test(one) ? one : '…'))
  return named.join('.') || 'the line'
}

/** A URI of the file, which may be any text, in visible ASCII. */
export function loggable(uri: string): string {
  const text = uri.replaceAll(/[^\x21-\x7e]/gu, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
  return text.length > URI_LIMIT ? `${text.slice(0, URI_LIMIT)}…` : text
}

/** The kinds of second factors that a user loses, by their names there. */
export function factorsLostOf({ lostFactors, value }: SourceRecord): readonly string[] {
  const ofFile = lostFactors.length > 0 ? lostFactors : factorMembersOf(value)
  return [...new Set(ofFile.map((one) => `factor ${one}`))]
}

/** Names in one text; undefined: there are none. */
export function detailOf(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(', ')
}
