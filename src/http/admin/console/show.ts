import { AdminError } from '../../../admin/admin-error.ts'
import { asAdministrator } from '../../../admin/administrators.ts'
import type { Seeker } from '../../../admin/find-by-name.ts'
import { inputFields, textsOf } from '../../../admin/input-fields.ts'
import { PAGE_LIMIT } from '../../../admin/page.ts'
import { runTask } from '../../../admin/run-task.ts'
import { pathParameters, type Administrator } from '../../../admin/task.ts'
import { askPage, type Asking } from '../../../console/ask.ts'
import { listAddress, withScreens } from '../../../console/links.ts'
import { filterBar } from '../../../console/parts.ts'
import { outcomeNotice, type Outcome } from '../../../console/notice.ts'
import { SCREENS } from '../../../console/screens.ts'
import type { AnyScreen, Frame, Matches, Members, Place, ScreenForm, Texts, View } from '../../../console/screen.ts'
import { worksOnce } from '../../../console/screen.ts'
import { html, type Markup } from '../../../web/markup.ts'
import { NO_PARAMETERS, type Parameters } from '../../../base/message.ts'
import { chosenClientId } from '../../../protocol/client/identifier.ts'
import { invalidRequest, OAuthError, type Reason } from '../../../protocol/errors.ts'
import { authorizeTask } from '../authorize.ts'
import { matchSegments } from '../routes.ts'
import { filledTexts, seenOf, taskOf } from './filling.ts'
import { filtersOf, readFilters } from './filters.ts'
import { readOutcome } from './outcome.ts'
import { resolveFilters } from './filter-names.ts'
import { page, securityUri, type ConsoleAnswer, type Desk, type Visit, type Visitor } from './visit.ts'

/** How long ago a person may have signed in for a form that is `isRecent`. */
const RECENT_MS = 5 * 60 * 1000

/** A screen, and where on it the person is. */
export interface Found {
  readonly screen: AnyScreen
  readonly parameters: Texts
  /** The path and the query of the page, without what was said before. */
  readonly here: string
}

export function findScreen({ path, query }: Pick<Visit, 'path' | 'query'>): Found | undefined {
  const segments = path.split('/')
  for (const screen of SCREENS) {
    const parameters = matchSegments(screen.path.split('/'), segments)
    if (parameters === undefined) continue
    const kept = ['before', 'ask', ...screen.filters, ...(screen.keeps ?? [])].flatMap((name): [string, string][] => {
      const value = query.get(name)
      return value === undefined ? [] : [[name, value]]
    })
    const chosen = query.all('subject').map((subject): [string, string] => ['subject', subject])
    const text = new URLSearchParams([...kept, ...(query.get('ask') === undefined ? [] : chosen)]).toString()
    return { screen, parameters, here: text === '' ? path : `${path}?${text}` }
  }
  return undefined
}

export function isScreen(path: string): boolean {
  return findScreen({ path, query: NO_PARAMETERS }) !== undefined
}

/** The nearest screen above that of an object. */
function screenAbove(path: string): string {
  const above = path.slice(0, path.lastIndexOf('/'))
  return above === '' || isScreen(above) ? above : screenAbove(above)
}

/**
 * Whether a screen is there for a person. A role for one organization has the screens that read nothing but tasks for it; others, and those
 * of another organization, are as if absent (threats.md CON-08).
 */
export function isWithin({ screen, parameters }: Found, { organizationId }: Administrator): boolean {
  if (organizationId === undefined) return true
  if (parameters['organization_id'] !== organizationId) return false
  return Object.values(screen.reads).every(({ task }) => taskOf(task).extent === 'organization')
}

/** Whether the person signed in a moment ago, so that no other person at the open browser does what cannot be undone. */
export function isRecent({ context }: Pick<Desk, 'context'>, { holder }: Visitor): boolean {
  return context.clock() - (holder.authenticatedAt ?? 0) <= RECENT_MS
}

/** Shows a screen, or the page that asks before a change. */
export async function show(desk: Desk, found: Found, visit: Visit, visitor: Visitor): Promise<ConsoleAnswer> {
  const { query } = visit
  if (query.get(SAVE) === NDJSON && found.screen.lines === undefined)
    throw invalidRequest('path_unknown', { status: 404 })
  const ask = query.get('ask')
  const outcome = readOutcome(desk, visitor, query.get('done'))
  if (ask === undefined) return render(desk, found, visit, visitor, { status: 200, outcome, asking: undefined })
  const frame = frameOf(desk, found, visit, visitor)
  const form = frame.forms.find(({ task }) => task === ask)
  // The refusal says that the person may only read, and is recorded.
  if (form === undefined && !frame.mayWrite && found.screen.forms.some(({ task }) => task === ask))
    authorizeTask(desk.context, visitor.holder.administrator, taskOf(ask), found.parameters)
  if (form === undefined) throw invalidRequest('path_unknown', { status: 404 })
  if (form.isRecent === true && !isRecent(desk, visitor))
    return desk.leave(visit, found.here, true, visitor.holder.user.email)
  const asking = { form, subjects: subjectsIn(query), values: {}, errors: {} }
  return render(desk, found, visit, visitor, { status: 200, outcome, asking })
}

/** The rows that an address or a form names, each once. */
export function subjectsIn(parameters: Parameters): readonly string[] {
  return [...new Set(parameters.all('subject'))]
}

/** What a page of a screen shows besides it. */
export interface Shown {
  readonly status: number
  /** What was done on the page before, or could not be done. */
  readonly outcome: Outcome | undefined
  readonly asking: Pick<Asking, 'form' | 'subjects' | 'values' | 'errors'> | undefined
  /** What the answer of a task that changed nothing says. */
  readonly result?: Markup
}

/** Reads the tasks of the screen, each authorized, and renders what they answer. */
export async function render(
  desk: Desk,
  found: Found,
  visit: Visit,
  visitor: Visitor,
  { status, outcome, asking, result }: Shown,
): Promise<ConsoleAnswer> {
  const { screen } = found
  const frame = frameOf(desk, found, visit, visitor)
  const read = await readAll(desk, found, frame, visitor)
  const answer = (view: View, code: number) => ({
    ...page(desk.framed(view, visitor, screen.section), code),
    reason: REASONS[code],
  })
  if (read.kind === 'refused') {
    if (read.error.kind === 'unknown') return answer(absentView(frame, found, read.error.message), 404)
    if (frame.filters.length === 0) return answer(absentView(frame, found, read.error.message), 422)
    return answer(refusedView(frame, read.error.message), 422)
  }
  if (visit.query.get(SAVE) === NDJSON && screen.lines !== undefined)
    return saved(screen.lines(read.answers), visit.query.get('since'))
  const names = namesIn(screen, read.answers)
  const answerWithOutcome = (view: View) => {
    if (outcome === undefined) return answer(view, status)
    const notice = outcomeNotice(frame, outcome, screen.forms, names)
    return answer({ ...view, main: html`${notice}${view.main}` }, status)
  }
  if (asking !== undefined) {
    const task = taskOf(asking.form.task)
    const once = worksOnce(asking.form) ? desk.context.random(16).toString('base64url') : undefined
    // Without a mail server the task only refuses to send.
    const { form } = asking
    const fields = inputFields(
      task,
      (form.fields ?? []).filter((name) => name !== 'send' || desk.context.mail !== undefined),
    )
    const choices = form.choices?.(read.answers) ?? {}
    const filled = filledTexts(form, read.answers, asking.subjects[0])
    const kept = Object.fromEntries(
      (form.fixed ?? []).map((name) => [name, asking.values[name] ?? frame.place.query[name] ?? '']),
    )
    const preset = textsOf(fields, form.preset?.(kept, frame) ?? {})
    const first = filled ?? { ...preset, ...kept }
    const values = Object.keys(asking.values).length === 0 ? first : asking.values
    const matches = await findMatches(desk, found, visit, visitor, form)
    const shown = fields.filter(({ name }) => form.fixed?.includes(name) !== true)
    const intro = form.intro?.(read.answers, values)
    const caution = form.caution?.(read.answers, frame)
    const about = form.about?.(read.answers)
    const seen = filled && seenOf(desk.context, filled)
    const asked = {
      ...asking,
      choosing: form.choosing?.(read.answers, values),
      values,
      initial: first,
      preset,
      choices,
      suggestions: form.suggestions?.(read.answers) ?? {},
      summary: task.summary,
      caution,
      about,
      fields: shown,
      names,
      matches,
      once,
      seen,
      intro,
    }
    return answerWithOutcome(askPage(asked, frame))
  }
  if (screen.preview !== undefined) return desk.preview(screen.preview(read.answers, frame), screenAbove(visit.path))
  const view = screen.view(read.answers, frame)
  return answerWithOutcome(result === undefined ? view : { ...view, main: html`${result}${view.main}` })
}

/** The filters of a list that the address has, and where its page begins, as the task of a form takes them. */
export function filtersIn({ screen }: Found, query: Parameters): Members {
  const [first] = Object.values(screen.reads)
  const texts = Object.fromEntries(['before', ...screen.filters].map((name) => [name, query.get(name)]))
  return first === undefined ? {} : readFilters(taskOf(first.task), screen.filters, texts)
}

/** What a form with filters is about: a dry run of its task. undefined: another form, or a filter is refused, which the page itself says. */
export async function findMatches(
  desk: Desk,
  found: Found,
  { query }: Visit,
  visitor: Visitor,
  { task, matches }: ScreenForm,
): Promise<Matches | undefined> {
  if (matches === undefined) return undefined
  const answer = await seekerOf(desk, found, visitor).perform(task, { ...filtersIn(found, query), dry_run: true })
  return answer instanceof AdminError ? undefined : matches(answer)
}

/** Without inherited members: what the address names may be `constructor` (threats.md CON-33). */
export function namesIn(screen: AnyScreen, answers: Members): Texts {
  return Object.assign(Object.create(null), screen.names(answers)) as Texts
}

/** The parameter of an address that saves the rows instead of showing them, one JSON object a line. */
const [SAVE, NDJSON] = ['format', 'ndjson']

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

/** What there was may have been deleted: the audit has its events. A role for one organization has no audit. */
function absentView(frame: Frame, { parameters }: Found, text: string): View {
  const title = 'There is nothing here'
  const object = Object.entries(parameters).find(([name]) => name === 'user_id' || name === 'client_id')
  const [filter = '', given = ''] = object ?? []
  // By the id of its record a client is found however long ago it was deleted, and no other one has that as its name.
  const id = filter === 'client_id' ? (chosenClientId(given) ?? given) : given
  return {
    title,
    main: html`<div class="heading"><h1>${title}</h1></div>
      <p>${withScreens(frame, text)}</p>
      ${object !== undefined && frame.organization === undefined ? html`<p>If it was deleted, <a href="${listAddress('audit', filter, id)}">its events</a> are in the audit.</p>` : undefined}
      <p><a href="${screenAbove(frame.place.path)}">Back</a></p>`,
  }
}

/** A filter that is not acceptable: the filters stay, to be corrected. */
function refusedView(frame: Frame, text: string): View {
  const title = 'This filter is wrong'
  return {
    title,
    main: html`<div class="heading"><h1>${title}</h1></div>
      ${filterBar(frame)}
      <p class="error" role="alert">${text}</p>`,
  }
}

/** The forms that the person may use: with a role that only reads, those whose task reads. */
export function frameOf(desk: Desk, { screen, parameters }: Found, visit: Visit, { session, holder }: Visitor): Frame {
  const { context } = desk
  const { path, query } = visit
  const { lacksFactor } = holder
  const mayWrite = holder.administrator.access === 'write'
  const texts = Object.fromEntries(
    query.names.flatMap((name) => ((text) => (text === undefined ? [] : [[name, text]]))(query.get(name))),
  )
  const place: Place = { path, parameters, query: texts, now: context.clock() }
  return {
    place,
    issuer: context.issuer,
    organization: holder.organization,
    mayWrite,
    self: holder.user.id,
    isLoopbackOnly: holder.administrator.isLoopbackOnly,
    factorUri: mayWrite && lacksFactor ? securityUri(context.issuer) : undefined,
    csrf: context.secrets.digest('csrf', csrfParts(session.grantId, path)),
    forms: formsWithin(screen, holder.administrator),
    filters: filtersOf(screen, texts),
  }
}

/** A role that only reads has only the forms of tasks that do, and a role for one organization those of tasks for it. */
function formsWithin({ forms }: AnyScreen, { access, organizationId }: Administrator): readonly ScreenForm[] {
  return forms.filter(({ task: name }) => {
    const task = taskOf(name)
    const isWithinExtent = organizationId === undefined || task.extent === 'organization'
    return isWithinExtent && (access === 'write' || task.access === 'read')
  })
}

/** A form is for one page and one session (threats.md CON-06). */
export function csrfParts(grantId: string, path: string): readonly string[] {
  return ['console', grantId, path]
}

type AllRead =
  | { readonly kind: 'read'; readonly answers: Members }
  | { readonly kind: 'refused'; readonly error: AdminError }

export async function readAll(
  desk: Desk,
  { screen, parameters }: Found,
  { place }: Frame,
  { holder }: Visitor,
  limit?: number,
): Promise<AllRead> {
  const seeker = seekerOf(desk, { parameters }, { holder })
  const query = await resolveFilters(seeker, screen.filters, place.query)
  if (query instanceof AdminError) return { kind: 'refused', error: query }
  const read = await Promise.all(
    Object.entries(screen.reads).map(async ([name, { task: named, input }], index) => {
      const task = taskOf(named)
      const own = Object.fromEntries(
        pathParameters(task).flatMap((one) => (parameters[one] === undefined ? [] : [[one, parameters[one]]])),
      )
      const most = place.query[SAVE] === NDJSON ? { limit: PAGE_LIMIT.most } : limit === undefined ? {} : { limit }
      const chosen = index === 0 ? { ...readFilters(task, screen.filters, query), ...most } : {}
      return [name, await seeker.perform(named, { ...chosen, ...input(place), ...own })] as const
    }),
  )
  const error = read.map(([, answer]) => answer).find((answer) => answer instanceof AdminError)
  return error === undefined ? { kind: 'read', answers: Object.fromEntries(read) } : { kind: 'refused', error }
}

/** Performs tasks that read as the person may: what is of the server is as if absent for other roles (threats.md CON-08). */
export function seekerOf(
  { context }: Pick<Desk, 'context'>,
  { parameters }: Pick<Found, 'parameters'>,
  { holder: { administrator } }: Pick<Visitor, 'holder'>,
): Seeker {
  const administration = asAdministrator(context, administrator)
  return {
    within: administrator.organizationId,
    async perform(name, input) {
      const task = taskOf(name)
      authorizeTask(context, administrator, task, parameters)
      try {
        return await runTask(administration, task, input, () => undefined)
      } catch (cause) {
        if (cause instanceof AdminError) return cause
        throw cause
      }
    },
  }
}

/** The form of a screen for a task. @throws OAuthError when the screen has none, or the person may not use it */
export function formFor({ screen }: Found, task: string | undefined): ScreenForm {
  const form = screen.forms.find((one) => one.task === task)
  if (form === undefined) throw new OAuthError('invalid_request', 'console_form_wrong', { status: 403 })
  return form
}
