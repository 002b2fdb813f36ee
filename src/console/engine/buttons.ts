import { requireTask } from '../../admin/tasks.ts'
import type { Worded } from '../../texts/task-words.ts'
import { html, type Markup } from '../../web/markup.ts'
import { lockOutBy } from '../lock-out.ts'
import { downIcon } from '../icons.ts'
import { addressOf } from './addresses.ts'
import { asksFirst, chosenRows, isAlready, formWords, type Form, type Frame } from './form.ts'

export function hidden(field: string, value: string): Markup {
  return html`<input type="hidden" name="${field}" value="${value}" />`
}

/** The button of a form that has one already, such as the list. */
export function button(form: Form, { isMain = false, label }: ButtonLooks = {}): Markup {
  const { isFinal } = requireTask(form.task)
  const text = label ?? formWords(form).label
  const looks = isMain ? 'button main' : isFinal ? 'button danger' : 'button'
  return html`<button type="submit" name="task" value="${form.task}" class="${looks}">
    ${asksFirst(form) ? `${text}…` : text}
  </button>`
}

interface ButtonLooks {
  readonly isMain?: boolean
  readonly label?: string | undefined
}

/** The buttons of the object that a screen shows, or of its rows. */
export function actions(frame: Frame, all: readonly Form[], ...subjects: readonly string[]): Markup | undefined {
  const forms = all.filter((form) => subjects.every((one) => frame.reaches(form, one)))
  if (forms.length === 0) return undefined
  return html`<form method="post" action="${addressOf(frame, {})}" class="actions">
    ${hidden('csrf', frame.csrf)} ${subjects.map((one) => hidden('row', one))} ${forms.map((form) => button(form))}
  </form>`
}

/** What an object page offers. */
interface Offered {
  /** A link before the buttons, which then is the main one. */
  readonly before?: Markup | undefined
  /** What its state asks for. */
  readonly lead: readonly Form[]
  /** The one of them that has the colour; undefined: the state asks for nothing. */
  readonly main: Form | undefined
  /** The others, on demand. */
  readonly rest: readonly Form[]
  /** Tasks that end something and can be undone. They come last, with those that cannot. */
  readonly ending: readonly string[]
  readonly labelOf: (form: Form) => string | undefined
}

/** The buttons that the state of an object asks for, and the others behind the word "More". */
export function buttonsWithMore(
  frame: Frame,
  { before, lead, main, rest, ending, labelOf }: Offered,
): Markup | undefined {
  if (before === undefined && lead.length + rest.length === 0) return undefined
  const isEnding = (form: Form): boolean => requireTask(form.task).isFinal === true || ending.includes(form.task)
  const [first, last] = [rest.filter((form) => !isEnding(form)), rest.filter(isEnding)]
  const one = (form: Form, isMain = false): Markup => button(form, { isMain, label: labelOf(form) })
  return html`<form method="post" action="${addressOf(frame, {})}" class="actions lead">
    ${hidden('csrf', frame.csrf)} ${before} ${lead.map((form) => one(form, form === main))}
    ${
      rest.length === 0
        ? undefined
        : html`<details class="drop">
            <summary class="button">More${downIcon}</summary>
            <div class="sheet">
              ${first.map((form) => one(form))} ${first.length === 0 || last.length === 0 ? undefined : html`<hr />`}
              ${last.map((form) => one(form))}
            </div>
          </details>`
    }
  </form>`
}

/** Links to the pages that ask, for a row of a list: forms of fifty rows would be half of the page. */
export function asking(frame: Frame, all: readonly Form[], subject: string): Markup | undefined {
  const forms = all.filter((form) => frame.reaches(form, subject))
  if (forms.length === 0) return undefined
  const link = (form: Form) => {
    const { isFinal } = requireTask(form.task)
    const to = addressOf(frame, { ask: form.task, row: subject }).slice(frame.place.path.length)
    return html`<a class="${isFinal ? 'button danger' : 'button'}" href="${to}">${formWords(form).label}…</a>`
  }
  return html`<span class="actions">${forms.map(link)}</span>`
}

/** Links to the pages that ask, for the forms of a screen that the person may use and that are about no row. */
export function askLinks(frame: Frame, ...tasks: readonly Worded[]): readonly Markup[] {
  return tasks.flatMap((task) => formOf(frame, task)).map((form) => askLink(form, 'button'))
}

/** The same for the form that the state of the object asks for. */
export function mainAskLink(frame: Frame, task: Worded): Markup | undefined {
  return formOf(frame, task)
    .map((form) => askLink(form, 'button main'))
    .at(0)
}

function askLink(form: Form, looks: string): Markup {
  return html`<a class="${looks}" href="?ask=${form.task}">${formWords(form).label}</a>`
}

/** The forms of a screen that fit its object, those that can be undone or the others. `object`: its id. */
export function formsFor(
  frame: Frame,
  object: string,
  state: Readonly<Record<string, unknown>>,
  isFinal: boolean,
): readonly Form[] {
  return frame.forms.filter(
    (form) =>
      chosenRows(form) === undefined &&
      (requireTask(form.task).isFinal === true) === isFinal &&
      form.fits?.(state) !== false &&
      !isAlready(form, state) &&
      lockOutBy(form.task, object, frame.self) === undefined,
  )
}

/** The form of one task, if the person may use it. */
export function formOf(frame: Frame, task: string): readonly Form[] {
  return frame.forms.filter((form) => form.task === task)
}
