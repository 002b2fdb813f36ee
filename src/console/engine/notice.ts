import { requireTask } from '../../admin/tasks.ts'
import { cut } from '../../texts/texts.ts'
import { fill, html, type Fragment, type Markup } from '../../web/markup.ts'
import { withScreens } from '../links.ts'
import { addressOf } from './addresses.ts'
import { actions, formOf, hidden } from './buttons.ts'
import { called, name } from '../parts.ts'
import { asksFirst, type Form, type Frame, type Texts, type Undo } from './form.ts'

/** What became of the rows of a form. */
export interface Outcome {
  readonly task: string
  /** The sentence of what was done, and what its slots have. */
  readonly text: string
  readonly values: Texts
  /** The task that the page offers besides. */
  readonly next?: string | undefined
  /** The way back, if the form says it. */
  readonly undo?: Undo | undefined
  /** What the task warns of. */
  readonly note?: string | undefined
  /** What the fields had before, which the undo restores. */
  readonly before?: Texts | undefined
  /** What the object is called, if it is one. */
  readonly name?: string | undefined
  /** The ids of the rows that it was done for. Empty for the object of the path. */
  readonly done: readonly string[]
  /** How many rows, of a form that is about all that match. */
  readonly count?: number | undefined
  /** The ids of the rows that were in the state already. */
  readonly unchanged: readonly string[]
  /** Why it was not done, by id. */
  readonly refused: readonly (readonly [id: string, reason: string])[]
}

/** What the page has besides the outcome. */
interface Beside {
  /** Names of the rows by id. */
  readonly names: Texts
  /** Names what the undo of an edited object replaces. */
  readonly seen: string | undefined
}

/** Says what was done, on the next page, with the way back if there is one. */
export function outcomeNotice(frame: Frame, outcome: Outcome, forms: readonly Form[], { names, seen }: Beside): Markup {
  const { task, done, unchanged, refused } = outcome
  const form = forms.find((one) => one.task === task)
  const isDone = done.length > 0 || unchanged.length + refused.length === 0
  const back = outcome.undo?.task ?? wayBack(form, outcome.before)
  const { undoNote } = requireTask(task).words
  const undo = isDone ? frame.forms.find((one) => one.task === back) : undefined
  return html`<div class="${refused.length > 0 ? 'notice bad' : 'notice'}" role="status">
    <span>${sentence(outcome, names)}${undo === undefined || undoNote === undefined ? undefined : ` ${undoNote}`}</span>
    ${outcome.note === undefined ? undefined : html`<p class="note">${outcome.note}</p>`}
    ${undo === undefined ? undefined : undoForm(frame, undo, outcome.undo?.subjects ?? done, outcome.before && { before: outcome.before, seen })}
    ${outcome.next === undefined ? undefined : actions(frame, formOf(frame, outcome.next))}
    ${
      refused.length === 0
        ? undefined
        : html`<ul>
            ${refused.map(([one, reason]) => html`<li>${one === '' ? undefined : html`${called(one, names)}: `}${withScreens(frame, reason)}</li>`)}
          </ul>`
    }
  </div>`
}

/** The task itself takes back only what is known. */
function wayBack(form: Form | undefined, before: Texts | undefined): string | undefined {
  const undo = form?.undo ?? (form && requireTask(form.task).undo)
  return typeof undo === 'string' && (undo !== form?.task || before !== undefined) ? undo : undefined
}

function sentence({ task, text, values, done, unchanged, refused, ...outcome }: Outcome, names: Texts): Fragment {
  const { label, already = 'Unchanged' } = requireTask(task).words
  if (outcome.count !== undefined) return `${label}: done for ${outcome.count}.`
  const total = done.length + unchanged.length + refused.length
  if (total > 1 && unchanged.length > 0)
    return `${done.length === 0 ? '' : `${label}: done for ${done.length}. `}${already}: ${unchanged.length}.`
  const doneNames = new Set(done.map((one) => names[one]))
  const [only] = doneNames
  if (total > 1 && doneNames.size === 1 && done.length === total && only !== undefined)
    return html`${label}: done for ${name(only, '(no name)')}.`
  if (total > 1) return done.length === 0 ? 'Nothing was changed.' : `${label}: done for ${done.length} of ${total}.`
  if (refused.length > 0) return 'Nothing was changed.'
  if (unchanged.length === 0) return said(text, values, names)
  return html`${already}${outcome.name === undefined ? undefined : html`: ${name(outcome.name, '(no name)')}`}.`
}

/** A sentence with what its slots have: of an id the name, if it has one. */
export function said(text: string, values: Texts, names: Texts): Markup {
  const { strings, slots } = cut(text)
  const shown = Object.entries(values).map(([slot, value]) => [slot, name(names[value] ?? value, '(no name)')])
  return fill(strings, slots, Object.fromEntries(shown))
}

/** `restored`: what the fields had, of a form that shows an object, and what it has now. */
function undoForm(
  frame: Frame,
  form: Form,
  subjects: readonly string[],
  restored: { readonly before: Texts; readonly seen: string | undefined } | undefined,
): Markup {
  return html`<form method="post" action="${addressOf(frame, {})}">
    ${hidden('csrf', frame.csrf)} ${subjects.map((one) => hidden('row', one))}
    ${
      restored && [
        hidden('asked', '1'),
        restored.seen === undefined ? undefined : hidden('seen', restored.seen),
        Object.entries(restored.before).flatMap(([field, value]) => value.split(' ').map((one) => hidden(field, one))),
      ]
    }
    <button class="button" type="submit" name="task" value="${form.task}">
      ${restored === undefined && asksFirst(form) ? 'Undo…' : 'Undo'}
    </button>
  </form>`
}
