import type { EpochMs } from '../base/brand.ts'
import { NO_SCOPE, type Scope } from '../protocol/token/scope.ts'
import type { Row, Value } from './rows.ts'

/** A column of both databases, and the value that it stores of a record or of one member of a record. */
export interface Column<Stored> {
  readonly name: string
  readonly type: 'text' | 'bigint'
  readonly write: (stored: Stored) => Value
}

/** How a member of a record is stored. Most members take one column. */
export interface Member<T> {
  readonly columns: readonly Column<T>[]
  readonly read: (row: Row) => T
}

type Members<Stored> = { readonly [Name in keyof Stored]-?: Member<Stored[Name]> }

/** The columns of rows, each named once. The texts have them in the order of `columns`. */
export interface Columns<Stored> {
  readonly columns: readonly Column<Stored>[]
  /** The values of a row, in the order of `columns`. */
  readonly write: (record: Stored) => readonly Value[]
  /** The values of a row, by column, as parameters of a shared statement. */
  readonly values: (record: Stored) => Readonly<Record<string, Value>>
  /** `user_id, email` */
  readonly names: string
  /** `cast(:user_id as text), cast(:email as text)` */
  readonly parameters: string
}

export interface Table<Stored> extends Columns<Stored> {
  readonly read: (row: Row) => Stored
}

/** Declares the columns of a table. A member of the record without a column does not compile. */
export function table<Stored extends object>(members: Members<Stored>): Table<Stored> {
  const { columns, read } = group(members)
  return { ...columnsOf(columns), read }
}

/** A member that is an object with columns for each of its own members. */
export function group<T extends object>(members: Members<T>): Member<T> {
  const entries = Object.entries(members) as [keyof T & string, Member<unknown>][]
  const readers = entries.map(([name, { read }]) => ({ name, read }))
  // To copy an object and set its members is four times faster than to add the members.
  const blank = Object.fromEntries(entries.map(([name]) => [name, undefined]))
  return {
    columns: entries.flatMap(([name, { columns }]) =>
      columns.map((column) => ({ ...column, write: (value: T) => column.write(value[name]) })),
    ),
    read(row) {
      const value: Record<string, unknown> = { ...blank }
      for (const { name, read } of readers) value[name] = read(row)
      return value as T
    },
  }
}

/** The same for an object that may be absent: then its columns are null. `sign` is a column that it always has. */
export function optionalGroup<T extends object>(sign: string, members: Members<T>): Member<T | undefined> {
  const { columns, read } = group(members)
  return {
    columns: columns.map((column) => ({
      ...column,
      write: (value) => (value === undefined ? null : column.write(value)),
    })),
    read: (row) => (row[sign] === null ? undefined : read(row)),
  }
}

/** The columns of a table without some that a statement leaves out. */
export function without<Stored>({ columns }: Columns<Stored>, ...names: readonly string[]): Columns<Stored> {
  return columnsOf(columns.filter(({ name }) => !names.includes(name)))
}

function columnsOf<Stored>(columns: readonly Column<Stored>[]): Columns<Stored> {
  const blank: Record<string, Value> = Object.fromEntries(columns.map(({ name }) => [name, null]))
  return {
    columns,
    write: (record) => columns.map(({ write }) => write(record)),
    values(record) {
      const values = { ...blank }
      for (const { name, write } of columns) values[name] = write(record)
      return values
    },
    names: columns.map(({ name }) => name).join(', '),
    parameters: columns.map(parameterOf).join(', '),
  }
}

/** `cast(:email as text)`: PostgreSQL cannot infer the type of every parameter. */
function parameterOf({ name, type }: Pick<Column<never>, 'name' | 'type'>): string {
  return `cast(:${name} as ${type})`
}

/** `name = cast(:name as text), …`, to replace all columns of a row. */
export function assignments<Stored>({ columns }: Columns<Stored>): string {
  return columns.map((column) => `${column.name} = ${parameterOf(column)}`).join(', ')
}

/** A condition that all columns still have the values of `previousValues`. */
export function isUnchanged<Stored>({ columns }: Columns<Stored>): string {
  return columns
    .map(({ name, type }) => `${name} is not distinct from ${parameterOf({ name: `previous_${name}`, type })}`)
    .join(' and ')
}

/** The parameters of `isUnchanged`. */
export function previousValues<Stored>({ columns }: Columns<Stored>, record: Stored): Readonly<Record<string, Value>> {
  return Object.fromEntries(columns.map(({ name, write }) => [`previous_${name}`, write(record)]))
}

/** A text. Null is undefined. */
export function text<T extends string | undefined>(name: string): Member<T> {
  return {
    columns: [{ name, type: 'text', write: (value) => value ?? null }],
    read: (row) => (row[name] ?? undefined) as T,
  }
}

/** A whole number, such as a time. Null is undefined. */
export function bigint<T extends number | undefined>(name: string): Member<T> {
  return {
    columns: [{ name, type: 'bigint', write: (value) => value ?? null }],
    read: (row) => (row[name] ?? undefined) as T,
  }
}

/** A boolean, stored as 0 or 1. */
export function flag(name: string): Member<boolean> {
  return { columns: [{ name, type: 'bigint', write: Number }], read: (row) => row[name] === 1 }
}

/** JSON in a column of text. */
export function json<T>(
  name: string,
  store: (value: T) => unknown = (value) => value,
  restore: (stored: unknown) => T = (stored) => stored as T,
): Member<T> {
  return {
    columns: [{ name, type: 'text', write: (value) => JSON.stringify(store(value)) }],
    read: (row) => restore(JSON.parse(row[name] as string)),
  }
}

/** JSON of a value that is absent for most rows, and stored as null then. */
export function optionalJson<T extends object>(name: string): Member<T | undefined> {
  return {
    columns: [{ name, type: 'text', write: (value) => (value === undefined ? null : JSON.stringify(value)) }],
    read: (row) => (typeof row[name] === 'string' ? (JSON.parse(row[name]) as T) : undefined),
  }
}

/** A scope that is empty for most rows, and stored as null then. */
export function optionalScope(name: string): Member<Scope> {
  return {
    columns: [{ name, type: 'text', write: (value) => (value === NO_SCOPE ? null : value) }],
    read: (row) => (row[name] ?? NO_SCOPE) as Scope,
  }
}

/** Of a record that can be disabled. What was issued to it before its not-before time is revoked. */
export const disabling = {
  disabledAt: bigint<EpochMs | undefined>('disabled_at'),
  notBefore: bigint<EpochMs>('not_before'),
}
