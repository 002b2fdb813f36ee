import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { findAssertionFault, rememberUntil, type ClientAssertion } from '../../protocol/client-assertion.ts'
import {
  isConfidential,
  matchesClientSecret,
  readClientCredentials,
  type ClientCredentials,
} from '../../protocol/client-auth.ts'
import type { ClientKeys } from '../../protocol/client-keys.ts'
import { invalidClient, OAuthError, tooManyRequests } from '../../protocol/errors.ts'
import { addressOf, PATHS } from '../paths.ts'
import { takeStoredTokenBudget } from './stored-tokens.ts'

declare const proven: unique symbol

/** Only `authenticateClient` returns this type, so a function that requires it cannot skip authentication. */
export type AuthenticatedClient = ClientRecord & { readonly [proven]: true }

type Needs = Pick<Context, 'budgets' | 'clientSignatures' | 'clock' | 'issuer' | 'notBefore' | 'report' | 'secrets'> & {
  readonly store: Pick<Context['store'], 'consumeOnce' | 'findClient'>
}

/**
 * Client authentication. RFC 6749 §2.3 and §3.2.1, RFC 7521 §4.2, RFC 7591 §2.
 *
 *  §2.3.1  A client with a secret sends it in the form (`client_id` and `client_secret`) or by Basic. Either is accepted.
 *  §3.2.1  A public client sends `client_id` and must not send a secret.
 *  RFC 7523 §2.2  A client with keys sends an assertion, each of which is accepted once (decision 0025).
 *
 * A client authenticates only as it registered. Failures are counted by network. Too many cause a 429. A correct secret is always
 * accepted: a secret cannot be guessed, so a lock-out would only help an attacker who wants to lock the client out.
 *
 * @throws OAuthError invalid_client, invalid_request, temporarily_unavailable
 */
export async function authenticateClient(context: Needs, request: Request): Promise<AuthenticatedClient> {
  try {
    const credentials = readClientCredentials(request.authorization, request.params)
    const client = await context.store.findClient(credentials.id)
    if (client === undefined) throw invalidClient('client_unknown', credentials.usedBasic)
    if (client.metadata.keys === undefined) checkSecret(client, credentials, context)
    else await checkSignature(client, client.metadata.keys, credentials, context)
    if (client.disabledAt !== undefined) throw invalidClient('client_disabled', credentials.usedBasic)
    if (credentials.kind === 'assertion') await consume(client, credentials.assertion, context)
    return client as AuthenticatedClient
  } catch (cause) {
    if (cause instanceof OAuthError && cause.code === 'invalid_client') countFailure(context, request.network)
    throw cause
  }
}

function checkSecret(
  client: ClientRecord,
  credentials: ClientCredentials,
  { clock, report, secrets }: Pick<Needs, 'clock' | 'report' | 'secrets'>,
): void {
  if (credentials.kind === 'assertion') throw invalidClient('assertion_unexpected', false)
  if (!isConfidential(client)) {
    if (credentials.kind === 'secret') throw invalidClient('client_secret_unexpected', credentials.usedBasic)
    return
  }
  if (credentials.kind === 'none') throw invalidClient('client_secret_missing', false)
  if (!matchesClientSecret(secrets, credentials.secret, client, clock())) {
    report({ event: 'client.authentication-failed', clientId: client.id })
    throw invalidClient('client_secret_wrong', credentials.usedBasic)
  }
}

/** RFC 7523 §3. The claims are compared first, because that costs less than a signature. */
async function checkSignature(
  client: ClientRecord,
  keys: ClientKeys,
  credentials: ClientCredentials,
  { clientSignatures, clock, issuer, notBefore, report }: Needs,
): Promise<void> {
  if (credentials.kind !== 'assertion') throw invalidClient('assertion_missing', credentials.usedBasic)
  const { assertion } = credentials
  const audiences = [issuer, addressOf(issuer, PATHS.token)]
  const fault = findAssertionFault(assertion, { audiences, now: clock(), notBefore: await notBefore() })
  if (fault !== undefined) throw invalidClient(fault, false)
  const isRegistered = (keys.algorithm ?? assertion.algorithm) === assertion.algorithm
  if (isRegistered && (await clientSignatures.verify(assertion, keys))) return
  report({ event: 'client.authentication-failed', clientId: client.id })
  throw invalidClient('assertion_wrong', false)
}

/** Accepts the assertion once, on all nodes. RFC 7523 §3, RFC 7519 §4.1.7. */
async function consume(client: ClientRecord, assertion: ClientAssertion, context: Needs): Promise<void> {
  takeStoredTokenBudget(context, client, client.id, 'client-assertion')
  const digest = context.secrets.digest('client-assertion', [client.id, assertion.id])
  if ((await context.store.consumeOnce([{ digest, expiresAt: rememberUntil(assertion) }])) === 'fresh') return
  context.report({ event: 'client.authentication-failed', clientId: client.id })
  throw invalidClient('assertion_replayed', false)
}

/** Counts a failed authentication of a client or an API. @throws OAuthError temporarily_unavailable, with 429, if there are too many */
export function countFailure({ budgets, clock }: Pick<Needs, 'budgets' | 'clock'>, network: string): void {
  const outcome = budgets.take('client-authentication', network, clock())
  if (!outcome.isWithin) throw tooManyRequests('client-authentication', outcome)
}
