import type { ClientId } from '../ids.ts'
import type { Scope } from '../token/scope.ts'

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
  readonly client: { readonly id: ClientId; readonly metadata: { readonly redirectUris: readonly string[] } }
  readonly authorization: { readonly redirectUri: string; readonly scope: Scope }
}

/**
 * Whether the user is asked for no consent, and for no organization: the console is a part of this server, and learns nothing but who the
 * user is. The redirect URI is compared byte for byte, because another program of the computer could listen on another port.
 */
export function isOfConsole({ client, authorization }: ConsoleRequest): boolean {
  const { redirectUri, scope } = authorization
  return (
    client.id === CONSOLE_CLIENT_ID && client.metadata.redirectUris.includes(redirectUri) && scope === CONSOLE_SCOPE
  )
}
