import { queryTypes, type QueryType } from '../../admin/query-values.ts'
import { matchPath, pathParameters, type Task } from '../../admin/task.ts'

/** A path that is not a task, such as the metrics. */
export interface PlainRoute {
  readonly path: string
  /**
   * `machine`: without credentials where only this machine can connect; otherwise with the credentials of an administrator
   * of the whole server, or with those for the metrics. `administrator`: with the credentials of any administrator.
   */
  readonly access: 'machine' | 'administrator'
  readonly answer: () => Promise<PlainAnswer>
}

export interface PlainAnswer {
  readonly contentType: string
  readonly body: string
}

/** The plain route or the tasks at a path, with the parameters in the path. */
export type AdminRoute =
  | { readonly kind: 'plain'; readonly route: PlainRoute; readonly methods: readonly string[] }
  | {
      readonly kind: 'tasks'
      /** By method; HEAD is GET (RFC 9110 §9.3.2). */
      readonly tasks: ReadonlyMap<string, TaskRow>
      readonly methods: readonly string[]
      readonly parameters: Readonly<Record<string, string>>
    }

export interface TaskRow {
  readonly task: Task
  /** Made for the first request: the JSON Schemas of all tasks would take most of the time of a start. */
  readonly queryTypes: () => ReadonlyMap<string, QueryType>
}

/** A path with parameters, such as `/admin/v1/clients/{client_id}`. */
interface Pattern {
  readonly path: string
  readonly tasks: ReadonlyMap<string, TaskRow>
}

/**
 * Returns a function that finds the route of a path; undefined for an unknown path. Fixed segments must match byte for byte
 * (threats.md ADM-01). A parameter is one percent-encoded segment. Fixed segments take precedence over parameters.
 */
export function openAdminRoutes(
  tasks: readonly Task[],
  plainRoutes: readonly PlainRoute[],
): (path: string) => AdminRoute | undefined {
  const patterns = [...Map.groupBy(tasks, ({ path }) => path)].map(([path, rows]) => patternOf(path, rows))
  // Fewer parameters first.
  patterns.sort((left, right) => pathParameters(left).length - pathParameters(right).length)
  const plain = new Map(plainRoutes.map((route) => [route.path, route]))
  return (path) => {
    const route = plain.get(path)
    if (route !== undefined) return { kind: 'plain', route, methods: ['GET', 'HEAD'] }
    for (const pattern of patterns) {
      const parameters = matchPath(pattern.path, path)
      if (parameters === undefined) continue
      return { kind: 'tasks', tasks: pattern.tasks, methods: [...pattern.tasks.keys()], parameters }
    }
    return undefined
  }
}

function patternOf(path: string, rows: readonly Task[]): Pattern {
  const tasks = new Map(
    rows.flatMap((task) => {
      let types: ReadonlyMap<string, QueryType> | undefined
      const row = { task, queryTypes: () => (types ??= queryTypes(task)) }
      return (task.method === 'GET' ? ['GET', 'HEAD'] : [task.method]).map((method): [string, TaskRow] => [method, row])
    }),
  )
  return { path, tasks }
}
