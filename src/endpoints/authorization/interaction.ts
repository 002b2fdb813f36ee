import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../../ports/message.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import { evaluateAuthorized, type AllowedClient } from '../../clients/evaluate-client.ts'
import type { PageReason } from '../../protocol/authorization/page-refusals.ts'
import { mintOrderedId, parseAuthorizationId, type ClientId } from '../../protocol/ids.ts'
import { redirectUriMatches } from '../../protocol/uri/redirect-uri.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { openCookie } from './cookie.ts'
import { requestableFrom } from '../../clients/identity-change.ts'
import { findProduct } from '../../clients/product.ts'
import { errorPage, type Known } from '../error-page.ts'

/** An authorization, with its client and what that may do with it. */
export interface Subject extends AllowedClient {
  readonly authorization: AuthorizationRecord
}

/** A pending or approved authorization, in the browser that started it. */
export interface Interaction extends Subject {
  readonly browserHash: SecretHash
  readonly uiLocales: string | undefined
}

/** Finds the pending authorization that a page is shown for. Returns an error page if the user has already decided. */
export async function findOpenInteraction(context: Context, request: Request): Promise<Interaction | Reply> {
  const interaction = await findInteraction(context, request, authorizationIn(request))
  if ('kind' in interaction) return interaction
  return interaction.authorization.status.kind === 'pending'
    ? interaction
    : endedPage(context, 'authorization_decided', interaction.client.id)
}

/** The page of a request that this browser began and that has ended. It leads back to the client, if pages may lead to it. */
export async function endedPage(context: Context, reason: PageReason, client: ClientId): Promise<Reply> {
  const ended = errorPage(reason, { client })
  const product = await findProduct(context, client)
  return product === undefined ? ended : { ...ended, page: { ...ended.page, product } }
}

/** The id of the authorization that a request to a page names. */
export function authorizationIn({ params }: Pick<Request, 'params'>): string {
  return params.get('authorization') ?? ''
}

/**
 * Finds an authorization. Returns an error page if there is none that this browser may continue. An approved authorization is
 * accepted, because a form may be submitted twice.
 */
export async function findInteraction(context: Context, request: Request, text: string): Promise<Interaction | Reply> {
  const id = parseAuthorizationId(text)
  const authorization = id === undefined ? undefined : await context.store.findAuthorization(id)
  if (authorization === undefined) return errorPage('authorization_unknown')
  const known = { client: authorization.clientId }
  const browser = openBrowser(context, request)
  // RFC 9700 §4.5: a stolen address is useless in another browser (threats.md AUTH-21).
  if (browser !== authorization.browserHash) return otherBrowser(context, request, known)
  const { kind } = authorization.status
  if (kind !== 'pending' && kind !== 'approved')
    return endedPage(context, 'authorization_decided', authorization.clientId)
  if (authorization.expiresAt <= context.clockCheck.now())
    return endedPage(context, 'authorization_expired', authorization.clientId)
  const client = await context.store.findClient(authorization.clientId)
  if (client === undefined) return errorPage('client_unknown', known)
  if (client.disabledAt !== undefined) return errorPage('client_disabled', known)
  // The client has changed its name or redirect host since, and the page would show the new one.
  if (authorization.createdAt < requestableFrom(client))
    return endedPage(context, 'client_changed', authorization.clientId)
  const { device, redirectUri } = authorization
  // The client has removed the redirect URI since.
  if (device === undefined && !client.metadata.redirect_uris.some((uri) => redirectUriMatches(uri, redirectUri)))
    return endedPage(context, 'redirect_uri_removed', authorization.clientId)
  const allowed = await evaluateAuthorized(context, client, authorization)
  if (allowed === 'refused') return endedPage(context, 'client_not_allowed', authorization.clientId)
  return { ...allowed, authorization, browserHash: browser, uiLocales: request.uiLocales }
}

/**
 * The page for a browser that did not start the request. One without a cookie of this server gets one: the cookie that another program of a loopback
 * host set for the path of the authorization alone no longer counts there then, and the next try works (threats.md AUTH-28). A form sets none: that of
 * another site comes without the cookies (threats.md AUTH-25).
 */
export function otherBrowser(context: Context, request: Request, known?: Known): Reply {
  const page = errorPage('browser_differs', known)
  return request.method === 'GET' ? { ...page, cookies: browserOf(context, request).cookies } : page
}

/** Returns the hash of the browser cookie; undefined if the cookie is missing or was not issued by this server. */
export function openBrowser(context: Context, request: Pick<Request, 'cookies'>): SecretHash | undefined {
  return openCookie(context, request.cookies, 'browser')?.hash
}

/** The browser of a request: the hash of its cookie, and the cookie to set if it has none that this server issued. */
export function browserOf(
  context: Context,
  request: Request,
): { readonly hash: SecretHash; readonly cookies: CookieChanges } {
  const known = openBrowser(context, request)
  if (known !== undefined) return { hash: known, cookies: {} }
  const { clockCheck, random, secrets } = context
  const browser = secrets.mint('browser', mintOrderedId(clockCheck.now(), random), random)
  return { hash: browser.hash, cookies: { browser } }
}

/** Whether another site's page submitted the form. Old browsers send no Sec-Fetch-Site; for them the CSRF token decides. */
export function isCrossSite(request: Request): boolean {
  return request.fetchSite !== undefined && request.fetchSite !== 'same-origin' && request.fetchSite !== 'none'
}
