import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Context, OutcomeEvent } from '../ports/context.ts'
import type { Reply } from '../ports/message.ts'
import type { Answered, RequestObserver } from '../ports/observers.ts'
import { elapsedMs } from './reply.ts'

/** One line of the log per answered request. */
export type LogOutcome = (line: OutcomeLine, cause: unknown) => void

type OutcomeLine = Omit<OutcomeEvent, 'redirectUri' | 'leftOut'> & {
  readonly request_id: string
  readonly redirect_uri?: string | undefined
  readonly left_out?: string | undefined
  readonly endpoint: string
  /** The network whose limit a refusal with status 429 names; of pages, issued tokens and refusals also where GRANTOR_LOG_NETWORKS says so. */
  readonly network: string | undefined
  readonly status: number
  readonly ms: number
}

/** Where outcomes are reported. */
export interface Reporting {
  readonly log: LogOutcome
  readonly observer: RequestObserver
  readonly context: Pick<Context, 'settings'>
}

/** A request that is being answered. */
export interface Answering {
  readonly message: IncomingMessage
  readonly requestId: string
  /** The network whose limits the request counts against. */
  readonly network: string
  /** On the clock of `performance`. */
  readonly startedAt: number
  /** undefined: not found yet, or there is none. */
  readonly endpoint: Endpoint | undefined
}

/** Logs a reply and reports it to the observer. */
export function logReply(reporting: Reporting, exchange: Answering, { name, audience }: Endpoint, reply: Reply): void {
  const outcome: Partial<OutcomeEvent> = reply.event ?? NO_EVENT
  const { event = `${name}.answered`, reason, api, active } = outcome
  const { client, description, redirectUri, user, organization, grant, scope, resources, bound, earlier, leftOut } =
    outcome
  const status = statusOf(reply)
  const isNamed = reporting.context.settings.logNetworks
  const ms = observe(reporting, exchange, { event, reason, api, active, status })
  // All log lines have the same members in the same order. Copying objects of many shapes takes as long as writing a line.
  const line: OutcomeLine = {
    event,
    request_id: exchange.requestId,
    client,
    endpoint: name,
    network:
      status === 429 || (isNamed && (audience === 'page' || event === 'token.issued')) ? exchange.network : undefined,
    reason,
    description,
    redirect_uri: redirectUri,
    user,
    organization,
    grant,
    scope,
    resources,
    bound,
    earlier,
    api,
    active,
    status,
    ms,
  }
  // Rare, so that other lines do not have the member.
  reporting.log(leftOut === undefined ? line : { ...line, left_out: leftOut }, undefined)
}

const NO_EVENT: Partial<OutcomeEvent> = {}

type Outcome = Pick<Answered, 'event' | 'reason' | 'status' | 'api' | 'active'>

/** Reports the outcome to the observer. Returns how many milliseconds the request took. */
export function observe(
  { observer }: Pick<Reporting, 'observer'>,
  { message, requestId, endpoint, startedAt }: Answering,
  outcome: Outcome,
): number {
  const ms = elapsedMs(startedAt)
  const { name = 'none', path } = endpoint ?? {}
  const { event, reason, status, api, active } = outcome
  observer.answered({ endpoint: name, event, reason, status, ms, requestId, method: message.method, path, api, active })
  return ms
}

function statusOf(result: Reply): number {
  if (result.kind === 'redirect') return 303
  return result.kind === 'download' || result.kind === 'picture' ? 200 : result.status
}
