import { readFields } from '../../../admin/input-fields.ts'
import { PAGE_LIMIT } from '../../../admin/page.ts'
import type { Members, Texts } from '../../../console/screen.ts'
import type { Stop } from './confirm.ts'
import { filledTexts, findUnknown, seenOf, taskOf, withoutTouch } from './filling.ts'
import { resolveFields } from './field-names.ts'
import type { Sent } from './sent.ts'
import { filtersIn, frameOf, namesIn, readAll, seekerOf } from './show.ts'

/** What the screen shows before the change: a deleted object has no name. */
export interface Seen {
  /** undefined: it cannot be read, or several rows are changed, of which none is read. */
  readonly answers: Members | undefined
  /** What the form has of the object as it is now; undefined: the form shows none. */
  readonly filled: Texts | undefined
  /** What the object, or the one row, is called. */
  readonly name: string | undefined
}

/** Rows that were added meanwhile move others on to the next page. */
const ROWS_READ = 2 * PAGE_LIMIT.usual

const CHANGED =
  'This was changed after the form was shown. The form has what you typed: compare, and save it again to replace the change.'

/** Reads what the screen shows once more. */
export async function readNow(sent: Sent): Promise<Seen> {
  const { desk, form, found, subjects, visit, visitor } = sent
  const [subject] = subjects
  if (subjects.length > 1 && form.rows === undefined) return { answers: undefined, filled: undefined, name: undefined }
  const limit = form.rows === undefined ? undefined : ROWS_READ
  const read = await readAll(desk, found, frameOf(desk, found, visit, visitor), visitor, limit)
  const answers = read.kind === 'read' ? read.answers : undefined
  return {
    answers,
    filled: answers && filledTexts(form, answers, subject),
    name: answers && subjects.length <= 1 ? namesIn(found.screen, answers)[subject ?? ''] : undefined,
  }
}

/** The members of the input of the task, or why there are none: another person changed the object, or a text names nothing. */
export async function compare(
  sent: Sent,
  { answers, filled }: Seen,
): Promise<Stop | { readonly kind: 'input'; readonly members: Members }> {
  const { desk, form, fields, found, values, visit, visitor } = sent
  const again = (status: number, errors: Texts): Stop => ({ kind: 'again', status, errors })
  const shown = visit.form.get('seen')
  if (filled !== undefined && shown !== undefined && shown !== seenOf(desk.context, filled))
    return again(409, { '': CHANGED })
  // A task that replaces an object needs all members. A task that changes it gets those that differ from the object, so this must be known.
  const isChange = taskOf(form.task).method === 'PATCH'
  if (isChange && filled === undefined) return again(409, { '': 'What this changes cannot be read now.' })
  const named = await resolveFields(seekerOf(desk, found, visitor), fields, withoutTouch(values, filled ?? {}))
  if (Object.keys(named.errors).length > 0) return again(422, named.errors)
  const unoffered = answers && form.choices && findUnknown(form.choices(answers), values)
  if (unoffered !== undefined) return again(422, { [unoffered.field]: `${unoffered.value} is not among the choices.` })
  const filters = form.matches === undefined ? {} : filtersIn(found, visit.query)
  const members = readFields(fields, named.values, isChange ? filled : undefined)
  return { kind: 'input', members: { ...members, ...filters } }
}
