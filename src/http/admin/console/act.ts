import { isDeepStrictEqual } from 'node:util'
import { AdminError, conflict, unknown } from '../../../admin/admin-error.ts'
import { asAdministrator } from '../../../admin/administrators.ts'
import { labelOf, readFields } from '../../../admin/input-fields.ts'
import { PAGE_LIMIT } from '../../../admin/page.ts'
import { runTask } from '../../../admin/run-task.ts'
import { pathParameters } from '../../../admin/task.ts'
import { authenticateRole } from '../../../admin/user/role-holder.ts'
import { secretPage, TYPED_FROM } from '../../../console/ask.ts'
import { lockOutBy, lockOutByDomain } from '../../../console/lock-out.ts'
import type { Outcome } from '../../../console/notice.ts'
import { asksFirst, worksOnce, type Members, type ScreenForm, type Texts, type Undo } from '../../../console/screen.ts'
import { after } from '../../../base/brand.ts'
import { invalidRequest } from '../../../protocol/errors.ts'
import { authorizeTask } from '../authorize.ts'
import {
  errorsOf,
  filledTexts,
  findUnknown,
  formFields,
  restoredTexts,
  seenOf,
  taskOf,
  textsIn,
  withoutTouch,
} from './filling.ts'
import {
  csrfParts,
  filtersIn,
  findMatches,
  formFor,
  frameOf,
  isRecent,
  namesIn,
  readAll,
  render,
  seekerOf,
  subjectsIn,
  type Found,
} from './show.ts'
import { sealOutcome } from './outcome.ts'
import { resolveFields } from './resolve.ts'
import { RETURN_LIMIT } from './sign-in.ts'
import { frozenContext } from './frozen-context.ts'
import {
  isFromOwnPage,
  page,
  redirect,
  withParameter,
  type ConsoleAnswer,
  type Desk,
  type Visit,
  type Visitor,
} from './visit.ts'

/** The rows of one form. */
const SUBJECT_LIMIT = 50
/** Of a reason that the address of the next page has. */
const REASON_LIMIT = 160
const REASONS = 10
const NOTE_LIMIT = 500
/** Of the reasons after these. */
const SHORT_REASON_LIMIT = 12
/** After this time no other row of a form begins. */
const ROWS_MS = 10 * 1000
const ONCE_MS = 60 * 60 * 1000
/** What a form has besides the fields of its task. */
const OWN_NAMES: ReadonlySet<string> = new Set(['csrf', 'task', 'subject', 'confirmed', 'once', 'typed', 'seen'])

/**
 * Performs the task of a form, for each row that was chosen: each is authorized and audited, and one that fails does not stop the others.
 *
 * @throws OAuthError invalid_request, insufficient_scope
 */
export async function act(
  given: Desk,
  found: Found,
  visit: Visit,
  visitor: Visitor,
  line: { task: string },
): Promise<ConsoleAnswer> {
  const { form: sent, path } = visit
  const parts = csrfParts(visitor.session.grantId, path)
  if (
    !isFromOwnPage(visit, given.origin) ||
    !given.context.secrets.digestMatches('csrf', parts, sent.get('csrf') ?? '')
  )
    throw invalidRequest('console_form_wrong', { status: 403 })
  const form = formFor(found, sent.get('task'))
  line.task = `console ${form.task}`
  const context = form.filled === undefined ? given.context : frozenContext(given.context)
  const desk: Desk = { ...given, context }
  authorizeTask(context, visitor.holder.administrator, taskOf(form.task), found.parameters)
  const fields = formFields(form)
  const values = textsIn(fields, sent, OWN_NAMES)
  if (values === undefined) throw invalidRequest('console_form_wrong', { status: 403 })
  const subjects = form.subject === undefined ? [] : subjectsIn(sent)
  const refuse = (status: number, errors: Texts): Promise<ConsoleAnswer> =>
    render(desk, found, visit, visitor, { status, outcome: refusedWith(form, errors), asking: undefined })
  const again = (status: number, errors: Texts): Promise<ConsoleAnswer> => {
    if (!asksFirst(form)) return refuse(status, errors)
    const asking = { form, subjects, values, errors }
    return render(desk, found, visit, visitor, { status, outcome: undefined, asking })
  }
  if (form.subject !== undefined && subjects.length === 0) return refuse(422, { '': 'Choose a row.' })
  if (subjects.length > SUBJECT_LIMIT) return refuse(422, { '': `At most ${SUBJECT_LIMIT} rows at a time.` })
  const asked = askAddress(found, form, subjects)
  if (asked.length > RETURN_LIMIT) return refuse(422, { '': 'These rows have long names: choose fewer at a time.' })
  const lockedOut = objectsOf(form, found, subjects).map((one) => lockOutBy(form.task, one, visitor.holder.user.id))
  const [locked] = lockedOut
  if (locked !== undefined && lockedOut.every((one) => one !== undefined)) return refuse(409, { '': locked })
  if (asksFirst(form) && sent.get('confirmed') !== '1') return redirect(asked)
  // Nothing is kept over the sign-in: the page that asks comes after it.
  if (form.isRecent === true && !isRecent(desk, visitor)) return redirect(asked)
  if (subjects.length >= TYPED_FROM && asksFirst(form) && sent.get('typed') !== String(subjects.length))
    return again(422, { typed: `This is not ${subjects.length}.` })
  if (worksOnce(form) && !(await isFirst(desk, visitor, sent.get('once') ?? '')))
    return again(409, {
      '': form.secret === undefined ? SENT_BEFORE : 'This was done already. The form did nothing more.',
    })
  const filters = form.matches === undefined ? {} : filtersIn(found, visit.query)
  if (form.matches !== undefined) {
    // A filter that is refused is said by the page itself.
    const matches = await findMatches(desk, found, visit, visitor, form).catch((cause: unknown) => {
      if (cause instanceof AdminError) return undefined
      throw cause
    })
    const count = matches?.names.length ?? 0
    if (sent.get('typed') !== String(count)) return again(422, { '': `${count} match now, which is another number.` })
  }
  const before =
    subjects.length > 1 && form.rows === undefined ? undefined : await readBefore(desk, found, visit, visitor, form)
  const filled = before && filledTexts(form, before, subjects[0])
  const seen = sent.get('seen')
  if (filled !== undefined && seen !== undefined && seen !== seenOf(context, filled)) return again(409, { '': CHANGED })
  // A task that replaces an object needs all members. A task that changes it gets those that differ from the object, so this must be known.
  const isChange = taskOf(form.task).method === 'PATCH'
  if (isChange && filled === undefined) return again(409, { '': 'What this changes cannot be read now.' })
  const named = await resolveFields(seekerOf(desk, found, visitor), fields, withoutTouch(values, filled ?? {}))
  if (Object.keys(named.errors).length > 0) return again(422, named.errors)
  const input = { ...readFields(fields, named.values, isChange ? filled : undefined), ...filters }
  const name = before && subjects.length <= 1 ? namesIn(found.screen, before)[subjects[0] ?? ''] : undefined
  const unoffered = before && form.choices && findUnknown(form.choices(before), values)
  if (unoffered !== undefined) return again(422, { [unoffered.field]: `${unoffered.value} is not among the choices.` })
  const performed = await performEach(desk, found, visitor, form, subjects, input, before ?? {})
  const answer = performed[0]?.answer
  if (form.shows !== undefined && answer !== undefined)
    return showAnswer(desk, found, visit, visitor, form.shows, answer)
  if (form.result !== undefined && answer !== undefined) {
    const result = form.result(answer, frameOf(desk, found, visit, visitor))
    return render(desk, found, visit, visitor, { status: 200, outcome: undefined, asking: undefined, result })
  }
  const undo = before === undefined || answer === undefined ? undefined : form.undoes?.(before, answer)
  return finish(
    desk,
    found,
    visitor,
    { form, performed, name, before: filled && restoredTexts(form, filled), undo },
    again,
  )
}

const CHANGED =
  'This was changed after the form was shown. The form has what you typed: compare, and save it again to replace the change.'

const SENT_BEFORE =
  'This form was sent before, and did nothing now. Look whether what it creates is there. To create another one, send it again.'

/** What became of each row. */
interface Performed {
  readonly subject: string
  /** Without one the object was in the state already. */
  readonly answer?: Members
  readonly error?: AdminError
}

/** The page with the answer, and with what it names. */
async function showAnswer(
  desk: Desk,
  found: Found,
  visit: Visit,
  visitor: Visitor,
  { reads, view }: NonNullable<ScreenForm['shows']>,
  answer: Members,
): Promise<ConsoleAnswer> {
  const { context } = desk
  const { administrator } = visitor.holder
  const refused: Record<string, string> = {}
  const more = await Promise.all(
    Object.entries(reads?.(answer) ?? {}).map(async ([name, { task: named, input }]) => {
      const task = taskOf(named)
      authorizeTask(context, administrator, task, found.parameters)
      try {
        return [name, await runTask(asAdministrator(context, administrator), task, input, () => undefined)] as const
      } catch (cause) {
        if (!(cause instanceof AdminError)) throw cause
        refused[name] = cause.message
        return [name, undefined] as const
      }
    }),
  )
  const shown = view(answer, Object.fromEntries(more), frameOf(desk, found, visit, visitor), refused)
  return page(desk.framed(shown, visitor, found.screen.section))
}

/** The objects of the task, by their ids: the chosen rows, or that of the path, which is the last one that the task names. */
function objectsOf(
  { task, subject }: ScreenForm,
  { parameters }: Pick<Found, 'parameters'>,
  subjects: readonly string[],
): readonly string[] {
  return subject === undefined ? [parameters[pathParameters(taskOf(task)).at(-1) ?? ''] ?? ''] : subjects
}

function nounOf(task: string): string {
  return task.slice(0, task.indexOf('.'))
}

/** Each row is done with the right that the person has then. The first is of the request itself. */
async function performEach(
  { context, origin }: Desk,
  { parameters }: Found,
  { holder }: Visitor,
  form: ScreenForm,
  subjects: readonly string[],
  given: Members,
  before: Members,
): Promise<readonly Performed[]> {
  const task = taskOf(form.task)
  const administration = asAdministrator(context, holder.administrator)
  const own = Object.fromEntries(Object.entries(parameters).filter(([name]) => name in task.input.shape))
  const performed: Performed[] = []
  const end = after(context.clock(), ROWS_MS)
  const rows = form.rows?.(before)
  for (const subject of form.subject === undefined ? [''] : subjects) {
    const chosen = form.subject === undefined ? {} : { [form.subject]: subject }
    const [object = ''] = objectsOf(form, { parameters }, [subject])
    if (performed.length > 0 && !(await mayGoOn())) {
      performed.push({ subject, error: conflict('Not tried.') })
      continue
    }
    try {
      const pattern = form.subject === undefined ? given['pattern'] : subject
      const locked =
        lockOutBy(form.task, object, holder.user.id) ??
        lockOutByDomain(form.task, String(pattern), new URL(origin).hostname)
      if (locked !== undefined) throw conflict(locked)
      const row = rows === undefined ? undefined : Object.hasOwn(rows, subject) ? rows[subject] : undefined
      if (rows !== undefined && row === undefined) throw unknown('The row is no longer there.')
      if (form.already !== undefined) {
        const read = () =>
          runTask(administration, taskOf(`${nounOf(form.task)}.show`), { ...own, ...chosen }, () => undefined)
        if (form.already.holds(row ?? (await read()))) {
          performed.push({ subject })
          continue
        }
      }
      const kept = row === undefined ? {} : (form.keeps?.(row) ?? {})
      const answer = await runTask(administration, task, { ...given, ...kept, ...own, ...chosen }, () => undefined)
      performed.push({ subject, answer })
    } catch (cause) {
      if (!(cause instanceof AdminError)) throw cause
      performed.push({ subject, error: cause })
    }
  }
  return performed

  async function mayGoOn(): Promise<boolean> {
    if (context.clock() >= end) return false
    const now = await authenticateRole(context, holder.grantId)
    return now.kind === 'administrator' && isDeepStrictEqual(now.administrator, holder.administrator)
  }
}

function finish(
  desk: Desk,
  found: Found,
  visitor: Visitor,
  {
    form,
    performed,
    name,
    before,
    undo,
  }: {
    readonly form: ScreenForm
    readonly performed: readonly Performed[]
    readonly name: string | undefined
    readonly before: Texts | undefined
    readonly undo: Undo | undefined
  },
  again: (status: number, errors: Texts) => Promise<ConsoleAnswer>,
): Promise<ConsoleAnswer> | ConsoleAnswer {
  const [only] = performed
  if (performed.length === 1 && only?.error !== undefined)
    return again(statusOf(only.error), errorsOf(only.error, form, formFields(form)))
  if (form.secret !== undefined && only?.answer !== undefined) {
    const secret = only.answer[form.secret]
    if (typeof secret === 'string') {
      const { expires_at: until } = only.answer
      const beside = (form.beside ?? []).flatMap((member): readonly (readonly [string, string])[] => {
        const text = only.answer?.[member]
        return typeof text === 'string' ? [[labelOf(member), text]] : []
      })
      const use = {
        name,
        until: typeof until === 'string' ? until : undefined,
        note: form.secretUse?.(only.answer),
        beside,
        noun: labelOf(form.secret).toLowerCase(),
      }
      const back = form.leadsTo?.(only.answer) ?? pathOf(found)
      return page(desk.framed(secretPage(form, secret, use, back), visitor, found.screen.section))
    }
  }
  const matches = only?.answer === undefined ? undefined : form.matches?.(only.answer)
  const ids = (rows: readonly Performed[]) => rows.map(({ subject }) => subject)
  const changed = performed.filter(({ answer }) => answer !== undefined)
  const outcome: Outcome = {
    task: form.task,
    text: form.done,
    count: matches?.names.length,
    name: name ?? (undo?.subjects.length === 1 ? undo.subjects[0] : undefined),
    note: noteOf(only?.answer),
    offers: form.offers,
    undo,
    before,
    done: ids(changed).filter((subject) => subject !== ''),
    unchanged: ids(performed.filter(({ answer, error }) => answer === undefined && error === undefined)),
    refused: performed
      .flatMap(({ subject, error }) => (error === undefined ? [] : [[subject, error.message] as const]))
      .map(([subject, reason], index) => [
        subject,
        reason.slice(0, index < REASONS ? REASON_LIMIT : SHORT_REASON_LIMIT),
      ]),
  }
  const isLeft = typeof matches?.next === 'string'
  const leads = form.subject === undefined && only?.answer !== undefined ? form.leadsTo?.(only.answer) : undefined
  const to = leads ?? (isLeft ? askAddress(found, form, []) : withoutAsking(found.here))
  return redirect(withParameter(to, 'done', sealOutcome(desk, visitor, outcome)))
}

/** Rows that were added meanwhile move others on to the next page. */
const ROWS_READ = 2 * PAGE_LIMIT.usual

/** What the screen shows before the change: a deleted object has no name. */
async function readBefore(
  desk: Desk,
  found: Found,
  visit: Visit,
  visitor: Visitor,
  { rows }: ScreenForm,
): Promise<Members | undefined> {
  const limit = rows === undefined ? undefined : ROWS_READ
  const read = await readAll(desk, found, frameOf(desk, found, visit, visitor), visitor, limit)
  return read.kind === 'read' ? read.answers : undefined
}

/** What the task warns of. */
function noteOf(answer: Members | undefined): string | undefined {
  const { notice } = answer ?? {}
  return typeof notice === 'string' ? notice.slice(0, NOTE_LIMIT) : undefined
}

function pathOf({ here }: Found): string {
  return here.split('?', 1)[0] ?? here
}

/** The page of the list or the object, with its filters. */
function withoutAsking(here: string): string {
  const [path = '', query = ''] = here.split('?', 2)
  const kept = new URLSearchParams(query)
  kept.delete('ask')
  kept.delete('subject')
  return kept.size === 0 ? path : `${path}?${kept.toString()}`
}

function askAddress({ here }: Found, { task }: ScreenForm, subjects: readonly string[]): string {
  const [path = '', query = ''] = withoutAsking(here).split('?', 2)
  const asked = new URLSearchParams(query)
  asked.set('ask', task)
  for (const subject of subjects) asked.append('subject', subject)
  return `${path}?${asked.toString()}`
}

/** Whether the form is sent the first time: a second click, or a reload of the page with the secret, creates no other one (threats.md CON-10). */
async function isFirst({ context }: Desk, { session }: Visitor, once: string): Promise<boolean> {
  const { secrets, store, clock } = context
  if (!/^[\w-]{22}$/.test(once)) return false
  const digest = secrets.digest('console', ['once', session.grantId, once])
  return (await store.consumeOnce([{ digest, expiresAt: after(clock(), ONCE_MS) }])) === 'fresh'
}

function refusedWith({ task, done: text }: ScreenForm, errors: Texts): Outcome {
  return { task, text, done: [], unchanged: [], refused: Object.values(errors).map((reason) => ['', reason] as const) }
}

function statusOf({ kind }: AdminError): number {
  return { refused: 422, unknown: 404, conflict: 409 }[kind]
}
