import type { CodeChallenge } from '../authorization/pkce.ts'
import type { ResponseMode } from '../authorization/response.ts'
import type { ClientId, OrganizationId } from '../ids.ts'
import type { UserClaim } from '../openid/user-claims.ts'
import type { Resource } from '../token/resource.ts'
import { NO_SCOPE, type Scope } from '../token/scope.ts'

/** Below which the console is, on the port of the administration. */
export const CONSOLE_PATH = '/console'

/**
 * The client by which people sign in to the console. Its id is the same on each server, so that all nodes create one client, and a rule can
 * name it. No other client can get it: the ids of others begin with the time.
 */
export const CONSOLE_CLIENT_ID = 'gci_000000000000AdministrationConsole0' as ClientId

/** The only scope of the console. What its user may do is read from the store, so no token carries a right. */
export const CONSOLE_SCOPE = 'openid' as Scope

/** The address of the console for browsers. `origin`: of the console. */
export function consoleAddress(origin: string): string {
  return `${origin}${CONSOLE_PATH}`
}

/** Where the browser brings the code. `origin`: of the console. */
export function consoleCallback(origin: string): string {
  return `${origin}${CONSOLE_PATH}/callback`
}

/** A request as it was stored. */
interface ConsoleRequest {
  readonly client: { readonly id: ClientId; readonly metadata: { readonly redirect_uris: readonly string[] } }
  readonly authorization: {
    readonly redirectUri: string
    readonly responseMode: ResponseMode
    readonly codeChallenge: CodeChallenge | undefined
    readonly scope: Scope
    readonly ungrantedScope: Scope
    readonly resources: readonly Resource[]
    readonly mustConsent: boolean
    readonly organizationId: OrganizationId | undefined
    readonly openid: { readonly idTokenClaims: readonly UserClaim[] } | undefined
    readonly device: object | undefined
  }
}

/**
 * Whether a request is that of the console itself, so that a user with a role is asked for no consent, and for no organization. The
 * redirect URI is compared byte for byte, because another program of the computer could listen on another port. On a loopback address that
 * program can listen where the console does on another computer, so nothing is implied but who the user is: no API, no claim, no other
 * scope (threats.md CON-13).
 */
export function isOfConsole({ client, authorization }: ConsoleRequest): boolean {
  const { redirectUri, responseMode, codeChallenge, scope, ungrantedScope, resources } = authorization
  const { mustConsent, organizationId, openid, device } = authorization
  return (
    client.id === CONSOLE_CLIENT_ID &&
    client.metadata.redirect_uris.includes(redirectUri) &&
    responseMode === 'query' &&
    codeChallenge !== undefined &&
    scope === CONSOLE_SCOPE &&
    ungrantedScope === NO_SCOPE &&
    resources.length === 0 &&
    openid?.idTokenClaims.length === 0 &&
    organizationId === undefined &&
    device === undefined &&
    !mustConsent
  )
}
