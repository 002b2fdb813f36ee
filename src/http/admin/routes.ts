import { queryTypes, type QueryType } from '../../admin/query-values.ts'
import type { Task } from '../../admin/task.ts'

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
  readonly segments: readonly string[]
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
  patterns.sort((left, right) => countParameters(left) - countParameters(right))
  const plain = new Map(plainRoutes.map((route) => [route.path, route]))
  return (path) => {
    const route = plain.get(path)
    if (route !== undefined) return { kind: 'plain', route, methods: ['GET', 'HEAD'] }
    const segments = path.split('/')
    for (const pattern of patterns) {
      const parameters = matchSegments(pattern.segments, segments)
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
  return { segments: path.split('/'), tasks }
}

function countParameters({ segments }: Pattern): number {
  return segments.filter(isParameter).length
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

/** Returns the parameters in a path; undefined: it is another path. */
export function matchSegments(
  wanted: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (wanted.length !== segments.length) return undefined
  const found: [string, string][] = []
  for (const [index, want] of wanted.entries()) {
    const segment = segments[index] ?? ''
    if (!isParameter(want)) {
      if (want !== segment) return undefined
      continue
    }
    const value = decodeSegment(segment)
    if (value === undefined || value === '') return undefined
    found.push([want.slice(1, -1), value])
  }
  return Object.fromEntries(found)
}

/** undefined for an invalid percent-encoding. */
function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
