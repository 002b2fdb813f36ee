import type * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { OrganizationId } from '../protocol/ids.ts'

/** Who has a task done. */
export interface Administrator {
  /** As the audit names one: `command-line`, or the id of the credentials. */
  readonly actor: string
  readonly access: Access
  /** Nothing but this organization is there for the administrator; undefined: everything is. */
  readonly organizationId: OrganizationId | undefined
}

/** Whoever may write may read. */
export type Access = 'read' | 'write'

/** What a task has: a store that writes down the administrator with every change. */
export interface TaskContext extends Context {
  readonly administrator: Administrator
}

/**
 * One thing that operators do. The HTTP API, its description and the command line all come from it, so none of them can
 * do what the others cannot.
 */
export interface Task<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  /** `client.list`: a noun and a verb. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters in braces are members of the input: `/admin/v1/clients/{client_id}`. */
  readonly path: string
  readonly access: Access
  /** One line, in the imperative. */
  readonly summary: string
  /**
   * Not for administrators of one organization though it stands below it (threats.md ADM-03): it looks for what belongs to
   * none, or is about what an organization is called and whether it is there.
   */
  readonly serverOnly: boolean
  /** It ends something, or is about the clock: it is done while the clock of the node differs, too. A DELETE is, unless it says otherwise. */
  readonly anyClock: boolean
  /** It makes something new: 201. */
  readonly creates: boolean
  /** Members of the input of which a request has one, and not two. Empty: there is no such rule. */
  readonly exactlyOneOf: readonly string[]
  /** Path parameters, and of a GET or DELETE the query, of all others the JSON body. Other members are refused. */
  readonly input: Input
  /** What is answered, and what `--json` prints: snake_case, null for what is not there, times as ISO 8601. */
  readonly output: Output
  /** @throws AdminError */
  run(context: TaskContext, input: z.output<Input>): Promise<z.output<Output>>
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject> extends Omit<
  Task<Input, Output>,
  'anyClock' | 'creates' | 'exactlyOneOf' | 'serverOnly'
> {
  readonly anyClock?: boolean
  readonly creates?: boolean
  readonly exactlyOneOf?: readonly string[]
  readonly serverOnly?: boolean
}

/** A row of the table of tasks. */
export function defineTask<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Definition<Input, Output>,
): Task<Input, Output> {
  const {
    anyClock = definition.method === 'DELETE',
    creates = false,
    exactlyOneOf = [],
    serverOnly = false,
  } = definition
  return { ...definition, anyClock, creates, exactlyOneOf, serverOnly }
}

/** Every path of what belongs to one organization begins so. */
const ORGANIZATION_PATH = '/admin/v1/organizations/{organization_id}'

/** Whether administrators of one organization may do it, for that organization. */
export function isOfOrganization({ path, serverOnly }: Task): boolean {
  return !serverOnly && (path === ORGANIZATION_PATH || path.startsWith(`${ORGANIZATION_PATH}/`))
}

/** The parameters in a task's path. */
export function pathParameters({ path }: Pick<Task, 'path'>): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
}

/** Whether the members that do not stand in the path come in a JSON body; otherwise in the query. */
export function hasBody({ method }: Pick<Task, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

/** Where a member of the input stands in a request. */
export function placeOf(task: Pick<Task, 'path' | 'method'>, member: string): 'path' | 'query' | 'body' {
  if (pathParameters(task).includes(member)) return 'path'
  return hasBody(task) ? 'body' : 'query'
}
