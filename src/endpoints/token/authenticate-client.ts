import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { matchesClientSecret, readClientCredentials, type ClientCredentials } from '../../protocol/client-auth.ts'
import { invalidClient, OAuthError, tooManyRequests } from '../../protocol/errors.ts'

declare const proven: unique symbol

/** Only authenticateClient() makes one, so a function that asks for it cannot forget the check. */
export type AuthenticatedClient = ClientRecord & { readonly [proven]: true }

type Needs = Pick<Context, 'budgets' | 'clock' | 'report' | 'secrets'> & {
  readonly store: Pick<Context['store'], 'findClient'>
}

/**
 * Client authentication. RFC 6749 §2.3 and §3.2.1, RFC 7591 §2.
 *
 *  §2.3.1  By the form's `client_id` and `client_secret`, or by Basic; a client may use either for the secret it has.
 *  §3.2.1  A public client names itself by `client_id` and must not bring a secret.
 *
 * Failures are counted by network, and answered with 429 when there are too many. The right secret is never refused for
 * that: it cannot be guessed, so a lock-out would only help somebody who wants one.
 *
 * @throws OAuthError invalid_client, invalid_request, temporarily_unavailable
 */
export async function authenticateClient(context: Needs, request: Request): Promise<AuthenticatedClient> {
  try {
    const credentials = readClientCredentials(request.authorization, request.params)
    const client = await context.store.findClient(credentials.id)
    if (client === undefined) throw invalidClient('client_unknown', credentials.usedBasic)
    checkCredentials(client, credentials, context)
    if (client.disabledAt !== undefined) throw invalidClient('client_disabled', credentials.usedBasic)
    return client as AuthenticatedClient
  } catch (cause) {
    if (cause instanceof OAuthError && cause.code === 'invalid_client') countFailure(context, request.network)
    throw cause
  }
}

function checkCredentials(
  client: ClientRecord,
  credentials: ClientCredentials,
  { clock, report, secrets }: Pick<Needs, 'clock' | 'report' | 'secrets'>,
): void {
  if (client.secretHash === undefined) {
    if (credentials.kind === 'secret') throw invalidClient('client_secret_unexpected', credentials.usedBasic)
    return
  }
  if (credentials.kind === 'none') throw invalidClient('client_secret_missing', false)
  if (!matchesClientSecret(secrets, credentials.secret, client, clock())) {
    report({ event: 'client.authentication-failed', clientId: client.id })
    throw invalidClient('client_secret_wrong', credentials.usedBasic)
  }
}

/** Of a client or an API: refused with 429 when there are too many. @throws OAuthError temporarily_unavailable */
export function countFailure({ budgets, clock }: Pick<Needs, 'budgets' | 'clock'>, network: string): void {
  const outcome = budgets.take('client-authentication', network, clock())
  if (!outcome.isWithin) throw tooManyRequests('client-authentication', outcome)
}
