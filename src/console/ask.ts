import type { InputField } from '../admin/input-fields.ts'
import { code, href, html, type Fragment, type Markup } from '../web/markup.ts'
import { addressOf, called, copyButton, exactTime, hidden, name } from './parts.ts'
import type { Frame, Matches, ScreenForm, Texts, View } from './screen.ts'

/** From this number of rows on, the person types the number. */
export const TYPED_FROM = 11

/** A page that asks before a change: what it is about, what ends, and the fields of the task. */
export interface Asking {
  readonly form: ScreenForm
  /** What the task does, in its own words. */
  readonly summary: string
  readonly caution: string | undefined
  readonly fields: readonly InputField[]
  /** The values of fields that have a box for each. */
  readonly choices: Readonly<Record<string, readonly (readonly [value: string, remark: string])[]>>
  /** What the person typed before, by field. */
  readonly values: Texts
  /** Sentences by field; those of no field are by ''. */
  readonly errors: Texts
  readonly subjects: readonly string[]
  /** Names by id. */
  readonly names: Texts
  /** What the filters find, if the form is about that. */
  readonly matches: Matches | undefined
  /** A value that works once, of a form that creates a secret. */
  readonly once: string | undefined
}

export function askPage(asking: Asking, frame: Frame): View {
  const { form, summary, caution, fields, errors, subjects, names, matches, once } = asking
  const count = matches?.names.length ?? subjects.length
  const { task, label, warning, isDanger } = form
  const general = errors['']
  const [only = ''] = subjects
  const about = only === '' && names[''] === undefined ? undefined : html`: ${called(only, names)}`
  const heading = count > 1 ? html`${label}: ${count} rows` : html`${label}${about}`
  return {
    title: label,
    main: html`<div class="ask">
      <h1>${heading}</h1>
      ${warning === undefined && summary !== `${label}.` ? html`<p class="muted">${summary}</p>` : undefined}
      ${general === undefined ? undefined : html`<p class="plate" role="alert">${general}</p>`}
      ${
        subjects.length < 2
          ? undefined
          : html`<ul class="plain">
              ${subjects.map((one) => html`<li>${called(one, names)}</li>`)}
            </ul>`
      }
      ${matches === undefined ? undefined : matching(frame, form, matches)}
      ${warning === undefined ? undefined : html`<p class="${isDanger ? 'plate' : ''}">${warning}</p>`}
      ${caution === undefined ? undefined : html`<p class="plate">${caution}</p>`}
      <form method="post" action="${addressOf(frame, {})}" class="ask">
        ${hidden('csrf', frame.csrf)} ${hidden('task', task)} ${hidden('confirmed', '1')}
        ${once === undefined ? undefined : hidden('once', once)} ${subjects.map((one) => hidden('subject', one))}
        ${fields.map((field, index) => fieldOf(field, asking, index === firstFaulty(fields, errors)))}
        ${numberOf(asking, count)}
        <div class="actions">
          ${matches !== undefined && count === 0 ? undefined : html`<button type="submit" class="${isDanger ? 'button main danger' : 'button main'}">${label}</button>`}
          <a class="button" href="${addressOf(frame, {})}">Cancel</a>
        </div>
      </form>
    </div>`,
  }
}

/** A form with filters always sends the number, so that it does nothing to rows that the person has not seen. */
function numberOf({ matches, errors }: Asking, count: number): Markup | undefined {
  if (count >= TYPED_FROM) return typedNumber(count, errors['typed'])
  return matches === undefined ? undefined : hidden('typed', String(count))
}

const NAMES_SHOWN = 50

function matching(frame: Frame, { task }: ScreenForm, { names, next }: Matches): Markup {
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

/** The field that gets the focus: the first one with an error, and otherwise the first. */
function firstFaulty(fields: readonly InputField[], errors: Texts): number {
  return Math.max(
    0,
    fields.findIndex(({ name: field }) => errors[field] !== undefined),
  )
}

function fieldOf(field: InputField, { choices: offered, values, errors }: Asking, hasFocus: boolean): Markup {
  const { name: member, label, description, kind, choices, isRequired, maxLength } = field
  const value = values[member] ?? field.default ?? ''
  const error = errors[member]
  const hints = [description === '' ? undefined : `hint-${member}`, error === undefined ? undefined : `error-${member}`]
  const described = hints.filter((hint) => hint !== undefined).join(' ')
  const more: Fragment = [
    described === '' ? undefined : html` aria-describedby="${described}"`,
    error === undefined ? undefined : html` aria-invalid="true"`,
    hasFocus ? html` autofocus` : undefined,
  ]
  const fault = error === undefined ? undefined : html`<p class="error" id="error-${member}">${error}</p>`
  const below = html`${description === '' ? undefined : html`<p class="hint" id="hint-${member}">${withCode(description)}</p>`}
  ${fault}`
  const boxes = offered[member]
  // The description is about the text that the API takes.
  if (boxes !== undefined)
    return html`<fieldset>
      <legend>${label}</legend>
      ${boxes.map(
        ([one, remark]) =>
          html`<label class="field flag"
            ><input
              type="checkbox"
              name="${member}"
              value="${one}"
              ${value.split(' ').includes(one) ? html` checked` : undefined}
            /><span
              ><code>${one}</code> ${remark === '' ? undefined : html`<span class="muted">${remark}</span>`}</span
            ></label
          >`,
      )}
      ${boxes.length === 0 ? html`<p>No API declares scopes that need an approval.</p>` : undefined} ${fault}
    </fieldset>`
  if (kind === 'flag')
    return html`<div>
      <label class="field flag"
        ><input
          type="checkbox"
          name="${member}"
          value="on"
          ${value === 'true' || value === 'on' ? html` checked` : undefined}${more}
        /><span>${label}</span></label
      >${below}
    </div>`
  if (kind === 'choice')
    return html`<div>
      <label class="field"
        ><span>${label}</span
        ><select name="${member}" ${more}>
          ${isRequired ? undefined : html`<option value=""></option>`}
          ${choices.map((choice) => html`<option value="${choice}" ${choice === value ? html` selected` : undefined}>${choice}</option>`)}
        </select></label
      >${below}
    </div>`
  const type = { text: 'text', number: 'text', time: 'text', password: 'password' }[kind]
  return html`<div>
    <label class="field"
      ><span>${label}</span
      ><input
        type="${type}"
        name="${member}"
        value="${value}"
        autocomplete="off"
        spellcheck="false"
        ${maxLength === undefined ? undefined : html` maxlength="${maxLength}"`}${more} /></label
    >${below}
  </div>`
}

/** A description, in which what is between backticks is code. */
function withCode(text: string): Fragment {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : code(part)))
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

/** For whom a secret is, and until when it works, if its task says so. */
interface SecretUse {
  readonly name: string | undefined
  readonly until: string | undefined
  /** How it is used and until when, if the form says it. */
  readonly note: string | undefined
}

/** A secret, which is shown once. `back`: the page of the form. */
export function secretPage(
  form: ScreenForm,
  secret: string,
  { name: whom, until, note }: SecretUse,
  back: string,
): View {
  const isLink = URL.canParse(secret) && /^https?:/.test(secret)
  return {
    title: form.done,
    main: html`<div class="ask">
      <h1>${form.done}${whom === undefined ? undefined : html` for ${name(whom, '(no name)')}`}</h1>
      ${until === undefined || note !== undefined ? undefined : html`<p>It ${isLink ? 'works once,' : 'is valid'} until ${exactTime(until)}.</p>`}
      ${note === undefined ? undefined : html`<p>${note}</p>`}
      <p>
        It is shown this
        once.${isLink ? ' Hand it to the person over a way that only the person reads.' : ' Keep it where only the program that uses it reads it.'}
      </p>
      <p class="secret">
        ${isLink ? html`<code>${href(secret)}</code>` : html`<code>${secret}</code>`} ${copyButton(secret)}
      </p>
      <p><a class="button" href="${back}">Go on</a></p>
    </div>`,
  }
}
