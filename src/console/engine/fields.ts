import { hasParts, isChanged, rowsIn, type InputField } from './input-fields.ts'
import { pathParameters } from '../../admin/task.ts'
import { findTask } from '../../admin/tasks.ts'
import { parseJson } from '../../base/json.ts'
import { SECRET_MEMBERS } from '../../protocol/client/keys.ts'
import { code, html, lines, type Fragment, type Markup } from '../../web/markup.ts'
import { capitalOf } from '../parts.ts'
import type { Offered, Texts } from './form.ts'
import { CHOICE_MEANINGS, CHOICE_WORDS } from '../words.ts'

/** The fields of a form, and what is in them. Texts and errors are by the path of a field: `name`, `scopes.0.name`. */
export interface Filling {
  /** Fields that are shown at once; undefined: all are. */
  readonly first: readonly string[] | undefined
  readonly fields: readonly InputField[]
  /** The values of fields that have a box for each. */
  readonly choices: Offered
  /** What the person typed before, or what the object has. */
  readonly values: Texts
  /** Sentences by field; those of no field are by ''. */
  readonly errors: Texts
  /** Texts that a field may have among others, each with a name. */
  readonly suggestions?: Offered
  /** What the form had at first. */
  readonly preset?: Texts
  /** The values that the form had when it was shown first. */
  readonly initial?: Texts
  /** Names what the object had when the form was shown, so that the change of another person is not undone unseen; undefined: a new object. */
  readonly seen: string | undefined
  /** The form is not what the page is about. */
  readonly isAside?: true
}

/**
 * The members of a task that a form has: these in this order, and then all others, so that a new member has a field without a change here.
 * Those of the path are none of them.
 */
export function membersOf(task: string, first: readonly string[], without: readonly string[] = []): readonly string[] {
  const found = findTask(task)
  if (found === undefined) return first
  const others = Object.keys(found.input.shape).filter((name) => !pathParameters(found).includes(name))
  return [...new Set([...first, ...others])].filter((name) => !without.includes(name))
}

/** Rows of a list that a form offers besides those that are filled in. */
const EMPTY_ROWS = 3
/** A choice of at most so many values shows all of them as cards. In a row of a list there is no room for them. */
const CARDS = 5

/** The fields of a task. Those that few people need are behind a word, unless one of them is wrong, or has what the person typed. */
export function fieldsOf(filling: Filling): Fragment {
  const { first, fields, errors } = filling
  const focus = filling.isAside === true ? '' : focusOf(filling)
  const show = (field: InputField): Markup => fieldOf(field, field.name, filling, focus)
  const isFirst = ({ name }: InputField): boolean => first === undefined || first.includes(name)
  const others = fields.filter((field) => !isFirst(field))
  if (others.length === 0) return fields.map(show)
  const isWrong = Object.keys(errors).some((path) => others.some(({ name }) => isBelow(path, name)))
  const isOpen = isWrong || others.some((field) => isTouched(field, field.name, filling))
  return html`${fields.filter(isFirst).map(show)}
    <details class="more" ${isOpen ? html` open` : undefined}>
      <summary>More settings</summary>
      ${others.map(show)}
    </details>`
}

/** Whether the person gave a field another value than the form had at first. */
function isTouched(field: InputField, path: string, filling: Filling): boolean {
  const { values, initial = {}, seen } = filling
  if (hasParts(field.kind)) return field.parts.some((part) => isTouched(part, `${path}.${part.name}`, filling))
  // A choice that a new object has without one is not sent.
  if (field.kind === 'choice' && seen === undefined && (values[path] ?? '') === '') return false
  const usual = initial[path] ?? field.default ?? ''
  return isChanged(field, path, values, { ...initial, [path]: usual })
}

function isBelow(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`)
}

/** The field that gets the focus: the first one with an error, and otherwise the first. */
function focusOf({ fields, errors, values }: Filling): string {
  const paths = fields.flatMap((field) => pathsOf(field, field.name, values))
  return paths.find((path) => errors[path] !== undefined) ?? paths[0] ?? ''
}

function pathsOf({ kind, parts }: InputField, path: string, values: Texts): readonly string[] {
  if (hasParts(kind)) return parts.flatMap((part) => pathsOf(part, `${path}.${part.name}`, values))
  if (kind !== 'rows') return [path]
  return [...rowsIn(path, values), rowsIn(path, values).length].flatMap((place) =>
    parts.flatMap((part) => pathsOf(part, `${path}.${place}.${part.name}`, values)),
  )
}

function fieldOf(field: InputField, path: string, filling: Filling, focus: string): Markup {
  const { label, kind } = field
  // What each value means is on its card.
  const description = CHOICE_MEANINGS[field.name] === undefined ? field.description : ''
  const { choices: offered, values, errors, seen } = filling
  const boxes = offered[path] ?? (kind === 'boxes' ? field.choices.map((one) => [one, ''] as const) : undefined)
  const fault = faultOf(path, errors)
  if (boxes !== undefined) return boxesOf(field, path, boxes, { values, errors })
  if (hasParts(kind))
    return html`<fieldset>
      <legend>${label}</legend>
      ${description === '' ? undefined : html`<p class="hint">${withCode(description)}</p>`} ${fault}
      ${field.parts.map((part) => fieldOf(part, `${path}.${part.name}`, filling, focus))}
    </fieldset>`
  if (kind === 'rows') return rowsOf(field, path, filling, focus)
  // No page has a secret, so a mistake leaves the field empty.
  const isLost = isSecretText(field, values[path])
  const again = isLost ? html`<p class="error">Type it again.</p>` : undefined
  const below = html`${description === '' ? undefined : html`<p class="hint" id="hint-${path}">${withCode(description)}</p>`}
  ${fault} ${again}`
  const state = {
    values,
    errors,
    hasHint: description !== '',
    hasFocus: path === focus,
    isChange: seen !== undefined,
    preset: filling.preset?.[path],
    suggested: filling.suggestions?.[path],
  }
  const control = controlOf(field, path, state)
  if (kind === 'choice' && field.choices.length <= CARDS) return cardsOf(field, path, state, below)
  if (kind === 'flag')
    return html`<div>
      <label class="field flag">${control}<span>${label}</span></label
      >${below}
    </div>`
  return html`<div><label class="field">${labelled(field, kind !== 'choice')}${control}</label>${below}</div>`
}

/** The label says what has to be filled in. `mayLack`: not a choice that always has a value, and not a row that may stay empty. */
function labelled({ label, isRequired, mayBeEmpty }: InputField, mayLack: boolean): Markup {
  return html`<span>${label}${isRequired && !mayBeEmpty && mayLack ? html` <small>required</small>` : undefined}</span>`
}

const PRIVATE_KEY = new RegExp(`"(?:${SECRET_MEMBERS.join('|')})"\\s*:|PRIVATE KEY`)

/** Also private keys where public ones are meant. */
function isSecretText({ kind, isSecret }: InputField, text = ''): boolean {
  return text !== '' && (isSecret || (kind === 'json' && mayHavePrivateKey(text)))
}

/** What is no JSON may be a private key as well: in YAML, as a program prints it, or a part of a file. */
function mayHavePrivateKey(text: string): boolean {
  const value = parseJson(text)
  return value === undefined || PRIVATE_KEY.test(text) || PRIVATE_KEY.test(JSON.stringify(value))
}

function faultOf(path: string, errors: Texts): Markup | undefined {
  return errors[path] === undefined ? undefined : html`<p class="error" id="error-${path}">${lines(errors[path])}</p>`
}

interface ControlState {
  readonly values: Texts
  readonly errors: Texts
  readonly hasHint: boolean
  readonly hasFocus: boolean
  /** Not the first of the choices, which would fill in a row that is to be empty. */
  readonly mayBeEmpty?: boolean
  /** The object has a value, which only another one can replace. */
  readonly isChange?: boolean
  readonly preset?: string | undefined
  readonly suggested?: Offered[string] | undefined
}

function controlOf(field: InputField, path: string, state: ControlState): Markup {
  const { kind, maxLength } = field
  const { values, hasFocus, mayBeEmpty = false } = state
  const known = isSecretText(field, values[path]) ? undefined : values[path]
  const initial = mayBeEmpty ? undefined : (state.preset ?? field.default)
  const value = known ?? initial ?? ''
  const more: Fragment = [describedBy(path, state), hasFocus ? html` autofocus` : undefined]
  const named: Fragment = [html` name="${path}"`, more]
  if (kind === 'flag') {
    const isOn = value === 'true' || value === 'on'
    return html`<input type="checkbox" ${named} value="on" ${isOn ? html` checked` : undefined} />`
  }
  if (kind === 'choice')
    return html`<select ${named}>
      ${optionsOf(field, path, state).map(option)}
    </select>`
  if (kind === 'lines' || kind === 'json')
    return html`<textarea ${named} rows="${kind === 'json' ? 8 : 3}" spellcheck="false">${lines(value)}</textarea>`
  // A secret is typed again, so that no page has it.
  if (kind === 'password') return html`<input type="password" ${named} autocomplete="new-password" />`
  const most = maxLength === undefined ? undefined : html` maxlength="${maxLength}"`
  const { suggested } = state
  if (suggested === undefined || suggested.length === 0)
    return html`<input name="${path}" value="${value}" ${most}${more} />`
  return html`<input name="${path}" value="${value}" list="list-${path}" autocomplete="off" ${most}${more} />
    <datalist id="list-${path}">
      ${suggested.map(([one, called]) => html`<option value="${one}">${called}</option>`)}
    </datalist>`
}

/** Names the hint and the error of a field for screen readers. */
function describedBy(path: string, { errors, hasHint }: ControlState): Fragment {
  const isWrong = errors[path] !== undefined
  const hints = [...(hasHint ? [`hint-${path}`] : []), ...(isWrong ? [`error-${path}`] : [])]
  return [
    hints.length === 0 ? undefined : html` aria-describedby="${hints.join(' ')}"`,
    isWrong ? html` aria-invalid="true"` : undefined,
  ]
}

/** One of the values of a choice, as the form sends it. */
interface Option {
  readonly value: string
  readonly word: string
  readonly meaning: string | undefined
  readonly isSelected: boolean
}

/** The values of a choice, and an empty one for none. What a new object has without a choice is not sent, so that the task decides it. */
function optionsOf(field: InputField, path: string, state: ControlState): readonly Option[] {
  const { name, choices, isNullable } = field
  const { values, mayBeEmpty = false, isChange = false } = state
  const initial = mayBeEmpty ? undefined : (state.preset ?? field.default)
  const value = values[path] ?? initial ?? ''
  const usual = isChange ? undefined : initial
  const isRequired = !mayBeEmpty && (field.isRequired || (isChange && !isNullable && value !== ''))
  const chosen = value || usual
  const hasNone = !isRequired && usual === undefined
  const none = { value: '', word: '', meaning: undefined, isSelected: chosen === undefined || chosen === '' }
  const all = choices.map((choice, index) => ({
    value: choice === usual ? '' : choice,
    word: `${CHOICE_MEANINGS[name] === undefined ? wordOf(field, choice) : capitalOf(choice)}${choice === usual ? ' (default)' : ''}`,
    meaning: CHOICE_MEANINGS[name]?.[choice],
    // As a browser does in a list without a chosen value.
    isSelected: choice === chosen || (index === 0 && !hasNone && !choices.includes(chosen ?? '')),
  }))
  return hasNone ? [none, ...all] : all
}

/** Without spaces, as the field: a page has many. */
function option({ value, word, isSelected }: Option): Markup {
  const selected = isSelected ? html` selected` : undefined
  return word === value
    ? html`<option${selected}>${word}</option>`
    : html`<option value="${value}" ${selected}>${word}</option>`
}

/** All values of a choice at once, each with what it means. `below`: the help and the error. */
function cardsOf(field: InputField, path: string, state: ControlState, below: Markup): Markup {
  const card = ({ value, word, meaning, isSelected }: Option): Markup => {
    const checked = isSelected ? html` checked` : undefined
    const focus = isSelected && state.hasFocus ? html` autofocus` : undefined
    const says = meaning === undefined ? undefined : html`<small class="hint">${meaning}</small>`
    return html`<label class="choice flag"
      ><input type="radio" name="${path}" value="${value}" ${checked}${focus} /><span
        >${word === '' ? 'Not set' : word}${says}</span
      ></label
    >`
  }
  return html`<fieldset class="cards actions" role="radiogroup" ${describedBy(path, state)}>
    <legend>${field.label}</legend>
    ${optionsOf(field, path, state).map(card)} ${below}
  </fieldset>`
}

function wordOf({ name, choices }: InputField, choice: string): string {
  if (choices.join() === 'true,false') return choice === 'true' ? 'yes' : 'no'
  return CHOICE_WORDS[name]?.[choice] ?? choice
}

/** A box for each value. Where another task says which values there are, the description is about the text that the API takes. */
function boxesOf(
  { label, kind, description }: InputField,
  path: string,
  boxes: readonly (readonly [value: string, remark: string])[],
  { values, errors }: Pick<Filling, 'values' | 'errors'>,
): Markup {
  const chosen = (values[path] ?? '').split(' ')
  return html`<fieldset>
    <legend>${label}</legend>
    ${kind === 'boxes' && description !== '' ? html`<p class="hint">${withCode(description)}</p>` : undefined}
    ${boxes.map(([one, remark]) =>
      one === ''
        ? html`<p>${remark}</p>`
        : html`<label class="field flag"
            ><input
              type="checkbox"
              name="${path}"
              value="${one}"
              ${chosen.includes(one) ? html` checked` : undefined}
            /><span
              ><code>${one}</code> ${remark === '' ? undefined : html`<span class="muted">${remark}</span>`}</span
            ></label
          >`,
    )}
    ${faultOf(path, errors)}
  </fieldset>`
}

/** A list of objects: what each has is said once, above. An empty row is left out. */
function rowsOf({ label, description, parts }: InputField, path: string, filling: Filling, focus: string): Markup {
  const { values, errors } = filling
  const filled = rowsIn(path, values).length
  const places = Array.from({ length: filled + EMPTY_ROWS }, (_, place) => place)
  const leaves = parts.flatMap(leavesOf)
  return html`<fieldset class="rows">
    <legend>${label}</legend>
    ${description === '' ? undefined : html`<p class="hint">${withCode(description)}</p>`}
    ${[...parts.filter(({ kind }) => hasParts(kind)), ...leaves.map(({ leaf }) => leaf)].map(hintOf)}
    ${faultOf(path, errors)}
    ${places.map(
      (place) =>
        html`<fieldset>
          <legend>${place + 1}</legend>
          ${Object.keys(errors)
            .filter(
              (at) =>
                isBelow(at, `${path}.${place}`) && !leaves.some(({ below }) => at === `${path}.${place}.${below}`),
            )
            .map((at) => faultOf(at, errors))}
          ${leaves.map(({ leaf, below }) => {
            const at = `${path}.${place}.${below}`
            const state = { values, errors, hasHint: false, hasFocus: at === focus, mayBeEmpty: true }
            const called = labelled(leaf, place < filled)
            const control = html`<label class="field">${called}${controlOf(leaf, at, state)}</label>`
            return html`<div>${control}${faultOf(at, errors)}</div>`
          })}
        </fieldset>`,
    )}
    <p class="hint">A row that is empty is left out. More rows follow after you save.</p>
  </fieldset>`
}

/** The help for a member of all rows. */
function hintOf({ name, label, description }: InputField): Fragment {
  if (description === '' || CHOICE_WORDS[name] !== undefined) return undefined
  return html`<p class="hint"><strong>${label}</strong> – ${withCode(description)}</p>`
}

/** The fields of a row, with their paths below it. */
function leavesOf(field: InputField): readonly { readonly leaf: InputField; readonly below: string }[] {
  if (!hasParts(field.kind)) return [{ leaf: field, below: field.name }]
  return field.parts.flatMap(leavesOf).map(({ leaf, below }) => ({
    leaf: {
      ...leaf,
      label: `${field.label}: ${field.kind === 'texts' ? leaf.label : leaf.label.toLowerCase()}`,
      isRequired: field.isRequired && leaf.isRequired,
    },
    below: `${field.name}.${below}`,
  }))
}

/** A description, in which what is between backticks is code. */
function withCode(text: string): Fragment {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : code(part)))
}
