import { inputFields } from './input-fields.ts'
import { findTask, requireTask } from '../../admin/tasks.ts'
import { href, html, type Markup } from '../../web/markup.ts'
import { fieldsOf, type Filling } from './fields.ts'
import { withScreens } from '../links.ts'
import { addressOf } from './addresses.ts'
import { hidden } from './buttons.ts'
import { called, copyButton, facts, name } from '../parts.ts'
import { fixedFields, formWords, type Form, type Frame, type Matches, type Texts, type View } from './form.ts'

/** From this number of rows on, the person types the number. */
export const TYPED_FROM = 11

/** A page that asks before a change: what it is about, what ends, and the fields of the task. */
export interface Asking extends Filling {
  readonly form: Form
  /** What the task does, in its own words. */
  readonly summary: string
  readonly caution: string | undefined
  /** What the person does, on the button and in the heading. */
  readonly label: string
  readonly subjects: readonly string[]
  /** Chosen rows that are out of reach. */
  readonly leftOut: readonly string[]
  /** Names by id. */
  readonly names: Texts
  /** What the filters find, if the form is about that. */
  readonly matches: Matches | undefined
  /** A value that works once, of a form that does. */
  readonly once: string | undefined
  /** The form that comes before this one; then the page has nothing else. */
  readonly choosing: Markup | undefined
  /** The name of what the screen is about. */
  readonly about: string | undefined
  /** What the person reads after the step. */
  readonly chosen: Markup | undefined
}

export function askPage(asking: Asking, frame: Frame): View {
  const { form, summary, caution, errors, label, subjects, names, matches, once, seen } = asking
  const count = matches?.names.length ?? subjects.length
  const { isFinal } = requireTask(form.task)
  const words = formWords(form)
  const { warning, about } = words
  const [only = ''] = subjects
  // Several grants of one client, say, have one name.
  const isOne = count === subjects.length && new Set(subjects.map((one) => names[one] ?? one)).size < 2
  const isNamed = asking.about !== undefined && about !== undefined
  const object = only === '' && (isNamed || names[''] === undefined) ? undefined : html`: ${called(only, names)}`
  const besides = isNamed ? html` ${about} ${name(asking.about, '(no name)')}` : undefined
  const heading = html`${label}${isOne || count < 2 ? object : `: ${count} rows`}${besides}`
  const { '': general } = errors
  const alert =
    general === undefined ? undefined : html`<p class="plate" role="alert">${withScreens(frame, general)}</p>`
  if (asking.choosing !== undefined)
    return {
      title: label,
      main: html`<div class="ask">
        <h1>${heading}</h1>
        ${alert} ${asking.choosing}
      </div>`,
    }
  return {
    title: label,
    main: html`<div class="ask">
      <h1>${heading}</h1>
      ${warning === undefined && summary !== `${words.label}.` ? html`<p class="muted">${summary}</p>` : undefined}
      ${alert}
      ${
        subjects.length < 2 || isOne
          ? undefined
          : html`<ul class="plain">
              ${subjects.map((one) => html`<li>${called(one, names)}</li>`)}
            </ul>`
      }
      ${leftOut(asking, frame)} ${asking.chosen} ${matches === undefined ? undefined : matching(frame, form, matches)}
      ${warning === undefined ? undefined : html`<p class="${isFinal ? 'plate' : ''}">${warning}</p>`}
      ${caution === undefined ? undefined : html`<p class="plate">${caution}</p>`}
      <form method="post" action="${addressOf(frame, {})}" class="ask" autocomplete="off">
        ${hidden('csrf', frame.csrf)} ${hidden('task', form.task)} ${hidden('asked', '1')}
        ${once === undefined ? undefined : hidden('once', once)} ${subjects.map((one) => hidden('row', one))}
        ${seen === undefined ? undefined : hidden('seen', seen)}
        ${fixedFields(form).map((one) => hidden(one, asking.values[one] ?? ''))} ${fieldsOf(asking)}
        ${numberOf(asking, count)}
        <div class="actions">
          ${matches !== undefined && count === 0 ? undefined : html`<button type="submit" class="${isFinal ? 'button main danger' : 'button main'}">${label}</button>`}
          <a class="button" href="${addressOf(frame, {})}">Cancel</a>
        </div>
      </form>
    </div>`,
  }
}

function leftOut({ leftOut: rows, names }: Asking, { outOfReach }: Frame): Markup | undefined {
  if (rows.length === 0) return undefined
  const named = rows.map((one, index) => html`${index === 0 ? '' : ', '}${called(one, names)}`)
  return html`<p class="notice caution"><span>Left out: ${named}. ${outOfReach}</span></p>`
}

/** The form before another one, which changes nothing: it chooses what is `fixed` there. `kept`: what else the address of the other one has. */
export function choosingForm(
  form: Form,
  path: string,
  { kept, ...filling }: Pick<Filling, 'values' | 'errors' | 'isAside'> & { readonly kept: readonly string[] },
): Markup {
  const found = findTask(form.task)
  const fields = found === undefined ? [] : inputFields(found, fixedFields(form))
  return html`<form method="get" action="${path}" class="ask">
    ${hidden('ask', form.task)}
    ${kept.map((one) => (filling.values[one] === undefined ? undefined : hidden(one, filling.values[one])))}
    ${fieldsOf({ ...filling, first: undefined, fields, choices: {}, seen: undefined })}
    <div class="actions"><button class="button" type="submit">Continue</button></div>
  </form>`
}

/** A form with filters always sends the number, so that it does nothing to rows that the person has not seen. */
function numberOf({ matches, errors }: Asking, count: number): Markup | undefined {
  if (count >= TYPED_FROM) return typedNumber(count, errors['typed'])
  return matches === undefined ? undefined : hidden('typed', String(count))
}

const NAMES_SHOWN = 50

function matching(frame: Frame, { task }: Form, { names, next }: Matches): Markup {
  if (names.length === 0)
    return next === null
      ? html`<p>Nothing matches.</p>`
      : html`<p>None so far. <a href="${addressOf(frame, { before: next, ask: task })}">Continue</a></p>`
  const more = names.length - NAMES_SHOWN
  return html`<p>${names.length} match${next === null ? undefined : ', and more may follow'}.</p>
    <ul class="plain">
      ${names.slice(0, NAMES_SHOWN).map((one) => html`<li>${name(one, '(no name)')}</li>`)}
      ${more > 0 ? html`<li class="muted">and ${more} more</li>` : undefined}
    </ul>`
}

function typedNumber(count: number, error: string | undefined): Markup {
  return html`<div>
    <label class="field"
      ><span>Type ${count} to confirm</span>
      <input
        name="typed"
        inputmode="numeric"
        autocomplete="off"
        ${error === undefined ? undefined : html` aria-invalid="true" aria-describedby="error-typed"`}
    /></label>
    ${error === undefined ? undefined : html`<p class="error" id="error-typed">${error}</p>`}
  </div>`
}

/** A secret, and what is said with it. */
interface Revealed {
  /** What was done. */
  readonly said: Markup
  /** What the secret is: `Client secret`. */
  readonly label: string
  readonly secret: string
  readonly use: string
  readonly beside: readonly (readonly [label: string, text: string])[]
}

interface Lead {
  readonly to: string
  readonly label: string
}

/** A secret, which is shown once. `back`: the page on which the person goes on, and what its link says. */
export function secretPage({ said, label, secret, use, beside }: Revealed, back: Lead): View {
  const isLink = URL.canParse(secret) && /^https?:/.test(secret)
  return {
    title: label,
    main: html`<div class="notice" role="status"><span>${said}</span></div>
      <div class="ask">
        <h1>${label}</h1>
        <p>It is shown this once. ${use}</p>
        ${beside.length === 0 ? undefined : facts(beside.map(([term, text]) => [term, besideText(text)]))}
        <p class="secret">
          ${isLink ? html`<code>${href(secret)}</code>` : html`<code>${secret}</code>`} ${copyButton(secret)}
        </p>
        <p><a class="button" href="${back.to}">${back.label}</a></p>
      </div>`,
  }
}

function besideText(text: string): Markup {
  return html`<code>${text}</code> ${copyButton(text)}`
}
