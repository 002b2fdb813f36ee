import { requireTask } from '../../admin/tasks.ts'
import type { EpochMs } from '../../base/brand.ts'
import { taskWords, type TaskWords, type Worded } from '../../texts/task-words.ts'
import type { Markup } from '../../web/markup.ts'

export type Members = Readonly<Record<string, unknown>>
/** Texts by the path of a field (`name`, `tokens.format`, `scopes.0.name`), by an id, or by the name of a parameter. */
export type Texts = Readonly<Record<string, string>>

/** Where a person is: a screen with the parameters in its path, and the query of the address. */
export interface Place {
  readonly path: string
  readonly parameters: Texts
  /** Of a member that is repeated, the first value. */
  readonly query: Texts
  readonly now: EpochMs
}

/** Values of fields, by the paths of these, each with a remark or ''. The remark of an empty value says why there are no others. */
export type Offered = Readonly<Record<string, readonly (readonly [value: string, remark: string])[]>>

/**
 * A form, which performs one task. It has the members of the path, the rows that are chosen, and the fields; other members are refused. The
 * kind says what it does with an object, and so which members it can have.
 */
export type Form = ChangeForm | CreateForm | EditForm | ReportForm

/**
 * The parameters that an address or a form has besides the filters and the fields of its task, none of which has such a name. `asked`: the
 * page that asks sent it.
 */
export const OWN_NAMES: ReadonlySet<string> = new Set(['csrf', 'task', 'row', 'ask', 'asked', 'once', 'typed', 'seen'])

/** What each form has. */
interface AnyForm {
  readonly task: Worded
  /** The words that differ from those of the task. A function says whose label the button has, for what the screen shows. */
  readonly wording?: Worded | ((answers: Members) => Worded | undefined)
  /** Whether the form fits the state of the object that the screen shows, which is the first answer. */
  readonly fits?: (object: Members) => boolean
  /** A sentence beside the warning, for what the screen shows: that the change locks a person out, or outlives something. */
  readonly caution?: (answers: Members, frame: Frame) => string | undefined
  /** The way back from here, if it is not that of the task. A function says it of the answers before it; undefined: nothing is offered. */
  readonly undo?: Worded | ((before: Members, answer: Members) => Undo | undefined)
  /** How the secret is used, after the words of the task. */
  readonly use?: (answer: Members) => string
}

/** A form without fields, which is a button: it changes the object of the path, the rows that are chosen, or those that match the filters. */
export interface ChangeForm extends AnyForm {
  readonly kind: 'change'
  readonly rows?: ChosenRows | MatchingRows
  /** Where the person goes on after a change of the object of the path, or of none. */
  readonly leadsTo?: (answer: Members) => string
}

/** A form whose fields are empty at first. It works once (threats.md CON-10). */
export interface CreateForm extends AnyForm {
  readonly kind: 'create'
  readonly fields: readonly string[]
  /** Fields that are shown at once; the others are behind a word. Absent: all are. */
  readonly first?: readonly string[]
  /** What comes before the fields. */
  readonly step?: Step
  /** What the fields have at first, by the members of the task; a choice that has it is left out. `chosen`: what the step has. */
  readonly preset?: (chosen: Texts, frame: Frame) => Members
  readonly choices?: Choices
  readonly leadsTo?: (answer: Members) => string
  /** Shows the answer, instead of a page to which it leads. */
  readonly shows?: ShownPage
}

/**
 * A form that shows the object as it is, so that the change of another person meanwhile is noticed. The task gets all fields, or, if its
 * method is PATCH, those that differ from the object.
 */
export interface EditForm extends AnyForm {
  readonly kind: 'edit'
  readonly rows?: ChosenRows
  readonly fields: readonly string[]
  readonly first?: readonly string[]
  /** The object, by the members of the task. `subject`: the row that is chosen. undefined: there is none yet. */
  readonly filled: (answers: Members, subject: string | undefined) => Members | undefined
  /** As that of a new object, while there is none. */
  readonly preset?: (chosen: Texts, frame: Frame) => Members
  readonly choices?: Choices
}

/** A form that changes nothing, or of which the answer is what counts. It is in no address, and a reload asks the task again. */
export interface ReportForm extends AnyForm {
  readonly kind: 'report'
  readonly fields: readonly string[]
  readonly shows: ShownPage | ShownAbove
}

/** The rows that a form is about: one of them or, beside the list, at most 50. */
export interface ChosenRows {
  /** The member of the input that a row gives. */
  readonly member: string
  /** The form is offered beside the list, for all rows that are chosen. */
  readonly isBulk?: true
  /** The rows of the screen by id, where no task shows a single one. A row that is no longer among them is left alone. */
  readonly read?: (answers: Members) => Readonly<Record<string, Members>>
  /** Members of the row that the task would drop, or that say what the id of the row means. */
  readonly keeps?: (row: Members) => Members
}

/** All rows that match the filters, up to 1,000 at a time: what a dry run of the task answers. */
export interface MatchingRows {
  readonly matching: (answer: Members) => Matches
}

/** Fields that the person chooses before the others, so that they are sent as they are. */
export interface Step {
  readonly fields: readonly string[]
  /** The form in which the person chooses; undefined: it is chosen. */
  readonly choose: (answers: Members, values: Texts) => Markup | undefined
  /** What the person reads then, before the other fields. */
  readonly chosen: (answers: Members, values: Texts) => Markup | undefined
}

/** The values that fields may have. One that names an object takes others too, and has these as suggestions; the others have a box for each. */
type Choices = (answers: Members) => Offered

/** A page with the answer. */
export interface ShownPage {
  /** Tasks about what the answer names. One that is refused has no answer: its object is gone, or for the reason in `refused`. */
  readonly reads?: (answer: Members) => Readonly<Record<string, Named>>
  readonly view: (answer: Members, more: Members, frame: Frame, refused: Texts) => View
}

/** The answer above the screen. */
export interface ShownAbove {
  readonly above: (answer: Members, frame: Frame) => Markup
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
  /** Whether the person may read the screen of a path. */
  readonly mayOpen: (path: string) => boolean
  /** The id of the person. */
  readonly self: string
  /** Where a person who may write adds the second factor that the account lacks. */
  readonly factorUri?: string | undefined
  /** Proves that a form of this page was made for this session. */
  readonly csrf: string
  /** The role of the person counts only while the issuer is a loopback address. */
  readonly isLoopbackOnly: boolean
  /** The forms of the screen that the person may use. */
  readonly forms: readonly Form[]
  /** Whether the account that a row is about is in reach of a form. */
  readonly reaches: (form: Form, subject: string) => boolean
  /** Whether forms are left out, because the account that the screen is about is out of reach. */
  readonly isCut: boolean
  /** Why an account is out of reach. */
  readonly outOfReach: string
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

/** Buttons whose tasks say all that there is to say. */
export function changes(...tasks: readonly Worded[]): readonly ChangeForm[] {
  return tasks.map((task) => ({ kind: 'change', task }))
}

/** What a form says: the words of its task, or those that it has in their place. */
export function formWords({ task, wording }: Form): TaskWords {
  const { words } = requireTask(task)
  return typeof wording === 'string' ? { ...words, ...taskWords(wording) } : words
}

/** What the button of a form says, for what the screen shows. */
export function labelFor(form: Form, answers: Members): string {
  const own = typeof form.wording === 'function' ? form.wording(answers) : undefined
  return (own === undefined ? undefined : taskWords(own).label) ?? formWords(form).label
}

/** Whether a form has a page of its own, before anything is done. */
export function asksFirst(form: Form): boolean {
  return fieldsIn(form).length > 0 || needsRecentSignIn(form) || formWords(form).warning !== undefined
}

/** Whether the person must have signed in a moment ago. */
export function needsRecentSignIn({ task }: Form): boolean {
  return requireTask(task).needsRecentSignIn === true
}

/** Whether a form works once: nothing else prevents that a second click creates a second record. */
export function worksOnce(form: Form): boolean {
  return form.kind === 'create' || requireTask(form.task).secret !== undefined
}

/** Whether the object is in the state already to which a button would bring it. */
export function isAlready(form: Form, object: Members): boolean {
  return form.kind === 'change' && requireTask(form.task).already?.(object) === true
}

/** The members of the input that the person fills in. */
export function fieldsIn(form: Form): readonly string[] {
  return form.kind === 'change' ? [] : form.fields
}

/** How a form is about rows that the person chooses; undefined: the path names the object, or the filters the rows. */
export function chosenRows(form: Form): ChosenRows | undefined {
  return (form.kind === 'change' || form.kind === 'edit') && form.rows !== undefined && 'member' in form.rows
    ? form.rows
    : undefined
}

/** undefined: the form is not about all rows that match the filters. */
export function matchingRows(form: Form): MatchingRows | undefined {
  return form.kind === 'change' && form.rows !== undefined && 'matching' in form.rows ? form.rows : undefined
}

/** The fields that a form has from the step before it. */
export function fixedFields(form: Form): readonly string[] {
  return form.kind === 'create' ? (form.step?.fields ?? []) : []
}
