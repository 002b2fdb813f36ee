import type { IncomingHttpHeaders } from 'node:http'
import type { RoleAuthentication } from '../../../admin/user/role-holder.ts'
import type { Section, View } from '../../../console/screen.ts'
import type { Context } from '../../../ports/context.ts'
import type { Page } from '../../../ports/pages/pages.ts'
import type { Parameters } from '../../../base/message.ts'
import { accountPath } from '../../../endpoints/paths.ts'
import { addressOf } from '../../../protocol/uri/server-address.ts'
import type { ConsoleCookies, ConsoleSession } from './cookies.ts'

/** A request to the console, whose body has been read. */
export interface Visit {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: Parameters
  /** Empty for a GET. */
  readonly form: Parameters
  readonly headers: IncomingHttpHeaders
  readonly network: string
  readonly requestId: string
}

export interface ConsoleAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Why a page says no, for the log: a reason of docs/errors.md. */
  readonly reason?: string | undefined
}

/** A user with a role, and the session of the console. */
export interface Visitor {
  readonly session: ConsoleSession
  readonly holder: Extract<RoleAuthentication, { readonly kind: 'administrator' }>
}

/** What all answers of the console need. */
export interface Desk {
  readonly context: Context
  readonly origin: string
  readonly cookies: ConsoleCookies
  /** Renders a view with the side, the search and the menu of the person. */
  readonly framed: (view: View, visitor: Visitor, section: Section | undefined) => string
  /** Renders a view for a person who may see nothing of the server. */
  readonly plain: (view: View, refresh?: string) => string
  /** Renders a page of the people who sign in, in which nothing works but the link back. */
  readonly preview: (page: Page, back: string) => ConsoleAnswer
  /** Leads the browser to the sign-in, and back to this path and query. `loginHint`: the address of the person, if the session continues. */
  readonly leave: (visit: Visit, returnTo: string, isFresh: boolean, loginHint?: string) => Promise<ConsoleAnswer>
}

const HTML = 'text/html; charset=utf-8'

/** 303, so that a reload does not repeat a form. */
export function redirect(location: string, headers: ConsoleAnswer['headers'] = {}): ConsoleAnswer {
  return { status: 303, contentType: HTML, body: '', headers: { Location: location, ...headers } }
}

/** An address of this server with one more parameter. */
export function withParameter(address: string, name: string, value: string | number): string {
  return `${address}${address.includes('?') ? '&' : '?'}${name}=${value}`
}

export function page(body: string, status = 200, headers: ConsoleAnswer['headers'] = {}): ConsoleAnswer {
  return { status, contentType: HTML, body, headers }
}

/** Where a person adds a second factor. */
export function securityUri(issuer: string): string {
  return addressOf(issuer, accountPath('security'))
}

/** Whether a page of this origin submitted the form: other ports of a loopback host are the same site (threats.md CON-06). */
export function isFromOwnPage({ headers }: Pick<Visit, 'headers'>, origin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  return headers.origin === undefined || headers.origin === origin
}
