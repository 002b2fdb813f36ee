import { requireTask } from '../../admin/tasks.ts'
import { AdminError, conflict, unknown } from '../../admin/admin-error.ts'
import { pathParameters } from '../../admin/task.ts'
import { authenticateRole } from '../../admin/user/role-holder.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { isSameJson } from '../../base/json.ts'
import { lockOutBy, lockOutByDomain } from '../lock-out.ts'
import { chosenRows, type Form, type Members } from './form.ts'
import { attempt, type OpenScreen } from './open-screen.ts'
import type { Sent } from './sent.ts'

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
  const { open, form, subjects } = sent
  const end = after(open.context.server.clock(), ROWS_MS)
  const chosen = chosenRows(form)
  const rows = chosen?.read?.(before)
  const performed: Performed[] = []
  for (const subject of chosen === undefined ? [''] : subjects) {
    const isTried = performed.length === 0 || (await mayGoOn(open, end))
    performed.push(isTried ? await performOne(sent, subject, input, rows) : { subject, error: conflict('Not tried.') })
  }
  return performed
}

async function mayGoOn({ context: { server }, signedIn }: OpenScreen, end: EpochMs): Promise<boolean> {
  if (server.clock() >= end) return false
  const now = await authenticateRole(server, signedIn.grantId)
  return now.kind === 'administrator' && isSameJson(now.administrator, signedIn.administrator)
}

/** `rows`: those of the screen, of a form whose task changes a row and shows none. */
async function performOne(
  sent: Sent,
  subject: string,
  input: Members,
  rows: Readonly<Record<string, Members>> | undefined,
): Promise<Performed> {
  const { open, form } = sent
  const locked = lockedOut(sent, subject, input)
  if (locked !== undefined) return { subject, error: conflict(locked) }
  const row = rows === undefined || !Object.hasOwn(rows, subject) ? undefined : rows[subject]
  if (rows !== undefined && row === undefined) return { subject, error: unknown('The row is no longer there.') }
  const { already, input: takes } = requireTask(form.task)
  const own = Object.fromEntries(Object.entries(open.parameters).filter(([name]) => name in takes.shape))
  const chosen = chosenRows(form)
  const named = chosen === undefined ? own : { ...own, [chosen.member]: subject }
  if (form.kind === 'change' && already !== undefined) {
    const state = row ?? (await attempt(open, `${nounOf(form.task)}.show`, named))
    if (state instanceof AdminError) return { subject, error: state }
    if (already(state)) return { subject }
  }
  const kept = row === undefined ? {} : (chosen?.keeps?.(row) ?? {})
  const answer = await attempt(open, form.task, { ...input, ...named, ...kept })
  return answer instanceof AdminError ? { subject, error: answer } : { subject, answer }
}

/** Why the person, or all, would be locked out. */
function lockedOut({ open, form }: Sent, subject: string, input: Members): string | undefined {
  const [object = ''] = objectsOf(form, open, [subject])
  const pattern = chosenRows(form) === undefined ? input['pattern'] : subject
  return (
    lockOutBy(form.task, object, open.signedIn.user.id) ??
    lockOutByDomain(form.task, String(pattern), new URL(open.context.origin).hostname)
  )
}

/** The objects of the task, by their ids: the chosen rows, or that of the path, which is the last one that the task names. */
export function objectsOf(
  form: Form,
  { parameters }: Pick<OpenScreen, 'parameters'>,
  subjects: readonly string[],
): readonly string[] {
  const [object = ''] = pathParameters(requireTask(form.task)).slice(-1)
  return chosenRows(form) === undefined ? [parameters[object] ?? ''] : subjects
}

function nounOf(task: string): string {
  return task.slice(0, task.indexOf('.'))
}
