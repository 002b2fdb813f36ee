import { isDeepStrictEqual } from 'node:util'
import { AdminError, conflict, unknown } from '../../../admin/admin-error.ts'
import { asAdministrator } from '../../../admin/administrators.ts'
import { runTask } from '../../../admin/run-task.ts'
import { pathParameters } from '../../../admin/task.ts'
import { authenticateRole } from '../../../admin/user/role-holder.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import { lockOutBy, lockOutByDomain } from '../../../console/lock-out.ts'
import type { Members, ScreenForm } from '../../../console/screen.ts'
import { taskOf } from './filling.ts'
import type { Sent } from './sent.ts'
import type { Found } from './show.ts'

/** After this time no other row of a form begins. */
const ROWS_MS = 10 * 1000

/** What became of a row. */
export interface Performed {
  /** Empty for the object of the path. */
  readonly subject: string
  /** Without one the object was in the state already. */
  readonly answer?: Members
  readonly error?: AdminError
}

/**
 * Performs the task for each row that was chosen, with the right that the person has then: each is authorized and audited, and one that fails
 * does not stop the others. The right to the first is that of the request itself. `before`: the answers that the screen shows.
 */
export async function performEach(sent: Sent, input: Members, before: Members): Promise<readonly Performed[]> {
  const { desk, form, subjects } = sent
  const end = after(desk.context.clock(), ROWS_MS)
  const rows = form.rows?.(before)
  const performed: Performed[] = []
  for (const subject of form.subject === undefined ? [''] : subjects) {
    const isTried = performed.length === 0 || (await mayGoOn(sent, end))
    performed.push(isTried ? await performOne(sent, subject, input, rows) : { subject, error: conflict('Not tried.') })
  }
  return performed
}

async function mayGoOn({ desk: { context }, visitor: { holder } }: Sent, end: EpochMs): Promise<boolean> {
  if (context.clock() >= end) return false
  const now = await authenticateRole(context, holder.grantId)
  return now.kind === 'administrator' && isDeepStrictEqual(now.administrator, holder.administrator)
}

/** `rows`: those of the screen, of a form whose task changes a row and shows none. */
async function performOne(
  sent: Sent,
  subject: string,
  given: Members,
  rows: Readonly<Record<string, Members>> | undefined,
): Promise<Performed> {
  const { desk, form, found, visitor } = sent
  const task = taskOf(form.task)
  const administration = asAdministrator(desk.context, visitor.holder.administrator)
  const own = Object.fromEntries(Object.entries(found.parameters).filter(([name]) => name in task.input.shape))
  const named = form.subject === undefined ? own : { ...own, [form.subject]: subject }
  try {
    const locked = lockedOut(sent, subject, given)
    if (locked !== undefined) throw conflict(locked)
    const row = rows === undefined || !Object.hasOwn(rows, subject) ? undefined : rows[subject]
    if (rows !== undefined && row === undefined) throw unknown('The row is no longer there.')
    const show = () => runTask(administration, taskOf(`${nounOf(form.task)}.show`), named, () => undefined)
    if (form.already?.holds(row ?? (await show())) === true) return { subject }
    const kept = row === undefined ? {} : (form.keeps?.(row) ?? {})
    return { subject, answer: await runTask(administration, task, { ...given, ...kept, ...named }, () => undefined) }
  } catch (cause) {
    if (!(cause instanceof AdminError)) throw cause
    return { subject, error: cause }
  }
}

/** Why the person, or all, would be locked out. */
function lockedOut({ desk, form, found, visitor }: Sent, subject: string, given: Members): string | undefined {
  const [object = ''] = objectsOf(form, found, [subject])
  const pattern = form.subject === undefined ? given['pattern'] : subject
  return (
    lockOutBy(form.task, object, visitor.holder.user.id) ??
    lockOutByDomain(form.task, String(pattern), new URL(desk.origin).hostname)
  )
}

/** The objects of the task, by their ids: the chosen rows, or that of the path, which is the last one that the task names. */
export function objectsOf(
  { task, subject }: ScreenForm,
  { parameters }: Pick<Found, 'parameters'>,
  subjects: readonly string[],
): readonly string[] {
  return subject === undefined ? [parameters[pathParameters(taskOf(task)).at(-1) ?? ''] ?? ''] : subjects
}

function nounOf(task: string): string {
  return task.slice(0, task.indexOf('.'))
}
