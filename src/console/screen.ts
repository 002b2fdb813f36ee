import type { Reached } from '../ports/operations/reach.ts'
import type { Page } from '../ports/pages/pages.ts'
import {
  fieldsIn,
  OWN_NAMES,
  type Frame,
  type Members,
  type Place,
  type Form,
  type Texts,
  type View,
} from './engine/form.ts'

/** A task that a screen reads, and the members of its input besides those in the path. */
export interface Read<Answer> {
  readonly task: string
  readonly input: (place: Place) => Members
  /** Whether the address has what the task needs. If not, there is no answer. Absent: it needs nothing. */
  readonly isAsked?: (place: Place) => boolean
  /** The screen is whole without the answer, for a person who may not perform the task. */
  readonly isOptional?: true
  /** Only the type of the answer, which the schema of the task has. */
  readonly answer?: Answer
}

export type Section =
  | 'overview'
  | 'clients'
  | 'users'
  | 'grants'
  | 'audit'
  | 'roles'
  | 'credentials'
  | 'keys'
  | 'token'
  | 'server'
  | 'groups'
  | 'access-rules'
  | 'access'
  | 'organizations'
  | 'members'
  | 'installations'
  | 'domains'
  | 'initial-tokens'
  | 'apis'
  | 'providers'

/**
 * A screen: the tasks that it reads, and the forms that it offers. The view sees nothing but their answers, so a screen can neither show
 * nor do what the API cannot (decision 0041).
 */
export interface Screen<Answers extends object = never> {
  readonly path: string
  readonly section: Section
  readonly reads: { readonly [Name in keyof Answers]: Read<Answers[Name]> }
  readonly forms: readonly Form[]
  /** Members of the first task that the address may have, besides `before`. */
  readonly filters: readonly string[]
  /** What else the address may have, for the fields of a form. */
  readonly keeps?: readonly string[]
  readonly view: (answers: Answers, frame: Frame) => View
  /**
   * What may be changed of the account that the object or, with a subject, its row is about. undefined: it is about none, or each row has its
   * own.
   */
  readonly reach?: (answers: Answers, subject: string | undefined) => Reached | undefined
  /** The rows that can be saved, and where more follow. Absent: the screen is not saved. */
  readonly lines?: (answers: Answers) => { readonly rows: readonly object[]; readonly next: string | null }
  /** A page of the people who sign in, shown instead of the view, in which nothing works. */
  readonly preview?: (answers: Answers, frame: Frame) => Page
  /** The names of the rows by id, for the page that asks before a change. */
  readonly names: (answers: Answers) => Texts
  /** The name of what the rows belong to, which the heading of a form has: several organizations have the same forms. */
  readonly about?: (answers: Answers) => string
}

/** A screen whose types are erased, for the table. */
export type AnyScreen = Omit<Screen, 'reads' | 'view' | 'names' | 'about' | 'lines' | 'preview' | 'reach'> & {
  readonly reach?: (answers: Readonly<Record<string, unknown>>, subject: string | undefined) => Reached | undefined
  readonly preview?: (answers: Readonly<Record<string, unknown>>, frame: Frame) => Page
  readonly lines?: (answers: Readonly<Record<string, unknown>>) => {
    readonly rows: readonly object[]
    readonly next: string | null
  }
  readonly reads: Readonly<Record<string, Read<unknown>>>
  readonly view: (answers: Readonly<Record<string, unknown>>, frame: Frame) => View
  readonly names: (answers: Readonly<Record<string, unknown>>) => Texts
  readonly about?: (answers: Readonly<Record<string, unknown>>) => string
}

/** @throws Error for a field or a filter with the name of a parameter of each form or address, which is a bug: what one sends would be read as the other */
export function screen<Answers extends object>(one: Screen<Answers>): AnyScreen {
  const names = [...one.filters, ...(one.keeps ?? []), ...one.forms.flatMap(fieldsIn)]
  const taken = names.find((name) => OWN_NAMES.has(name))
  if (taken !== undefined) throw new Error(`The screen ${one.path} has a field or filter ${taken}, as each one has.`)
  return one as unknown as AnyScreen
}
