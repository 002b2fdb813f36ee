import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { parseAuthorizationId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { identityStart } from './remembered-consent.ts'
import { errorPage } from '../error-page.ts'

/** An authorization that waits for the person in the browser that started it, or was just approved there. */
export interface Interaction {
  readonly authorization: AuthorizationRecord
  readonly client: ClientRecord
  readonly browserHash: SecretHash
  readonly uiLocales: string | undefined
}

type Needs = Pick<Context, 'clockCheck' | 'secrets'> & {
  readonly store: Pick<Context['store'], 'findAuthorization' | 'findClient'>
}

/** What a page is shown for: the person has not decided yet. */
export async function findOpenInteraction(context: Needs, request: Request): Promise<Interaction | Reply> {
  const interaction = await findInteraction(context, request)
  if ('kind' in interaction) return interaction
  return interaction.authorization.status.kind === 'pending' ? interaction : errorPage('already-completed')
}

/**
 * Finds the authorization that a form's `authorization` parameter names, or the page that says why not. It may be approved
 * already: a form that is sent twice is answered twice.
 */
export async function findInteraction(context: Needs, request: Request): Promise<Interaction | Reply> {
  const id = parseAuthorizationId(request.params.get('authorization') ?? '')
  const authorization = id === undefined ? undefined : await context.store.findAuthorization(id)
  if (authorization === undefined) return errorPage('expired')
  const browser = openBrowser(context, request)
  // RFC 9700 §4.5: whoever got hold of the address cannot go on in another browser (threats.md AUTH-21).
  if (browser !== authorization.browserHash) return errorPage('other-browser')
  const { kind } = authorization.status
  if (kind !== 'pending' && kind !== 'approved') return errorPage('already-completed')
  if (authorization.expiresAt <= context.clockCheck.now()) return errorPage('expired')
  const client = await context.store.findClient(authorization.clientId)
  if (client === undefined || client.disabledAt !== undefined) return errorPage('client-unknown')
  // The person would be shown another client than the one that asked.
  if (authorization.createdAt < identityStart(client)) return errorPage('expired')
  return { authorization, client, browserHash: browser, uiLocales: request.uiLocales }
}

/** The hash of the browser's cookie, if it is one of ours. */
export function openBrowser(context: Pick<Context, 'secrets'>, request: Request): SecretHash | undefined {
  const cookie = request.cookies.browser
  return cookie === undefined ? undefined : context.secrets.verify('browser', cookie)?.hash
}

/** Whether a form was posted by another site's page. Old browsers do not say; they have the token. */
export function isCrossSite(request: Request): boolean {
  return request.fetchSite !== undefined && request.fetchSite !== 'same-origin' && request.fetchSite !== 'none'
}
