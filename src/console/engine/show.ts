import { requireTask } from '../../admin/tasks.ts'
import { AdminError } from '../../admin/admin-error.ts'
import { authorizeTask } from '../../admin/authorize-task.ts'
import { PAGE_LIMIT } from '../../admin/page.ts'
import { invalidRequest, type Reason } from '../../protocol/errors.ts'
import { html, type Markup } from '../../web/markup.ts'
import { askPage, type Asking } from './ask.ts'
import { page, type ConsoleAnswer } from './context.ts'
import { crumbOf } from './crumb.ts'
import { choicesOf, filledTexts, seenOf } from './filling.ts'
import { FilterUnresolved } from './filter-names.ts'
import {
  chosenRows,
  fieldsIn,
  fixedFields,
  labelFor,
  needsRecentSignIn,
  worksOnce,
  type Frame,
  type Members,
  type Texts,
  type View,
} from './form.ts'
import { inputFields, textsOf } from './input-fields.ts'
import { outcomeNotice, type Outcome } from './notice.ts'
import { frameOf, isRecent, screenAbove, subjectsIn, withinReach, type OpenScreen } from './open-screen.ts'
import { readOutcome } from './outcome.ts'
import { absentView, choicesView, outOfReachView, refusedView } from './unread.ts'
import { findMatches, namesIn, readAll } from './read.ts'

/** What a page of a screen shows besides it. */
export interface Shown {
  readonly status: number
  /** What was done on the page before, or could not be done. */
  readonly outcome?: Outcome | undefined
  /** The form that the page asks about. */
  readonly asking?: Asked
  /** What the answer of a task that changed nothing says. */
  readonly result?: Markup
}

/** A form with the rows that were chosen, and with what the person typed. */
type Asked = Pick<Asking, 'form' | 'subjects' | 'values' | 'errors'>

/** The parameter of an address that saves the rows instead of showing them, one JSON object a line. */
const [SAVE, NDJSON] = ['format', 'ndjson']

/** Shows a screen, or the page that asks before a change. */
export async function show(open: OpenScreen): Promise<ConsoleAnswer> {
  const { context, here, parameters, request, screen, signedIn } = open
  const { query } = request
  if (isSaved(open) && screen.lines === undefined) throw invalidRequest('path_unknown', { status: 404 })
  const ask = query.get('ask')
  const outcome = readOutcome(open, query.get('done'))
  if (ask === undefined) return render(open, { status: 200, outcome })
  const frame = frameOf(open)
  const form = frame.forms.find(({ task }) => task === ask)
  // The refusal says that the person may only read, and is recorded.
  if (form === undefined && !frame.mayWrite && screen.forms.some(({ task }) => task === ask))
    authorizeTask(context.server, signedIn.administrator, requireTask(ask), parameters)
  if (form === undefined) throw invalidRequest('path_unknown', { status: 404 })
  if (needsRecentSignIn(form) && !isRecent(open)) return context.leave(request, here, true, signedIn.user.email)
  const asking = { form, subjects: subjectsIn(query), values: {}, errors: {} }
  return render(open, { status: 200, outcome, asking })
}

/** Reads the tasks of the screen, and renders what they answer. */
export async function render(open: OpenScreen, { status, outcome, asking, result }: Shown): Promise<ConsoleAnswer> {
  const { context, request, screen } = open
  const above = frameOf(open)
  refuseIdle(open, above)
  const answers = await readAll(open, isSaved(open) ? PAGE_LIMIT.most : undefined)
  if (answers instanceof AdminError) return refused(open, above, answers)
  const frame = withinReach(above, screen, answers)
  if (isSaved(open) && screen.lines !== undefined) return saved(screen.lines(answers), request.query.get('since'))
  if (asking === undefined && screen.preview !== undefined)
    return context.preview(screen.preview(answers, frame), screenAbove(request.path))
  const names = namesIn(screen, answers)
  if (asking !== undefined && !isAskedWithin(frame, asking))
    return answered(open, outOfReachView(frame, labelFor(asking.form, answers)), 409)
  const view =
    asking === undefined
      ? screen.view(answers, frame)
      : askPage(await questionOf(open, asking, { answers, names, frame }), frame)
  const seen = outcome && seenAfter(open, outcome, answers)
  const notice = outcome && outcomeNotice(frame, outcome, screen.forms, { names, seen })
  return answered(open, { ...view, main: html`${notice}${result}${view.main}` }, status)
}

/** A screen that reads nothing is there for its forms: the refusal of one says that it is not a part of the role, and is recorded. */
function refuseIdle({ context, parameters, screen, signedIn }: OpenScreen, { forms }: Frame): void {
  const [form] = screen.forms
  if (Object.keys(screen.reads).length > 0 || forms.length > 0 || form === undefined) return
  authorizeTask(context.server, signedIn.administrator, requireTask(form.task), parameters)
}

/** Whether a form is about something in reach. */
function isAskedWithin({ forms, reaches }: Frame, { form, subjects }: Asked): boolean {
  const isOfRows = chosenRows(form) !== undefined && subjects.length > 0
  return forms.includes(form) && (!isOfRows || subjects.some((one) => reaches(form, one)))
}

/** Names what the undo of a form replaces, if the form shows an object. */
function seenAfter({ context, screen }: OpenScreen, { task, done }: Outcome, answers: Members): string | undefined {
  const form = screen.forms.find((one) => one.task === task)
  const filled = form && filledTexts(form, answers, done[0])
  return filled && seenOf(context.server, filled)
}

/** What the page that asks shows. */
async function questionOf(
  open: OpenScreen,
  asked: Asked,
  { answers, names, frame }: { readonly answers: Members; readonly names: Texts; readonly frame: Frame },
): Promise<Asking> {
  const { form, values } = asked
  const { server } = open.context
  const task = requireTask(form.task)
  const fields = inputFields(task, fieldsIn(form))
  const fixed = fixedFields(form)
  const kept = Object.fromEntries(fixed.map((name) => [name, values[name] ?? frame.place.query[name] ?? '']))
  const own = form.kind === 'create' || form.kind === 'edit' ? form : undefined
  const preset = textsOf(fields, own?.preset?.(kept, frame) ?? {})
  const filled = filledTexts(form, answers, asked.subjects[0])
  const initial = filled ?? { ...preset, ...kept }
  const step = form.kind === 'create' ? form.step : undefined
  const shown = Object.keys(values).length === 0 ? initial : values
  return {
    ...asked,
    subjects: asked.subjects.filter((one) => frame.reaches(form, one)),
    leftOut: asked.subjects.filter((one) => !frame.reaches(form, one)),
    values: shown,
    initial,
    preset,
    names,
    first: own?.first,
    fields: fields.filter(({ name }) => !fixed.includes(name)),
    summary: task.summary,
    ...choicesOf(form, answers, fields),
    choosing: step?.choose(answers, shown),
    chosen: step?.chosen(answers, shown),
    caution: form.caution?.(answers, frame),
    label: labelFor(form, answers),
    about: open.screen.about?.(answers),
    matches: await findMatches(open, form),
    once: worksOnce(form) ? server.random(16).toString('base64url') : undefined,
    seen: filled && seenOf(server, filled),
  }
}

function isSaved({ request }: OpenScreen): boolean {
  return request.query.get(SAVE) === NDJSON
}

/** A list that was cut says so in its last line, with where it goes on. */
function saved(
  { rows, next }: { readonly rows: readonly object[]; readonly next: string | null },
  since: string | undefined,
): ConsoleAnswer {
  const lines = next === null ? rows : [...rows, { more_follow_before: next }]
  return {
    status: 200,
    contentType: 'application/x-ndjson',
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    headers: {
      'Content-Disposition': `attachment; filename="audit-${since?.replaceAll(/[^0-9TZ-]/g, '') ?? 'newest'}.ndjson"`,
    },
  }
}

/** Why a page has this status. */
const REASONS: Readonly<Record<number, Reason>> = {
  404: 'object_unknown',
  409: 'state_differs',
  422: 'input_malformed',
}

function answered(open: OpenScreen, view: View, status: number): ConsoleAnswer {
  const { context, screen, signedIn } = open
  const main = html`${crumbOf(open)}${view.main}`
  return { ...page(context.framed({ ...view, main }, signedIn, screen.section), status), reason: REASONS[status] }
}

/** The page of a screen that cannot be read. */
function refused(open: OpenScreen, frame: Frame, error: AdminError): ConsoleAnswer {
  const { kind, message } = error
  if (error instanceof FilterUnresolved && !isSaved(open)) return answered(open, choicesView(frame, error), 200)
  if (kind === 'unknown') return answered(open, absentView(frame, message), 404)
  return answered(open, frame.filters.length === 0 ? absentView(frame, message) : refusedView(frame, message), 422)
}
