import type * as z from 'zod'
import { orNull } from './null-meaning.ts'

/**
 * A member of a record that is registered: one row of the table of the record, under its name on the wire. `Rules` is what decides about
 * values, and takes their faults.
 */
export interface Member<Sent, Kept, Rules> {
  /** Its type in a request. */
  readonly sent: z.ZodType<Sent>
  /** Returns what the record has of a value; undefined: nothing. `null` and '' are absent, and given as undefined. */
  readonly keep: (sent: NonNullable<Sent> | undefined, rules: Rules) => Kept
  /** What an administrator may send, with a description of its own if that differs. Absent: the member is not among the common inputs. */
  readonly input?: z.ZodType
  /** What null means in a change by an administrator. Absent: null is refused. */
  readonly nullMeans?: string
  /** Its type in an answer, and what it means. */
  readonly answer: z.ZodType
}

/** A member of any type. */
export interface AnyMember<Rules> extends Omit<Member<unknown, unknown, Rules>, 'keep'> {
  readonly keep: (sent: never, rules: Rules) => unknown
}

type Table = Readonly<
  Record<string, Omit<AnyMember<never>, 'keep'> & { readonly keep: (...given: never[]) => unknown }>
>
type KeptOf<T extends Table, Name extends keyof T> = ReturnType<T[Name]['keep']>

/** The record of a table. A member is optional if its row may keep nothing. */
export type RecordOf<T extends Table> = {
  readonly [Name in keyof T as undefined extends KeptOf<T, Name> ? never : Name]: KeptOf<T, Name>
} & {
  readonly [Name in keyof T as undefined extends KeptOf<T, Name> ? Name : never]?: Exclude<KeptOf<T, Name>, undefined>
}

/** What a request may have of a table. */
export type SentOf<T extends Table> = { readonly [Name in keyof T]?: z.output<T[Name]['sent']> | undefined }

/** The names of a table, each with what its row keeps: objects of one shape, which a loop reads faster than the rows. */
export type Keepers<Rules> = readonly ({ readonly name: string } & Pick<AnyMember<Rules>, 'keep'>)[]

/** Returns the record that a request leads to, with its members in the order of the rows. */
export function keepMembers<T extends Table, Rules>(
  keepers: Keepers<Rules>,
  sent: SentOf<T>,
  rules: Rules,
): RecordOf<T> {
  const kept: Record<string, unknown> = {}
  for (const keeper of keepers) {
    const given = sent[keeper.name]
    const value = keeper.keep((given === null || given === '' ? undefined : given) as never, rules)
    if (value !== undefined) kept[keeper.name] = value
  }
  return kept as RecordOf<T>
}

/** The schemas of the members in a request. */
export function sentShape<T extends Table>(table: T): { readonly [Name in keyof T]: T[Name]['sent'] } {
  return mapped(table, ({ sent }) => sent)
}

/** The schemas of the members in an answer. */
export function answerShape<T extends Table>(table: T): { readonly [Name in keyof T]: T[Name]['answer'] } {
  return mapped(table, ({ answer }) => answer)
}

type Inputs<T extends Table> = {
  readonly [Name in keyof T as T[Name] extends { readonly input: z.ZodType } ? Name : never]: T[Name] extends {
    readonly input: infer Input extends z.ZodType
  }
    ? T[Name] extends { readonly nullMeans: string }
      ? { readonly given: Input; readonly changed: z.ZodNullable<Input> }
      : { readonly given: Input; readonly changed: Input }
    : never
}

/** The schemas of what an administrator may give a new record. */
export function inputShape<T extends Table>(
  table: T,
): { readonly [Name in keyof Inputs<T>]: z.ZodOptional<Inputs<T>[Name]['given']> } {
  return mapped(table, ({ input, answer }) => input?.describe(meantBy(input, answer)).optional())
}

/** The same for a change. What is absent does not change. */
export function changeShape<T extends Table>(
  table: T,
): { readonly [Name in keyof Inputs<T>]: z.ZodOptional<Inputs<T>[Name]['changed']> } {
  return mapped(table, ({ input, answer, nullMeans }) =>
    nullMeans === undefined || input === undefined
      ? input?.describe(meantBy(input, answer)).optional()
      : orNull(input, meantBy(input, answer), nullMeans),
  )
}

function meantBy(input: z.ZodType, answer: z.ZodType): string {
  return input.description ?? answer.description ?? ''
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the callers have the type that follows from the table
function mapped<Shape>(table: Table, schemaOf: (row: Table[string]) => z.ZodType | undefined): Shape {
  const entries = Object.entries(table).map(([name, row]) => [name, schemaOf(row)] as const)
  return Object.fromEntries(entries.filter(([, schema]) => schema !== undefined)) as Shape
}
