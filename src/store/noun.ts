import assert from 'node:assert/strict'
import type { Touched } from '../ports/operations/reach.ts'
import type { Input, OperationName, Outcome } from '../ports/operations/index.ts'
import type { CausesMail } from '../ports/operations/mail.ts'
import type { AuditEvent } from '../ports/records/audit.ts'
import { type GroupClaim, groupWordText } from '../protocol/access/group-claim.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Steps } from './shared/statement.ts'

/** What a noun of the store has: its operations, and its reads. Its table and statements are in the same file. */
export interface Noun {
  readonly operations?: NounOperations
  readonly reads?: Readonly<Record<string, (...asked: never[]) => Steps<unknown>>>
}

export type NounOperations = { readonly [Name in OperationName]?: OperationRow<Name> }

/** How the store treats an operation, and the steps with which both engines apply it. Without `run` each engine applies it in its own way. */
export type OperationRow<Name extends OperationName> = Effects<Name> &
  Account<Name> &
  ((SharedHandler<Name> & Mails<Name>) | { readonly run?: never })

/** How both engines apply an operation. */
export interface SharedHandler<Name extends OperationName> {
  /** What the operation touches; see the handlers of PostgreSQL, which apply the operations of a batch by it. */
  readonly keys: (input: Input<Name>) => readonly string[]
  readonly isShared?: true
  readonly isAlone?: true
  /** The statements of operations without a common key may take turns. PostgreSQL gets them without a round trip for each. */
  readonly takesTurns?: true
  readonly run: (input: Input<Name>) => Steps<Outcome<Name>>
}

interface Effects<Name extends OperationName> {
  /** What the operation drops from the record cache: nothing, all records, or those with the returned keys; undefined: all. */
  readonly cache: 'kept' | 'cleared' | ((input: Input<Name>) => string | readonly string[] | undefined)
  /** The audit events (docs/audit.md). The function returns undefined if this outcome is no event. */
  readonly event:
    | 'no-event'
    | ((input: Input<Name>, outcome: Outcome<Name>) => AuditEvent | readonly AuditEvent[] | undefined)
}

/** The outcome with which the mails of the input are stored, after the steps. `by-run`: the steps store them. */
type Mails<Name extends OperationName> =
  Input<Name> extends CausesMail ? { readonly mails: KindOf<Outcome<Name>> | 'by-run' } : { readonly mails?: never }

/**
 * The account that an administrator's order changes, which must be in reach. `new`: it is created. `as`: the change is of the membership, which
 * an administrator of the organization may change whatever else the account is.
 */
type Account<Name extends OperationName> = 'reach' extends keyof Input<Name>
  ? { readonly account: 'new' | ((input: Input<Name>) => UserId | undefined); readonly touches?: Touched }
  : { readonly account?: never; readonly as?: never }

/** An outcome, or its `kind`. */
type KindOf<Result> = Result extends { readonly kind: infer Kind } ? Kind : Result

/** Makes one table of a part of all nouns. Each name belongs to one noun. It is a plain object, because each operation is looked up in it. */
export function allOf<Part extends keyof Noun, Nouns extends Readonly<Record<string, Noun>>>(
  part: Part,
  nouns: Nouns,
): Together<Exclude<PartOf<Nouns[keyof Nouns], Part>, undefined>> {
  const rows = Object.values(nouns).flatMap((noun) => Object.entries(noun[part] ?? {}))
  const all = Object.fromEntries(rows)
  assert(Object.keys(all).length === rows.length, 'Two nouns of the store have a name in common')
  return all as never
}

/** Those of the operations that both databases apply with the same steps. */
export function sharedOf<Rows extends NounOperations>(rows: Rows): Pick<Rows, SharedName<Rows>> {
  return Object.fromEntries(Object.entries(rows).filter(([, row]) => row.run !== undefined)) as never
}

type SharedName<Rows> = {
  [Name in keyof Rows]: Rows[Name] extends { readonly run: unknown } ? Name : never
}[keyof Rows]

/** The same functions, with the result of their steps. */
export type Promised<Reads> = {
  readonly [Name in keyof Reads]: Reads[Name] extends (...asked: infer Asked) => Steps<infer Found>
    ? (...asked: Asked) => Promise<Found>
    : never
}

type PartOf<One, Part extends PropertyKey> = One extends { readonly [Name in Part]: infer Found } ? Found : never

/** `A | B` as `A & B`. */
type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** The id of an operation on one record. */
export function idOf<Id extends string>(input: Id | { readonly id: Id }): Id {
  return typeof input === 'string' ? input : input.id
}

/** Of an operation's outcomes, only this one is an event. */
export function when<In, Out>(
  outcome: NoInfer<Out>,
  eventOf: (input: In) => AuditEvent,
): (input: In, actual: Out) => AuditEvent | undefined {
  return (input, actual) => (actual === outcome ? eventOf(input) : undefined)
}

/** The same of the groups that a claim names, with their words. */
export function differencesOfWords(
  before: GroupClaim | undefined,
  now: GroupClaim | undefined,
): Readonly<Record<string, string>> {
  const [old, next] = [before, now].map((claim) => (claim?.words ?? []).map((pair) => asOneWord(groupWordText(pair))))
  return differences('group_words', old ?? [], next ?? [])
}

/** A text without spaces, for `differences`. */
export function asOneWord(text: string): string {
  return text.replaceAll(/[%\s]/gu, encodeURIComponent)
}

/** Names in `details` what a list has more and less than before, separated by spaces. Nothing of a list that did not change. */
export function differences(
  name: string,
  before: readonly string[],
  now: readonly string[],
): Readonly<Record<string, string>> {
  const [added, removed] = [now.filter((one) => !before.includes(one)), before.filter((one) => !now.includes(one))]
  return {
    ...(added.length > 0 && { [`${name}_added`]: added.join(' ') }),
    ...(removed.length > 0 && { [`${name}_removed`]: removed.join(' ') }),
  }
}
