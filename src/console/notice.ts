import { html, type Markup } from '../web/markup.ts'
import { addressOf, hidden, id, name } from './parts.ts'
import type { Frame, ScreenForm, Texts } from './screen.ts'

/** What became of the rows of a form. */
export interface Outcome {
  readonly task: string
  /** The ids of the rows that it was done for. Empty for the object of the path. */
  readonly done: readonly string[]
  /** How many rows, of a form that is about all that match. */
  readonly count?: number | undefined
  /** Why it was not done, by id. */
  readonly refused: readonly (readonly [id: string, reason: string])[]
}

/** Says what was done, on the next page, with the way back if there is one. */
export function outcomeNotice(
  frame: Frame,
  { task, done, count, refused }: Outcome,
  forms: readonly ScreenForm[],
  names: Texts,
): Markup {
  const form = forms.find((one) => one.task === task)
  if (form === undefined) return html``
  const total = done.length + refused.length
  const what =
    count !== undefined
      ? `${form.done}: ${count}.`
      : total > 1
        ? `${form.done}: ${done.length} of ${total}.`
        : `${form.done}.`
  const undo = done.length > 0 || total === 0 ? frame.forms.find((one) => one.task === form.undo) : undefined
  return html`<div class="${refused.length > 0 ? 'notice bad' : 'notice'}" role="status">
    <span
      >${done.length === 0 && refused.length > 0 ? 'Nothing was changed.' : what}${form.undoNote === undefined || undo === undefined ? undefined : html` ${form.undoNote}`}</span
    >
    ${undo === undefined ? undefined : undoForm(frame, undo, done)}
    ${
      refused.length === 0
        ? undefined
        : html`<ul>
            ${refused.map(([one, reason]) => html`<li>${one === '' ? undefined : html`${names[one] === undefined ? id(one) : name(names[one], '(no name)')}: `}${reason}</li>`)}
          </ul>`
    }
  </div>`
}

function undoForm(frame: Frame, { task }: ScreenForm, subjects: readonly string[]): Markup {
  return html`<form method="post" action="${addressOf(frame, {})}">
    ${hidden('csrf', frame.csrf)} ${subjects.map((one) => hidden('subject', one))}
    <button class="button" type="submit" name="task" value="${task}">Undo</button>
  </form>`
}
