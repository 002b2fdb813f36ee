import { AdminError } from '../../admin/admin-error.ts'
import { sentenceOf, type OptionNameOf } from '../../admin/run-task.ts'
import { hasBody, isReading, pathParameters, placeOf, type Task } from '../../admin/task.ts'
import { parseJson } from '../../base/json.ts'
import { isLoopbackHost } from '../../protocol/uri/loopback.ts'
import { visible } from './columns.ts'
import { reasonOf } from '../../doctor/discovery.ts'
import { UsageError } from './failure.ts'

/** The administration of a running server, and the token for it. */
export interface ServerAccess {
  /** Without a slash at the end. */
  readonly address: string
  readonly token: string
}

type Members = Readonly<Record<string, unknown>>

/** Reading a whole audit can take a minute. */
const TASK_LIMIT_MS = 60_000
const IS_IT_RIGHT =
  'Is it the address of the administration? Its port is PORT + 1 unless GRANTOR_ADMIN_PORT says otherwise.'

/** The advice when the outcome of a change is unknown. */
const DOUBT = 'The change may have been applied. Check before retrying.'

/**
 * `mayBeRead`: the token may be sent unencrypted to another machine.
 *
 * @throws UsageError when the address is invalid, the token is missing, or it would be sent unencrypted
 */
export function readServer(text: string, token: string | undefined, mayBeRead: boolean): ServerAccess {
  const url = URL.parse(text)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      '--server is the address of the administration of a server: http://localhost:3001, or https://… without a query.',
    )
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !mayBeRead) {
    throw new UsageError(
      `The token would be sent to ${visible(url.origin)} unencrypted. Use https or a tunnel. On a trusted network add --insecure-http.`,
    )
  }
  const trimmed = token?.trim() ?? ''
  if (trimmed === '') {
    throw new UsageError(
      '--server needs the token of an administrator in GRANTOR_ADMIN_TOKEN. Create one on the machine of the server: grantor admin create --name <name> --access <read|write>',
    )
  }
  if (!/^[A-Za-z0-9_-]+$/.test(trimmed)) {
    throw new UsageError(
      'GRANTOR_ADMIN_TOKEN is not a token: "grantor admin create" prints one, which begins with gad_.',
    )
  }
  return { address: url.href.replace(/\/+$/, ''), token: trimmed }
}

/** The credentials do not permit the task. */
export class ForbiddenError extends AdminError {}

/**
 * Performs a task at a server. Redirects are not followed, because the token is for this address only.
 *
 * @throws AdminError with the message of the server, or the reason why it did not respond
 */
export async function askServer(
  access: ServerAccess,
  task: Task,
  input: Members,
  optionNameOf: OptionNameOf,
): Promise<unknown> {
  const response = await send(access, task, input)
  const body = parseJson(await readText(access, task, response))
  if (!response.ok) throw refusalOf(access, task, response, body, optionNameOf)
  if (!task.output.safeParse(body).success) {
    throw new AdminError(`${access.address} returned an unexpected response. Does it run another release?`)
  }
  return body
}

async function send({ address, token }: ServerAccess, task: Task, input: Members): Promise<Response> {
  const { path, query, body } = requestOf(task, input)
  try {
    return await fetch(`${address}${path}${query}`, {
      method: task.method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(TASK_LIMIT_MS),
    })
  } catch (cause) {
    throw noAnswer(address, task, cause)
  }
}

async function readText({ address }: ServerAccess, task: Task, response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (cause) {
    throw noAnswer(address, task, cause)
  }
}

function requestOf(
  task: Task,
  input: Members,
): { readonly path: string; readonly query: string; readonly body: string | undefined } {
  const members = Object.entries(input)
  const inQuery = members.filter(([name]) => placeOf(task, name) === 'query')
  const inBody = members.filter(([name]) => placeOf(task, name) === 'body')
  const texts = inQuery.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  )
  const path = pathParameters(task).reduce(
    (filled, name) => filled.replace(`{${name}}`, () => segmentOf(String(input[name]))),
    task.path,
  )
  return {
    path,
    query: texts.length === 0 ? '' : `?${new URLSearchParams(texts).toString()}`,
    body: hasBody(task) ? JSON.stringify(Object.fromEntries(inBody)) : undefined,
  }
}

/** An empty segment or dots would change the path of the request. */
function segmentOf(text: string): string {
  if (text === '' || text === '.' || text === '..') throw new AdminError(`Nothing is named "${text}".`)
  return encodeURIComponent(text)
}

/** The form of every refusal. docs/errors.md */
interface Refusal {
  readonly error: string
  readonly error_description: string
  readonly detail?: readonly { readonly loc: readonly string[]; readonly msg: string; readonly input?: unknown }[]
}

function refusalOf(
  { address }: ServerAccess,
  task: Task,
  response: Response,
  body: unknown,
  optionNameOf: OptionNameOf,
): AdminError {
  const { status, headers } = response
  const location = headers.get('location')
  if (location !== null) {
    return new AdminError(
      `${address} redirects to ${visible(location)}. Give the address of the administration itself.`,
    )
  }
  if (!isRefusal(body))
    return new AdminError(`${address} answered ${status}, but it is not a Grantor administration. ${IS_IT_RIGHT}`)
  const said = body.detail?.map((one) => sentenceOf(one, optionNameOf)) ?? []
  const lines = said.length === 0 ? [body.error_description] : said
  const message = [...lines.map(visible), ...adviceFor(task, status, body.error, headers)].join('\n')
  if (status === 403) return new ForbiddenError(message)
  return new AdminError(message, status === 404 && body.error === 'not_found' ? 'unknown' : 'refused')
}

function adviceFor(task: Task, status: number, error: string, headers: Headers): readonly string[] {
  const seconds = headers.get('retry-after')
  // decision 0005: the server itself may not know the outcome of a commit.
  const doubt = status === 503 && !isReading(task) ? [DOUBT] : []
  if (seconds !== null) return [...doubt, `Try again in ${visible(seconds)} seconds.`]
  if (status === 401) return ['The token in GRANTOR_ADMIN_TOKEN is expired, revoked, or not a token of this server.']
  if (status === 403)
    return ['An administrator of the whole server sees with "grantor admin list" what these credentials allow.']
  if (status === 404 && error === 'invalid_request') return [IS_IT_RIGHT]
  return []
}

function isRefusal(body: unknown): body is Refusal {
  if (typeof body !== 'object' || body === null) return false
  const { error, error_description, detail } = body as Partial<Refusal>
  if (typeof error !== 'string' || typeof error_description !== 'string') return false
  return detail === undefined || (Array.isArray(detail) && detail.every(isProblem))
}

function isProblem(one: unknown): boolean {
  if (typeof one !== 'object' || one === null) return false
  const { loc, msg } = one as { readonly loc?: unknown; readonly msg?: unknown }
  return Array.isArray(loc) && typeof msg === 'string'
}

/** The failure of a request without a response. A change may have been applied. */
function noAnswer(address: string, { access }: Task, cause: unknown): AdminError {
  const reason = reasonOf(cause, TASK_LIMIT_MS)
  const doubt = isReading({ access }) ? '' : DOUBT
  const isRefused = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/.test(reason)
  return new AdminError(`${address} does not respond: ${reason}. ${isRefused ? IS_IT_RIGHT : doubt}`.trim())
}
