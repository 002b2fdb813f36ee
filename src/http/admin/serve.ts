import type { IncomingMessage, ServerResponse } from 'node:http'
import { AdminError } from '../../admin/admin-error.ts'
import { asAdministrator } from '../../admin/administrators.ts'
import { performTask } from '../../admin/run-task.ts'
import { hasBody, isReading, placeOf, type Administrator, type Task } from '../../admin/task.ts'
import type { Context } from '../../ports/context.ts'
import { CONSOLE_PATH } from '../../protocol/client/console.ts'
import { invalidRequest, OAuthError, unavailable } from '../../protocol/errors.ts'
import type { Slots } from '../../base/slots.ts'
import { problem, type Problem } from '../../base/validation.ts'
import { discardBody } from '../body.ts'
import type { Connections } from '../connections.ts'
import type { Gate } from '../gate.ts'
import { elapsedMs, errorBody, REQUEST_ID_HEADER, toOAuthError, type Target } from '../reply.ts'
import { checkHeaders, prefersPage } from '../request.ts'
import { wrongMethod } from '../routes.ts'
import type { Scheduler } from '../scheduler.ts'
import { authorizeTask } from '../../admin/authorize-task.ts'
import { authenticate, authorizePlain, isOpen } from './authorize.ts'
import { readTaskInput } from './input.ts'
import type { Console } from './console/console.ts'
import { answerConsole, isBelowConsole, PAGE_HEADERS } from './console/serve.ts'
import type { AdminRoute, TaskRow } from './routes.ts'

/** How long a reading waits for others. */
const READ_WAIT_MS = 10_000
const RETRY_SECONDS = 1
const LONGEST_GAP_MS = 50

/** One line of the log per answered request. */
export type LogAdminOutcome = (line: AdminLine, cause: unknown) => void

export interface AdminLine {
  readonly event: 'admin.answered' | 'admin.refused'
  readonly request_id: string
  /** The task's name, or the path of a plain route; `none` for an unknown path. */
  readonly task: string
  /** The id of the credentials. */
  readonly administrator: string | undefined
  /** The network whose limit a refusal with status 429 names; otherwise undefined. */
  readonly network: string | undefined
  readonly reason: string | undefined
  readonly status: number
  readonly ms: number
}

export interface AdminServing {
  readonly context: Context
  readonly findRoute: (path: string) => Promise<AdminRoute | undefined>
  readonly connections: Connections
  readonly gate: Gate
  readonly isLoopback: boolean
  readonly log: LogAdminOutcome
  readonly scheduler: Scheduler
  /** For pages of the console: rendering one takes as long as several tokens. */
  readonly pages: Scheduler
  /** For tasks that read: lists of a thousand rows at the same time would hold the process for seconds (threats.md ADM-12). */
  readonly reads: Slots
  readonly nextRequestId: () => string
  /** Loads the console with the first request for it; undefined: it is off. */
  readonly loadConsole: (() => Promise<Console>) | undefined
}

/** A request that is being processed. */
interface Exchange extends Target {
  readonly message: IncomingMessage
  /** The network whose limits the request counts against. */
  readonly network: string
  /** On the clock of `performance`. */
  readonly startedAt: number
  task: string
  administrator: Administrator | undefined
  /** Set for a request to the console, whose refusals are pages. */
  console: Console | undefined
}

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Why a page says no. */
  readonly reason?: string | undefined
}

const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
} as const
const JSON_TYPE = 'application/json'
const PATH_PROBLEM = problem(['path'], 'value_error', 'There is nothing at this path.', null, {})

/** Serves one request of an administrator. Every error that is thrown becomes an answer here. */
export async function serveAdmin(
  serving: AdminServing,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { connections, scheduler } = serving
  if (connections.isHungUp(message)) return
  const network = connections.networkOf(message)
  const exchange: Exchange = {
    message,
    response,
    requestId: serving.nextRequestId(),
    isOpenerCut: false,
    links: undefined,
    network,
    startedAt: performance.now(),
    task: 'none',
    administrator: undefined,
    console: undefined,
  }
  connections.beginRequest(response)
  try {
    const answer = await answerTo(serving, exchange)
    send(serving, exchange, answer, answer.headers ?? {})
    const event = answer.reason === undefined ? 'admin.answered' : 'admin.refused'
    logOutcome(serving, exchange, event, answer.status, answer.reason, undefined)
  } catch (cause) {
    discardBody(message)
    await scheduler.endOfTurn(network)
    refuse(serving, exchange, cause)
  } finally {
    connections.endRequest(response)
  }
}

/**
 * Checks in this order: the headers, the path, the method, the credentials, their access, their organization, the input. A
 * caller without credentials learns which paths exist, which are public in the source, and nothing else.
 */
async function answerTo(serving: AdminServing, exchange: Exchange): Promise<Answer> {
  const { context, gate } = serving
  const { message, network } = exchange
  checkHeaders(message, {})
  const [path = ''] = (message.url ?? '').split('?', 1)
  if (serving.loadConsole !== undefined && isBelowConsole(path)) {
    exchange.task = 'console'
    exchange.console = await serving.loadConsole()
    return answerConsole(serving, exchange, exchange.console, path)
  }
  // A person who opens the port looks for the console; programs ask for JSON.
  if (serving.loadConsole !== undefined && path === '/' && prefersPage(message))
    return { status: 303, contentType: 'text/html', body: '', headers: { Location: CONSOLE_PATH } }
  const route = await serving.findRoute(path)
  if (route === undefined) throw invalidRequest('path_unknown', { status: 404, problems: [PATH_PROBLEM] })
  const method = message.method ?? ''
  const refuseMethod = (): OAuthError => wrongMethod(method, route.methods, route.methods.join(', '))
  // No preflight is answered, because scripts of web pages must not call the administration.
  if (!route.methods.includes(method)) throw refuseMethod()
  const isPlain = route.kind === 'plain'
  exchange.task = isPlain ? route.route.path : (route.tasks.get(method)?.task.name ?? 'none')
  await serving.scheduler.endOfTurn(network)
  // Metrics that need no credentials show why nothing else is served.
  const isFree = isPlain && isOpen(route.route, serving.isLoopback, message.headers)
  const allowInsecure = isPlain && route.route.access === 'machine'
  gate.check(message, network, { allowInsecure, priority: 'high', ...(isFree ? { withoutStore: true } : {}) })
  if (isFree) return { status: 200, ...(await route.route.answer()) }
  const administrator = await authenticate(context, message, network)
  exchange.administrator = administrator
  if (isPlain) {
    authorizePlain(context, administrator, route.route)
    return { status: 200, ...(await route.route.answer()) }
  }
  const row = route.tasks.get(method)
  if (row === undefined) throw refuseMethod()
  authorizeTask(context, administrator, row.task, route.parameters)
  return runRow(serving, exchange, administrator, row, route.parameters)
}

async function runRow(
  { context, gate, reads }: AdminServing,
  { message, network, requestId }: Exchange,
  administrator: Administrator,
  row: TaskRow,
  parameters: Readonly<Record<string, string>>,
): Promise<Answer> {
  gate.beginBody(network)
  const input = await readTaskInput(message, row, parameters).finally(() => gate.endBody(network))
  // A body may take half a minute to arrive. Credentials that were revoked meanwhile must change nothing.
  if (hasBody(row.task)) await authenticate(context, message, network)
  gate.enter(network, { priority: 'high' })
  try {
    const work = () => performTask(asAdministrator(context, administrator), row.task, input)
    const output = await inTurn(reads, row.task, network, () => context.inRequest(requestId, work))
    return { status: row.task.creates ? 201 : 200, contentType: JSON_TYPE, body: JSON.stringify(output) }
  } catch (cause) {
    throw cause instanceof AdminError ? refusalOf(cause, row.task) : cause
  } finally {
    gate.leave(network)
  }
}

/** Clients have the process between two readings, for as long as the first one took. @throws OAuthError when too many wait */
async function inTurn<Output>(reads: Slots, task: Task, network: string, work: () => Promise<Output>): Promise<Output> {
  if (!isReading(task)) return work()
  const free = await reads.take('', network, AbortSignal.timeout(READ_WAIT_MS))
  if (free === undefined) throw unavailable('overloaded', RETRY_SECONDS)
  const startedAt = performance.now()
  return work().finally(() => setTimeout(free, Math.min(performance.now() - startedAt, LONGEST_GAP_MS)))
}

/** The refusal of a task as an answer. Its message is in `detail`. */
function refusalOf({ kind, message, problems }: AdminError, task: Task): OAuthError {
  const [member] = Object.keys(task.input.shape)
  const details: readonly Problem[] =
    problems.length > 0 ? problems : [problem([placeOf(task, member ?? '')], 'value_error', message, null, {})]
  switch (kind) {
    case 'unknown':
      return new OAuthError('not_found', 'object_unknown', { problems: details })
    case 'conflict':
      return new OAuthError('conflict', 'state_differs', { problems: details })
    case 'refused':
      return invalidRequest('input_malformed', { status: 422, problems: details })
  }
}

function refuse(serving: AdminServing, exchange: Exchange, cause: unknown): void {
  const error = toOAuthError(cause)
  const { status, reason, retryAfterSeconds, headers } = error
  // A deliberate refusal is logged without its cause.
  const logged = status >= 500 && error !== cause ? cause : undefined
  logOutcome(serving, exchange, 'admin.refused', status, reason, logged)
  const { response } = exchange
  // Part of the answer may have been sent. The connection is closed so that the client does not take it for a whole answer.
  if (response.headersSent) return void response.destroy()
  const retry = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
  const answer: Answer = exchange.console?.refuse(error, exchange) ?? {
    status,
    contentType: JSON_TYPE,
    body: JSON.stringify(errorBody(error)),
  }
  const page = exchange.console === undefined ? {} : PAGE_HEADERS
  send(serving, exchange, answer, { ...headers, ...retry, ...page })
}

function send(
  { context }: AdminServing,
  { response, requestId }: Exchange,
  { status, contentType, body }: Answer,
  more: Readonly<Record<string, string>>,
): void {
  const close: Record<string, string> = context.isStopping() ? { Connection: 'close' } : {}
  const length = String(Buffer.byteLength(body))
  const own = { [REQUEST_ID_HEADER]: requestId, 'Content-Type': contentType, 'Content-Length': length }
  response.writeHead(status, { ...HEADERS, ...own, ...more, ...close })
  response.end(body)
}

function logOutcome(
  { log }: AdminServing,
  { task, administrator, network, requestId, startedAt }: Exchange,
  event: AdminLine['event'],
  status: number,
  reason: string | undefined,
  cause: unknown,
): void {
  log(
    {
      event,
      request_id: requestId,
      task,
      administrator: administrator?.actor,
      network: status === 429 ? network : undefined,
      reason,
      status,
      ms: elapsedMs(startedAt),
    },
    cause,
  )
}
