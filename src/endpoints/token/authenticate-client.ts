import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { matchesClientSecret, readClientCredentials, type ClientCredentials } from '../../protocol/client-auth.ts'
import { invalidClient, OAuthError, tooManyRequests } from '../../protocol/errors.ts'

declare const proven: unique symbol

/** Only `authenticateClient` returns this type, so a function that requires it cannot skip authentication. */
export type AuthenticatedClient = ClientRecord & { readonly [proven]: true }

type Needs = Pick<Context, 'budgets' | 'clock' | 'report' | 'secrets'> & {
  readonly store: Pick<Context['store'], 'findClient'>
}

/**
 * Client authentication. RFC 6749 §2.3 and §3.2.1, RFC 7591 §2.
 *
 *  §2.3.1  A client with a secret sends it in the form (`client_id` and `client_secret`) or by Basic. Either is accepted.
 *  §3.2.1  A public client sends `client_id` and must not send a secret.
 *
 * Failures are counted by network. Too many cause a 429. A correct secret is always accepted: a secret cannot be guessed, so a
 * lock-out would only help an attacker who wants to lock the client out.
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

/** Counts a failed authentication of a client or an API. @throws OAuthError temporarily_unavailable, with 429, if there are too many */
export function countFailure({ budgets, clock }: Pick<Needs, 'budgets' | 'clock'>, network: string): void {
  const outcome = budgets.take('client-authentication', network, clock())
  if (!outcome.isWithin) throw tooManyRequests('client-authentication', outcome)
}
