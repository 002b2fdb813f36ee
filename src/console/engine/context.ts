import type { RoleAuthentication } from '../../admin/user/role-holder.ts'
import type { Parameters } from '../../base/message.ts'
import type { Context } from '../../ports/context.ts'
import type { Page } from '../../ports/pages/pages.ts'
import type { Section } from '../screen.ts'
import type { View } from './form.ts'

/** A request to the console, whose body has been read. */
export interface ConsoleRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: Parameters
  /** Empty for a GET. */
  readonly form: Parameters
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
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

/** A user with a role, who is signed in to the console. The session is the grant of the sign-in. */
export type SignedIn = Extract<RoleAuthentication, { readonly kind: 'administrator' }>

/** What all screens of the console need. */
export interface ConsoleContext {
  /** That of the tasks. */
  readonly server: Context
  /** Where browsers reach the console. */
  readonly origin: string
  /** Where a person adds a second factor. */
  readonly securityUri: string
  /** Renders a view with the side, the search and the menu of the person. */
  readonly framed: (view: View, signedIn: SignedIn, section: Section | undefined) => string
  /** Renders a page of the people who sign in, in which nothing works but the link back. */
  readonly preview: (page: Page, back: string) => ConsoleAnswer
  /** Leads the browser to the sign-in, and back to this path and query. `loginHint`: the address of the person, if the session continues. */
  readonly leave: (
    request: ConsoleRequest,
    returnTo: string,
    isFresh: boolean,
    loginHint?: string,
  ) => Promise<ConsoleAnswer>
}

/** Characters of an address to which a sign-in leads back: the `state` that has it is refused above 4,096. */
export const RETURN_LIMIT = 2900

const HTML = 'text/html; charset=utf-8'

export function page(body: string, status = 200, headers: ConsoleAnswer['headers'] = {}): ConsoleAnswer {
  return { status, contentType: HTML, body, headers }
}

/** 303, so that a reload does not repeat a form. */
export function redirect(location: string, headers: ConsoleAnswer['headers'] = {}): ConsoleAnswer {
  return { status: 303, contentType: HTML, body: '', headers: { Location: location, ...headers } }
}

/** An address of this server with one more parameter. */
export function withParameter(address: string, name: string, value: string | number): string {
  return `${address}${address.includes('?') ? '&' : '?'}${name}=${value}`
}

/** Whether a page of this origin submitted the form: other ports of a loopback host are the same site (threats.md CON-06). */
export function isFromOwnPage({ headers }: Pick<ConsoleRequest, 'headers'>, origin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  return headers['origin'] === undefined || headers['origin'] === origin
}
