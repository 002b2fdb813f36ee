import { requireTask } from '../../admin/tasks.ts'
import { AdminError } from '../../admin/admin-error.ts'
import { asAdministrator, outOfReach } from '../../admin/administrators.ts'
import { authorizeTask } from '../../admin/authorize-task.ts'
import type { Seeker } from '../../admin/find-by-name.ts'
import { runTask } from '../../admin/run-task.ts'
import { matchPath, mayPerform, type Administrator } from '../../admin/task.ts'
import { NO_PARAMETERS, type Parameters } from '../../base/message.ts'
import type { Context } from '../../ports/context.ts'
import { isReached } from '../../ports/operations/reach.ts'
import { BACK } from '../links.ts'
import type { AnyScreen, Read } from '../screen.ts'
import { SCREENS } from '../screens.ts'
import { sectionsOf, type SectionRow } from '../sections.ts'
import type { ConsoleContext, ConsoleRequest, SignedIn } from './context.ts'
import type { Frame, Members, Place, Form, Texts } from './form.ts'
import { filtersOf } from './filters.ts'

/** How long ago a person may have signed in for a form that needs a recent sign-in. */
const RECENT_MS = 5 * 60 * 1000

/** The screen of an address. */
export interface FoundScreen {
  readonly screen: AnyScreen
  readonly parameters: Texts
  /** The path and the query of the page, without what was said before. */
  readonly here: string
}

/** A screen that a person opens, by a request that was authenticated. */
export interface OpenScreen extends FoundScreen {
  readonly context: ConsoleContext
  readonly request: ConsoleRequest
  readonly signedIn: SignedIn
}

export function findScreen({ path, query }: Pick<ConsoleRequest, 'path' | 'query'>): FoundScreen | undefined {
  for (const screen of SCREENS) {
    const parameters = matchPath(screen.path, path)
    if (parameters === undefined) continue
    const kept = ['before', 'ask', BACK, ...screen.filters, ...(screen.keeps ?? [])].flatMap(
      (name): [string, string][] => {
        const value = query.get(name)
        return value === undefined ? [] : [[name, value]]
      },
    )
    const chosen = query.all('row').map((row): [string, string] => ['row', row])
    const text = new URLSearchParams([...kept, ...(query.get('ask') === undefined ? [] : chosen)]).toString()
    return { screen, parameters, here: text === '' ? path : `${path}?${text}` }
  }
  return undefined
}

export function isScreen(path: string): boolean {
  return findScreen({ path, query: NO_PARAMETERS }) !== undefined
}

/** The nearest screen above that of an object. */
export function screenAbove(path: string): string {
  const above = path.slice(0, path.lastIndexOf('/'))
  return above === '' || isScreen(above) ? above : screenAbove(above)
}

/**
 * Whether a screen is there for a person. A role for one organization has the screens that read nothing but tasks for it; others, and those
 * of another organization, are as if absent (threats.md CON-08).
 */
export function isWithin({ screen, parameters }: FoundScreen, { organizationId }: Administrator): boolean {
  if (organizationId === undefined) return true
  if (parameters['organization_id'] !== organizationId) return false
  return Object.values(screen.reads).every(({ task }) => requireTask(task).extent === 'organization')
}

/** The entries of the side whose screens the person may read. */
export function openSections(administrator: Administrator): readonly SectionRow[] {
  return sectionsOf(administrator.organizationId).filter(({ path }) => mayOpen(path, administrator))
}

/** Whether the person may read the screen of a path. */
export function mayOpen(path: string, administrator: Administrator): boolean {
  const found = findScreen({ path, query: NO_PARAMETERS })
  if (found === undefined || !isWithin(found, administrator)) return false
  const { reads, forms } = found.screen
  const [read] = Object.values(reads)
  // A screen that reads nothing is there for its forms.
  return read === undefined
    ? forms.some(({ task }) => mayPerform(administrator, requireTask(task)))
    : Object.values(reads).every((one) => mayRead(administrator, one))
}

/** Whether the person may perform the task that a screen reads, or the screen is whole without it. */
function mayRead(administrator: Pick<Administrator, 'access'>, { task, isOptional }: Read<unknown>): boolean {
  return isOptional === true || mayPerform(administrator, requireTask(task))
}

/** Whether the person signed in a moment ago, so that no other person at the open browser does what cannot be undone. */
export function isRecent({ context, signedIn }: Pick<OpenScreen, 'context' | 'signedIn'>): boolean {
  return context.server.clock() - (signedIn.authenticatedAt ?? 0) <= RECENT_MS
}

/** A form is for one page and one session (threats.md CON-06). */
export function csrfParts({ signedIn, request }: Pick<OpenScreen, 'signedIn' | 'request'>): readonly string[] {
  return ['console', signedIn.grantId, request.path]
}

/** The rows that an address or a form names, each once. */
export function subjectsIn(parameters: Parameters): readonly string[] {
  return [...new Set(parameters.all('row'))]
}

/** Where the person is. */
export function placeOf({ context, request, parameters }: OpenScreen): Place {
  const { path, query } = request
  const texts = query.names.flatMap((name): [string, string][] => {
    const text = query.get(name)
    return text === undefined ? [] : [[name, text]]
  })
  return { path, parameters, query: Object.fromEntries(texts), now: context.server.clock() }
}

/** The place of the person, and the forms that the person may use. */
export function frameOf(open: OpenScreen): Frame {
  const { context, screen, signedIn } = open
  const { server } = context
  const { administrator, lacksFactor, organization, user } = signedIn
  const mayWrite = administrator.access === 'write'
  const place = placeOf(open)
  return {
    place,
    issuer: server.issuer,
    organization,
    mayWrite,
    mayOpen: (path) => mayOpen(path, administrator),
    self: user.id,
    isLoopbackOnly: administrator.isLoopbackOnly,
    factorUri: mayWrite && lacksFactor ? context.securityUri : undefined,
    csrf: server.secrets.digest('csrf', csrfParts(open)),
    forms: formsWithin(server, screen, administrator),
    reaches: () => true,
    isCut: false,
    outOfReach: outOfReach(administrator).message,
    filters: filtersOf(screen, place.query),
  }
}

/** The frame with the forms that the store would not refuse for the account of the object, or of the row, that they are about. */
export function withinReach(frame: Frame, { reach }: AnyScreen, answers: Members): Frame {
  if (reach === undefined) return frame
  const reaches = (form: Form, subject?: string): boolean => {
    const { touches } = requireTask(form.task)
    const reached = touches && reach(answers, subject)
    return touches === undefined || reached === undefined || isReached(reached, touches)
  }
  const forms = frame.forms.filter((form) => reaches(form))
  return { ...frame, forms, reaches, isCut: forms.length < frame.forms.length }
}

/**
 * A role has the forms of tasks that its access allows, and one for an organization those of tasks for it. Without a mail server there is no
 * form of a task that needs one.
 */
function formsWithin(
  { mail }: Pick<Context, 'mail'>,
  { forms }: AnyScreen,
  { access, organizationId }: Administrator,
): readonly Form[] {
  return forms.filter(({ task: name }) => {
    const task = requireTask(name)
    const isWithinExtent = organizationId === undefined || task.extent === 'organization'
    const isThere = task.needsMail !== true || mail !== undefined
    return isThere && isWithinExtent && mayPerform({ access }, task)
  })
}

/**
 * Performs a task as the person may: what is of the server is as if absent for other roles (threats.md CON-08). The error: the task refused.
 *
 * @throws OAuthError insufficient_scope, not_found
 */
export async function attempt(
  {
    context: { server },
    parameters,
    signedIn: { administrator },
  }: Pick<OpenScreen, 'context' | 'parameters' | 'signedIn'>,
  name: string,
  input: Members,
): Promise<Members | AdminError> {
  const task = requireTask(name)
  authorizeTask(server, administrator, task, parameters)
  try {
    return await runTask(asAdministrator(server, administrator), task, input, () => undefined)
  } catch (cause) {
    if (cause instanceof AdminError) return cause
    throw cause
  }
}

export function seekerOf(open: OpenScreen): Seeker {
  return {
    within: open.signedIn.administrator.organizationId,
    perform: (task, input) => attempt(open, task, input),
  }
}
