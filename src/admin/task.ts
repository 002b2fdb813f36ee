import type * as z from 'zod'
import { decode } from '../base/message.ts'
import { taskWords, type TaskWords } from '../texts/task-words.ts'
import { cut } from '../texts/texts.ts'
import type { Context } from '../ports/context.ts'
import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import type { Touched } from '../ports/operations/reach.ts'
import type { LinkRecord } from '../ports/records/user.ts'
import type { OrganizationId } from '../protocol/ids.ts'

/** The administrator who performs a task. */
export interface Administrator {
  /** The actor in the audit: `command-line`, `library`, `server`, the id of the credentials, or the id of the user with a role. */
  readonly actor: string
  readonly access: AdminCredentialRecord['access']
  /** The one organization that the administrator has access to; undefined: the whole server. */
  readonly organizationId: OrganizationId | undefined
  /** The administrator is a user whose role counts only while the issuer is a loopback address. */
  readonly isLoopbackOnly: boolean
  /** The user with a role who the administrator is. undefined: credentials, or access to the machine. */
  readonly holder: LinkRecord['madeBy']
}

/**
 * What a task does, from which it follows who may perform it. `read-people`: it reads what is about people and organizations. `read`: it
 * reads other records. `support`: it helps a person, and shows no secret. `users`: it decides about accounts and members. `write`: it changes
 * other records. `delegate`: it answers for the application that signs users in.
 */
export type Access = 'read-people' | 'read' | 'support' | 'users' | 'write' | 'delegate'

/** What an administrator with an access may do. */
const MAY: Readonly<Record<Administrator['access'], readonly Access[]>> = {
  read: ['read-people', 'read'],
  support: ['read-people', 'support'],
  users: ['read-people', 'support', 'users'],
  write: ['read-people', 'read', 'support', 'users', 'write'],
  metrics: [],
  delegate: ['delegate'],
}

export function mayPerform({ access }: Pick<Administrator, 'access'>, task: Pick<Task, 'access'>): boolean {
  return MAY[access].includes(task.access)
}

/** The accesses with which an administrator may perform a task. */
export function accessesFor(task: Pick<Task, 'access'>): readonly Administrator['access'][] {
  return (Object.keys(MAY) as readonly Administrator['access'][]).filter((access) => mayPerform({ access }, task))
}

/** Whether the task only reads. */
export function isReading({ access }: Pick<Task, 'access'>): boolean {
  return access === 'read' || access === 'read-people'
}

/** The context of a task. Its store records the administrator with every change. */
export interface TaskContext extends Context {
  readonly administrator: Administrator
}

/** How a task treats the person who performs it, at a command and on a screen. */
export interface Manner {
  /** The task that takes it back. Itself: an object that is edited gets what it had. */
  readonly undo?: string
  /**
   * The person must have signed in within the last five minutes: the task creates a secret, deletes, gives an administrator or a member of a
   * group more, or changes a client or an API so that clients may have more. It does not matter that it can be taken back, because another person at the open
   * browser has used it by then. The default is true for DELETE and for a secret.
   */
  readonly needsRecentSignIn?: true
  /**
   * It changes an account, or what an organization or an app has of it, and is refused if that is out of the reach of the administrator: a
   * screen does not offer it then (threats.md CON-38).
   */
  readonly touches?: Touched
  /** It cannot be undone. The default is true for DELETE. */
  readonly isFinal?: true
  /** The task that the next page offers besides. */
  readonly next?: string
  /** What is shown once, and never again. A form with it works once (threats.md CON-10). */
  readonly secret?: Secret
  /** Whether an object is in the state already. It is left alone then, so that undo does not change it. */
  readonly already?: (object: Members) => boolean
}

type Members = Readonly<Record<string, unknown>>

/** A member of the answer that is a secret, and members that are shown with it. */
export interface Secret {
  readonly member: string
  readonly beside?: readonly string[]
}

/**
 * One task of operators. The HTTP API, its OpenAPI description and the command line are derived from it, so all of them have
 * the same tasks.
 */
export interface Task<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> extends Manner {
  /** `client.list`: a noun and a verb. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters in braces are members of the input: `/admin/v1/clients/{client_id}`. */
  readonly path: string
  readonly access: Access
  /** One line, in the imperative. */
  readonly summary: string
  /** What it says to a person. Those of a task that only reads are empty, unless a form performs it. */
  readonly words: TaskWords
  /**
   * `organization`: administrators of one organization may also perform the task, for the `organization_id` in the path
   * (threats.md ADM-03). The default is `server`: they may not.
   */
  readonly extent: 'server' | 'organization'
  /**
   * Allowed while the clock of the node differs, because the task takes rights away whatever the time is, or is about the clock. The
   * default is true for DELETE, and false otherwise.
   */
  readonly anyClock: boolean
  /** The task creates a record: the status is 201. */
  readonly creates: boolean
  /** The state of the server may not allow the task: the status is 409. The default is true for a task that does more than read. */
  readonly mayConflict: boolean
  /**
   * The user of the task gets something: a role, or the account itself by a password, a link or an address. Commands then find the user by no
   * doubtful address (threats.md CON-34). The default is false.
   */
  readonly gives: boolean
  /** Without a mail server no form offers it, because it would only refuse. `mail.test` is offered, and says which setting is missing. */
  readonly needsMail?: true
  /** Members of the input of which a request must have exactly one. Empty: no such rule. */
  readonly exactlyOneOf: readonly string[]
  /** Path parameters, and the members of the query (GET, DELETE) or of the JSON body. Other members are rejected. */
  readonly input: Input
  /** The answer, which `--json` prints: snake_case, null for absent values, times as ISO 8601. */
  readonly output: Output
  /** @throws AdminError */
  run(context: TaskContext, input: z.output<Input>): Promise<z.output<Output>>
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject> extends Omit<
  Task<Input, Output>,
  'anyClock' | 'creates' | 'gives' | 'mayConflict' | 'exactlyOneOf' | 'extent' | 'words'
> {
  readonly anyClock?: boolean
  readonly creates?: boolean
  readonly gives?: boolean
  readonly mayConflict?: boolean
  readonly exactlyOneOf?: readonly string[]
  readonly extent?: Task['extent']
}

/** A row of the table of tasks. @throws Error for a task that changes something and does not say it, which is a bug */
export function defineTask<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: Definition<Input, Output>,
): Task<Input, Output> {
  const {
    anyClock = definition.method === 'DELETE',
    creates = false,
    gives = false,
    mayConflict = !isReading(definition),
    exactlyOneOf = [],
    extent = 'server',
  } = definition
  const deletes: Manner = definition.method === 'DELETE' ? { needsRecentSignIn: true, isFinal: true } : {}
  const reveals: Manner = definition.secret === undefined ? {} : { needsRecentSignIn: true }
  const words = requireWords(definition)
  return { ...deletes, ...reveals, ...definition, words, anyClock, creates, gives, mayConflict, exactlyOneOf, extent }
}

/** The words of a task, whose slots its answer fills. */
function requireWords({ name, access, output }: Pick<Task, 'name' | 'access' | 'output'>): TaskWords {
  const words = taskWords(name)
  const isSilent = isReading({ access }) || access === 'delegate'
  if (!isSilent && (words.label === undefined || words.done === undefined))
    throw new Error(`src/texts/tasks.json does not say ${name}.label and ${name}.done.`)
  const wrong = cut(Object.values(words).join('')).slots.find((slot) => !((slot.split('.')[0] ?? '') in output.shape))
  if (wrong !== undefined) throw new Error(`src/texts/tasks.json: the answer of ${name} has no ${wrong}.`)
  return { label: '', done: '', ...words }
}

/** What a slot of a sentence has, of the answer of its task. `time` writes one. */
export function slotText(answer: object, slot: string, time: (iso: string) => string): string {
  const found = slot
    .split('.')
    .reduce<unknown>(
      (value, member) =>
        Array.isArray(value) ? value.map((one: Members) => one[member]) : (value as Members | null)?.[member],
      answer,
    )
  if (typeof found === 'boolean') return found ? 'yes' : 'no'
  const text = Array.isArray(found) ? found.join(', ') : `${(found ?? '') as string | number}`
  return text === '' ? 'none' : /^\d{4}-\d\d-\d\dT/.test(text) ? time(text) : text
}

/** The parameters in the path of a task. */
export function pathParameters({ path }: Pick<Task, 'path'>): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
}

/** Returns the parameters that a path has at the places in braces, decoded and not empty; undefined: it is another path. */
export function matchPath(wanted: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wants, segments] = [wanted.split('/'), path.split('/')]
  if (wants.length !== segments.length) return undefined
  const found: [string, string][] = []
  for (const [index, want] of wants.entries()) {
    const segment = segments[index] ?? ''
    if (want.startsWith('{')) {
      const value = decode(segment.replaceAll('+', '%2B'))
      if (value === undefined || value === '') return undefined
      found.push([want.slice(1, -1), value])
    } else if (want !== segment) return undefined
  }
  return Object.fromEntries(found)
}

/** Whether the members outside the path are in a JSON body; otherwise they are in the query. */
export function hasBody({ method }: Pick<Task, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

/** The part of a request that has a member of the input. */
export function placeOf(task: Pick<Task, 'path' | 'method'>, member: string): 'path' | 'query' | 'body' {
  if (pathParameters(task).includes(member)) return 'path'
  return hasBody(task) ? 'body' : 'query'
}
