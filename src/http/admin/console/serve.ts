import type { IncomingMessage } from 'node:http'
import type { Administrator } from '../../../admin/task.ts'
import { NO_PARAMETERS, parseForm, type Parameters } from '../../../base/message.ts'
import type { Problem } from '../../../base/validation.ts'
import { CONSOLE_PATH } from '../../../protocol/client/console.ts'
import { invalidRequest, unavailable } from '../../../protocol/errors.ts'
import { decodeBody, readBody } from '../../body.ts'
import type { Gate } from '../../gate.ts'
import { checkHeaders } from '../../request.ts'
import { wrongMethod } from '../../routes.ts'
import type { Scheduler } from '../../scheduler.ts'
import type { Console } from './console.ts'
import type { ConsoleAnswer } from '../../../console/engine/context.ts'
import { MAXIMA, type Maximum } from '../../../base/maxima.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** A form has five for each scope of an API. */
const PARAMETER_LIMIT = MAXIMA.consoleParameters.most
/** A page waits for the store no longer. */
const WAIT_MS = 3000

/** Of the pages of the console: no page of another origin shows one, loads it, or holds its window (threats.md CON-14). */
export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // With `no-referrer` a browser sends forms with the origin `null`.
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const
const ASSET_HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
} as const

export function isBelowConsole(path: string): boolean {
  return path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`)
}

/** The request, and what its line of the log says. */
interface Exchange {
  readonly message: IncomingMessage
  readonly network: string
  readonly requestId: string
  task: string
  administrator: Administrator | undefined
}

/**
 * Answers a request for a page or a file of the console. It takes no bearer token, as the API takes no cookie.
 *
 * @throws OAuthError
 */
export async function answerConsole(
  { scheduler, pages, gate }: { readonly scheduler: Scheduler; readonly pages: Scheduler; readonly gate: Gate },
  exchange: Exchange,
  console: Console,
  path: string,
): Promise<Omit<ConsoleAnswer, 'body'> & { readonly body: string | Uint8Array }> {
  const { message, network, requestId } = exchange
  const asset = console.findAsset(path)
  const { method = '', headers, url = '' } = message
  const methods = asset === undefined ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD']
  if (!methods.includes(method)) throw wrongMethod(method, methods, methods.join(', '))
  // Files have no secret, and a page that refuses a host needs them.
  if (asset === undefined) console.checkHost(message)
  // Also a request that is refused next waits here, so that a flood is no faster than pages are (threats.md CON-11).
  await (asset === undefined ? pages.batch(network) : scheduler.endOfTurn(network))
  // A page that waited for longer than its browser costs the next one nothing.
  if (message.socket.destroyed) throw unavailable('overloaded', 1)
  gate.check(message, network, asset === undefined ? {} : { withoutStore: true })
  if (asset !== undefined) return { status: 200, ...asset, headers: ASSET_HEADERS }
  const isForm = method === 'POST'
  if (isForm) checkHeaders(message, { accepts: FORM_TYPE })
  const form = isForm ? await readForm(gate, message, network, console.bodyLimit(headers)) : NO_PARAMETERS
  const mark = url.indexOf('?')
  const query = parseForm(mark === -1 ? '' : url.slice(mark + 1))
  if (query === undefined) throw invalidRequest('form_malformed')
  gate.enter(network, {})
  const leave = console.enter()
  const visit = { method: isForm ? 'POST' : 'GET', path, query, form, headers, network, requestId } as const
  // It counts until its work has ended, which may be after the answer.
  const work = console.answer(visit, exchange).finally(() => {
    leave()
    gate.leave(network)
  })
  // The answer of a form says what was done, and has a secret that no other page shows, so it is waited for.
  const answer = await (isForm ? work : withinTime(work))
  return { ...answer, headers: { ...PAGE_HEADERS, ...answer.headers } }
}

async function readForm(gate: Gate, message: IncomingMessage, network: string, most: Maximum): Promise<Parameters> {
  gate.beginBody(network)
  const tooLarge = (problems: readonly Problem[]) => invalidRequest('body_too_large', { status: 413, problems })
  const body = await readBody(message, tooLarge, most).finally(() => gate.endBody(network))
  const text = decodeBody(body, message.headers)
  const form = text === undefined ? undefined : parseForm(text, PARAMETER_LIMIT)
  if (form === undefined) throw invalidRequest('form_malformed')
  return form
}

/** @throws OAuthError temporarily_unavailable */
async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable('store_unavailable', 1)), WAIT_MS)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
