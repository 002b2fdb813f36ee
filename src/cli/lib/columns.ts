import { showEmails } from '../../protocol/sign-in/email-address.ts'
import type { Names } from '../../admin/names.ts'
import type { Paint } from './terminal.ts'

const GAP = '  '

/** Aligned columns below their headings. */
export function columns(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): readonly string[] {
  const cells = rows.map((row) => row.map(visible))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => lengthOf(row[column] ?? ''))),
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(cell))))
      .join(GAP)
      .trimEnd()
  return [paint('dim', line(headings)), ...cells.map(line)]
}

/** Aligned `name  value` lines. */
export function facts(pairs: readonly (readonly [name: string, value: string])[], paint: Paint): readonly string[] {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${paint('dim', name.padEnd(width))}${GAP}${visible(value)}`)
}

/** Every member of an answer on a line of its own. As in the JSON of a server, a member without a value is absent. */
export function record(answer: object, paint: Paint): readonly string[] {
  const members = Object.entries(answer).filter(([, value]) => value !== undefined)
  return facts(
    members.map(([name, value]): [string, string] => [name, textOf(value)]),
    paint,
  )
}

/** A line for each member that a task replaced by another value. Absent is the default. undefined: there was nothing to replace. */
export function replaced(before: object | null | undefined, now: object, paint: Paint): readonly string[] {
  const [old, current] = [before ?? {}, now].map((one) => one as Readonly<Record<string, unknown>>)
  const names = before == null ? [] : Object.keys({ ...old, ...current })
  const text = (value: unknown): string => (value === undefined ? 'the default' : textOf(value))
  const changed = names
    .map((name): [string, string, string] => [name, text(old?.[name]), text(current?.[name])])
    .filter(([, one, other]) => one !== other)
  return facts(
    changed.map(([name, one, other]) => [name, `${one} → ${other}`]),
    paint,
  )
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(textOf).join(isObject(value[0]) ? '; ' : ', ')
  if (isObject(value)) return partsOf(value).join(', ') || '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : '–'
}

/** What an object has, in the form in which options take it: `address.country=GB`. */
function partsOf(value: object, above = ''): readonly string[] {
  return Object.entries(value).flatMap(([name, part]) =>
    isObject(part) && !Array.isArray(part)
      ? partsOf(part, `${above}${name}.`)
      : part === undefined || part === null
        ? []
        : [`${above}${name}=${textOf(part)}`],
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/**
 * Replaces control and format characters by their code points: text that an unknown client registered must not move the
 * cursor, colour the screen or reverse the line. Addresses are as persons read them.
 */
export function visible(text: string): string {
  return showEmails(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  )
}

/** Characters at the end of an id that distinguish records of the same name. */
const TAIL = 6

/**
 * The name of an id: the address of a user, which is unique, or a name with the end of the id, because a client can register
 * under any name. An id without a name is returned unchanged.
 */
export function nameOf(names: Names, id: string | null): string {
  if (id === null) return '–'
  const name = names[id]
  if (name === undefined) return id
  return id.startsWith('gus_') ? name : `${name} …${id.slice(-TAIL)}`
}

/** A time in UTC to the minute: `2026-11-20 14:02`. The heading of the column names the zone. */
export function formatTime(iso: string | null): string {
  return iso === null ? '–' : iso.slice(0, 16).replace('T', ' ')
}

/** The rows of all tables. */
export function countRows(rows: Readonly<Record<string, number>>): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0)
}

function lengthOf(text: string): number {
  return [...text].length
}
