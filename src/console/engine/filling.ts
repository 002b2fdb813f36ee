import type { AdminError } from '../../admin/admin-error.ts'
import { fieldAt, findField, hasParts, inputFields, textsOf, withoutGaps, type InputField } from './input-fields.ts'
import { requireTask } from '../../admin/tasks.ts'
import type { Parameters } from '../../base/message.ts'
import { fieldsIn, fixedFields, type Form, type Members, type Offered, type Texts } from './form.ts'
import type { Context } from '../../ports/context.ts'
import { visible } from '../../web/visible.ts'

/** What the fields of a form have, when it is shown and when it is sent. */

export function formFields(form: Form): readonly InputField[] {
  return inputFields(requireTask(form.task), fieldsIn(form))
}

/** The texts of a form that shows what the object has; undefined: another form. */
export function filledTexts(form: Form, answers: Members, subject: string | undefined): Texts | undefined {
  const members = form.kind === 'edit' ? form.filled(answers, subject) : undefined
  return members && textsOf(formFields(form), members)
}

/** What the next page offers to restore; undefined: nothing, because the form does not say so, or the task takes no object without a value. */
export function restoredTexts(form: Form, filled: Texts): Texts | undefined {
  const fields = formFields(form)
  const texts = Object.fromEntries(fields.map(({ name }) => [name, filled[name] ?? '']))
  const isPossible = fields.every(({ name, isRequired, mayBeEmpty }) => !isRequired || mayBeEmpty || texts[name] !== '')
  return requireTask(form.task).undo === form.task && isPossible ? texts : undefined
}

/**
 * What was sent, with the texts of the object where the person left what the form showed: a page shows invisible characters and runs of
 * spaces otherwise, and a change of another field must not replace them.
 */
export function withoutTouch(values: Texts, filled: Texts): Texts {
  return Object.fromEntries(
    Object.entries(values).map(([path, text]) => {
      const own = filled[path]
      return [
        path,
        own !== undefined && withPlainLines(text) === withPlainLines(own.split('\n').map(visible).join('\n'))
          ? own
          : text,
      ]
    }),
  )
}

/** Browsers send the lines of a text with CRLF. */
function withPlainLines(text: string): string {
  return text.replaceAll('\r\n', '\n').trim()
}

/** Names what the form showed, so that a change of another person meanwhile is noticed. */
export function seenOf({ secrets }: Pick<Context, 'secrets'>, filled: Texts): string {
  return secrets.digest('console', ['seen', JSON.stringify(filled)])
}

/** The texts that were sent for the fields, by their paths; undefined: the form has others too. `own`: what a form has besides fields. */
export function textsIn(
  fields: readonly InputField[],
  sent: Pick<Parameters, 'names' | 'all'>,
  own: ReadonlySet<string>,
): Texts | undefined {
  const names = sent.names.filter((name) => !own.has(name))
  if (!names.every((name) => findField(fields, name) !== undefined)) return undefined
  const plain = fields.filter(({ kind }) => !hasParts(kind) && kind !== 'rows').map(({ name }) => name)
  // A field with a box for each value is sent once for each, and one without a box that is ticked is not sent.
  const texts = Object.fromEntries([...plain, ...names].map((name) => [name, sent.all(name).join(' ')]))
  return withoutGaps(fields, texts)
}

/** The choices of the fields that have a box for each, or those that others suggest because they name an object. */
export function choicesOf(form: Form, answers: Members, fields: readonly InputField[]) {
  const offered = form.kind === 'create' || form.kind === 'edit' ? (form.choices?.(answers) ?? {}) : {}
  const isSuggested = ([name]: readonly [string, unknown]): boolean => findField(fields, name)?.refersTo !== undefined
  const [suggestions = [], choices = []] = [true, false].map((is) =>
    Object.entries(offered).filter((one) => isSuggested(one) === is),
  )
  return { suggestions: Object.fromEntries(suggestions), choices: Object.fromEntries(choices) }
}

/** A value that a field with boxes does not offer. */
export function findUnknown(
  choices: Offered,
  values: Texts,
): { readonly field: string; readonly value: string } | undefined {
  for (const [field, offered] of Object.entries(choices)) {
    const words = (values[field] ?? '').split(' ').filter((word) => word !== '')
    const value = words.find((word) => !offered.some(([one]) => one === word))
    if (value !== undefined) return { field, value }
  }
  return undefined
}

/** Sentences beside their fields; those of the whole task, and of members that the form does not show, above. */
export function errorsOf({ message, problems }: AdminError, form: Form, fields: readonly InputField[]): Texts {
  if (problems.length === 0) return { '': message }
  const fixed = fixedFields(form)
  const errors: Record<string, string> = {}
  for (const { loc, msg, input } of problems) {
    const [, ...path] = loc
    const at = fieldAt(fields, path) ?? ''
    // Of a text with many lines, the one that is wrong.
    const isLine = /^\d+$/.test(path.at(-1) ?? '') && typeof input === 'string'
    const sentence = isLine ? `${input}: ${msg}` : msg
    const place = fixed.includes(at) ? '' : at
    errors[place] = errors[place] === undefined ? sentence : `${errors[place]}\n${sentence}`
  }
  return errors
}
