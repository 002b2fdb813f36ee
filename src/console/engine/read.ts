import { requireTask } from '../../admin/tasks.ts'
import { AdminError } from '../../admin/admin-error.ts'
import { mayPerform, pathParameters } from '../../admin/task.ts'
import type { AnyScreen } from '../screen.ts'
import { resolveFilters } from './filter-names.ts'
import { readFilters } from './filters.ts'
import { matchingRows, type Form, type Matches, type Members, type Texts } from './form.ts'
import { attempt, placeOf, seekerOf, type OpenScreen } from './open-screen.ts'

/** Reads the tasks of a screen, each authorized. `limit`: of the rows of its list, if it is not the usual one. The error: one refused. */
export async function readAll(open: OpenScreen, limit?: number): Promise<Members | AdminError> {
  const { parameters, screen } = open
  const place = placeOf(open)
  const query = await resolveFilters(seekerOf(open), screen.filters, place.query)
  if (query instanceof AdminError) return query
  const read = await Promise.all(
    Object.entries(screen.reads).map(async ([name, { task: named, input, isOptional, isAsked }], index) => {
      const task = requireTask(named)
      if (isAsked?.(place) === false) return [name, undefined] as const
      if (isOptional === true && !mayPerform(open.signedIn.administrator, task)) return [name, undefined] as const
      const own = Object.fromEntries(
        pathParameters(task).flatMap((one) => (parameters[one] === undefined ? [] : [[one, parameters[one]]])),
      )
      const ofList = { ...readFilters(task, screen.filters, query), ...(limit === undefined ? {} : { limit }) }
      const answer = await attempt(open, named, { ...(index === 0 ? ofList : {}), ...input(place), ...own })
      return [name, answer] as const
    }),
  )
  return read.map(([, answer]) => answer).find((answer) => answer instanceof AdminError) ?? Object.fromEntries(read)
}

/** The filters of a list that the address has, and where its page begins, as the task of a form takes them. */
export function filtersIn({ screen, request: { query } }: Pick<OpenScreen, 'screen' | 'request'>): Members {
  const [first] = Object.values(screen.reads)
  const texts = Object.fromEntries(['before', ...screen.filters].map((name) => [name, query.get(name)]))
  return first === undefined ? {} : readFilters(requireTask(first.task), screen.filters, texts)
}

/** What a form with filters is about: a dry run of its task. undefined: another form, or a filter is refused, which the page itself says. */
export async function findMatches(open: OpenScreen, form: Form): Promise<Matches | undefined> {
  const rows = matchingRows(form)
  if (rows === undefined) return undefined
  const answer = await attempt(open, form.task, { ...filtersIn(open), dry_run: true })
  return answer instanceof AdminError ? undefined : rows.matching(answer)
}

/** Without inherited members: what the address names may be `constructor` (threats.md CON-33). */
export function namesIn(screen: AnyScreen, answers: Members): Texts {
  return Object.assign(Object.create(null), screen.names(answers)) as Texts
}
