import type { EpochMs } from '../../base/brand.ts'
import type { Markup } from '../../web/markup.ts'

export type Members = Readonly<Record<string, unknown>>
export type Texts = Readonly<Record<string, string>>

/** Where a person is: a screen with the parameters in its path, and the query of the address. */
export interface Place {
  readonly path: string
  readonly parameters: Texts
  /** Of a member that is repeated, the first value. */
  readonly query: Texts
  readonly now: EpochMs
}

/** Values of fields, by the paths of these, each with a remark or ''. */
export type Offered = Readonly<Record<string, readonly (readonly [value: string, remark: string])[]>>

/** A form, which performs one task. It has the members of the path, the rows that are chosen, and the fields; other members are refused. */
export interface ScreenForm {
  readonly task: string
  /** On the button, in the imperative. */
  readonly label: string
  /** After it was done: `Verified`. */
  readonly done: string
  /** The member of the input that the chosen rows give, one of them or at most 50. Absent: the path names the object. */
  readonly subject?: string | undefined
  /** The form is offered beside the list, for all rows that are chosen. */
  readonly isBulk?: true
  /** Members of the input that the person fills in. */
  readonly fields?: readonly string[]
  /**
   * The person must have signed in within the last five minutes: the task creates a secret, deletes, gives an administrator more, or changes
   * a client or an API so that clients may have more. It does not matter that it can be taken back, because another person at the open browser has used it by then.
   */
  readonly isRecent?: true
  /** What ends, on the page that asks before. Absent: nothing is asked, unless there are fields. */
  readonly warning?: string
  readonly isDanger?: true
  /** The task that takes it back, for the rows that changed. */
  readonly undo?: string
  /** What to say beside the undo, because it restores not everything. */
  readonly undoNote?: string
  /** Where the person goes on after a change of the object of the path, or of none. */
  readonly leadsTo?: (answer: Members) => string
  /** The task that the next page offers besides. */
  readonly offers?: string
  /** The way back of a form that chooses no row, from the answers before it. Without one, nothing is offered. */
  readonly undoes?: (before: Members, answer: Members) => Undo | undefined
  /** The rows of the screen by id, where no task shows a single one. A row that is no longer among them is left alone. */
  readonly rows?: (answers: Members) => Readonly<Record<string, Members>>
  /** Members of the row that the task would drop. */
  readonly keeps?: (row: Members) => Members
  /** The member of the answer that is shown once, and never again. */
  readonly secret?: string
  /** The form works once, because nothing else prevents that a second click creates a second record. So does one with a secret. */
  readonly isOnce?: true
  /** How the secret is used and until when, beside it. */
  readonly secretUse?: (answer: Members) => string
  /** Members of the answer that are shown with the secret. */
  readonly beside?: readonly string[]
  /** Fields that are shown at once; the others are behind a word. Absent: all are. */
  readonly atFirst?: readonly string[]
  /** What the heading says besides the label: `to`, `Acme`. */
  readonly about?: (answers: Members) => readonly [word: string, name: string]
  /** Fields that the address has already, so that they are sent as they are. */
  readonly fixed?: readonly string[]
  /**
   * What the fields have at first, by the members of the task: the object as it is. The change of another person meanwhile is noticed. The form
   * of a task with PATCH must have it, because the task gets the fields that differ from it. `subject`: the row that is chosen. undefined: there
   * is no object yet.
   */
  readonly filled?: (answers: Members, subject: string | undefined) => Members | undefined
  /** Texts that a field may have among others, each with a name. */
  readonly suggestions?: (answers: Members) => Offered
  /** The form in which the person chooses what is `fixed`, before there is another one; undefined: it is chosen. */
  readonly choosing?: (answers: Members, values: Texts) => Markup | undefined
  /** What the person reads before the fields. `values`: what they have. */
  readonly intro?: (answers: Members, values: Texts) => Markup | undefined
  /** What the answer says. It is shown above the screen, and changed nothing. */
  readonly result?: (answer: Members, frame: Frame) => Markup
  /** The form is about all rows that match the filters, up to 1,000 at a time: what a dry run of the task answers. */
  readonly matches?: (answer: Members) => Matches
  /** What the fields of a new object have at first, by the members of the task; a choice that has it is left out. `fixed`: what the address has. */
  readonly preset?: (fixed: Texts, frame: Frame) => Members
  /** The next page offers to restore what was `filled`. */
  readonly restores?: true
  /** The values that a field may have, each with a box, with a remark or ''. */
  readonly choices?: (answers: Members) => Offered
  /** Whether the form fits the state of the object that the screen shows, which is the first answer. */
  readonly fits?: (object: Members) => boolean
  /** A sentence beside the warning, for what the screen shows: that the change locks a person out, or outlives something. */
  readonly caution?: (answers: Members, frame: Frame) => string | undefined
  /** What the answer says, on the page that the form leads to. It is in no address, and a reload asks the task again. */
  readonly shows?: Shows
  /** An object that is in the state already is left alone, so that undo does not change it. */
  readonly already?: { readonly text: string; readonly holds: (object: Members) => boolean }
}

/** How the answer of a form is shown. */
export interface Shows {
  /** Tasks about what the answer names. One that is refused has no answer: its object is gone, or for the reason in `refused`. */
  readonly reads?: (answer: Members) => Readonly<Record<string, Named>>
  readonly view: (answer: Members, more: Members, frame: Frame, refused: Texts) => View
}

/** A task with its whole input. */
export interface Named {
  readonly task: string
  readonly input: Members
}

/** The task that takes a change back, and for which rows. */
export interface Undo {
  readonly task: string
  readonly subjects: readonly string[]
}

/** The rows that a form with filters is about. */
export interface Matches {
  readonly names: readonly (string | null)[]
  /** Where the search goes on, if more rows may match. */
  readonly next: string | null
}

/** The organization that a role is for. */
export interface OneOrganization {
  readonly id: string
  readonly name: string
}

/** Around the content of a screen. */
export interface Frame {
  readonly place: Place
  readonly issuer: string
  /** The one that the person sees; undefined: the whole server. */
  readonly organization: OneOrganization | undefined
  readonly mayWrite: boolean
  /** The id of the person. */
  readonly self: string
  /** Where a person who may write adds the second factor that the account lacks. */
  readonly factorUri?: string | undefined
  /** Proves that a form of this page was made for this session. */
  readonly csrf: string
  /** The role of the person counts only while the issuer is a loopback address. */
  readonly isLoopbackOnly: boolean
  /** The forms of the screen that the person may use. */
  readonly forms: readonly ScreenForm[]
  /** What the list of the screen can be filtered by, from the schema of its task. */
  readonly filters: readonly Filter[]
}

/** A filter of a list: a member of the input of its task. */
export interface Filter {
  readonly name: string
  readonly label: string
  readonly kind: 'choice' | 'text' | 'time'
  readonly choices: readonly string[]
  readonly value: string | undefined
}

export interface View {
  /** Only the own words of the console, or the name of the object. */
  readonly title: string
  readonly main: Markup
}

/** Whether a form has a page of its own, before anything is done. */
export function asksFirst({ fields = [], isRecent, warning }: ScreenForm): boolean {
  return fields.length > 0 || isRecent === true || warning !== undefined
}

/** Whether a form that is shown works once (threats.md CON-10). */
export function worksOnce({ secret, isOnce }: ScreenForm): boolean {
  return secret !== undefined || isOnce === true
}
