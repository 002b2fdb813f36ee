import { requireTask } from '../../admin/tasks.ts'
import { AdminError } from '../../admin/admin-error.ts'
import { PAGE_LIMIT } from '../../admin/page.ts'
import { again, type Stop } from './confirm.ts'
import { resolveFields } from './field-names.ts'
import { choicesOf, filledTexts, findUnknown, seenOf, withoutTouch } from './filling.ts'
import { chosenRows, matchingRows, type Members, type Texts } from './form.ts'
import { readFields } from './input-fields.ts'
import { seekerOf } from './open-screen.ts'
import { filtersIn, namesIn, readAll } from './read.ts'
import type { Sent } from './sent.ts'

/** What the screen shows before the change: a deleted object has no name. */
export interface Seen {
  /** undefined: it cannot be read, or several rows are changed, of which none is read. */
  readonly answers: Members | undefined
  /** What the form has of the object as it is now; undefined: the form shows none. */
  readonly filled: Texts | undefined
  /** What the object, or the one row, is called. */
  readonly name: string | undefined
  /** What the object of the path is called. */
  readonly place: string | undefined
}

const NOT_READ: Seen = { answers: undefined, filled: undefined, name: undefined, place: undefined }

/** Rows that were added meanwhile move others on to the next page. */
const ROWS_READ = 2 * PAGE_LIMIT.usual

const CHANGED =
  'This was changed after the form was shown. The form has what you typed: compare, and save it again to replace the change.'

/** Reads what the screen shows once more. */
export async function readNow({ open, form, subjects }: Sent): Promise<Seen> {
  const [subject] = subjects
  const hasRows = chosenRows(form)?.read !== undefined
  if (subjects.length > 1 && !hasRows) return NOT_READ
  const answers = await readAll(open, hasRows ? ROWS_READ : undefined)
  if (answers instanceof AdminError) return NOT_READ
  const names = namesIn(open.screen, answers)
  const name = subjects.length <= 1 ? names[subject ?? ''] : undefined
  const place = open.screen.about?.(answers) ?? names['']
  return { answers, filled: filledTexts(form, answers, subject), name, place }
}

/** The members of the input of the task, or why there are none: another person changed the object, or a text names nothing. */
export async function compare(
  { open, form, fields, values }: Sent,
  { answers, filled }: Seen,
): Promise<Stop | { readonly kind: 'input'; readonly members: Members }> {
  // A task that replaces an object needs all members. A task that changes it gets those that differ from the object, so this must be known.
  const isChange = requireTask(form.task).method === 'PATCH'
  if ((form.kind === 'edit' && answers === undefined) || (isChange && filled === undefined))
    return again(409, { '': 'What this changes cannot be read now.' })
  const now = filled && seenOf(open.context.server, filled)
  // Also an object that the form did not show, because there was none, or that is gone.
  if (form.kind === 'edit' && open.request.form.get('seen') !== now) return again(409, { '': CHANGED })
  const named = await resolveFields(seekerOf(open), fields, withoutTouch(values, filled ?? {}))
  if (Object.keys(named.errors).length > 0) return again(422, named.errors)
  const unoffered = answers && findUnknown(choicesOf(form, answers, fields).choices, values)
  if (unoffered !== undefined) return again(422, { [unoffered.field]: `${unoffered.value} is not among the choices.` })
  const filters = matchingRows(form) === undefined ? {} : filtersIn(open)
  const members = readFields(fields, named.values, isChange ? filled : undefined)
  return { kind: 'input', members: { ...members, ...filters } }
}
