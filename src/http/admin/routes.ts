import { queryTypes, type QueryType } from '../../admin/query-values.ts'
import type { Task } from '../../admin/task.ts'

/** A path outside the table: what machines read. */
export interface PlainRoute {
  readonly path: string
  /**
   * `machine`: without credentials where only this machine can ask; elsewhere with those of an administrator who may read
   * everything. `administrator`: with any administrator's.
   */
  readonly access: 'machine' | 'administrator'
  readonly answer: () => Promise<PlainAnswer>
}

export interface PlainAnswer {
  readonly contentType: string
  readonly body: string
}

/** What stands at a path, with what its address says. */
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
  /** Made when a request first asks: JSON Schemas of all tasks take longer than all else that a start does here. */
  readonly queryTypes: () => ReadonlyMap<string, QueryType>
}

/** Paths of one shape: `/admin/v1/clients/{client_id}`. */
interface Pattern {
  readonly segments: readonly string[]
  readonly tasks: ReadonlyMap<string, TaskRow>
}

/**
 * The route of a path; undefined where there is nothing. What is fixed in a path must be written as it is, byte for byte
 * (threats.md ADM-01); a parameter is one segment, percent-encoded. Fixed segments win over parameters.
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
      const parameters = matchSegments(pattern, segments)
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

function matchSegments(
  { segments: wanted }: Pattern,
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

/** undefined: the percent-encoding is broken. */
function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
