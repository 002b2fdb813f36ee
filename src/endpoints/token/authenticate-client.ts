import { originOf } from '../../protocol/audit/origin.ts'
import type { SignatureOutcome } from '../../ports/client-signatures.ts'
import type { Context } from '../../ports/context.ts'
import type { Request } from '../../ports/message.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { isBlockedHost } from '../../clients/evaluate-client.ts'
import { findAssertionFault, rememberUntil, type ClientAssertion } from '../../protocol/client/assertion.ts'
import {
  findSlowSecret,
  foreignHashOf,
  GIVEN_SECRET_FORM,
  hashGivenSecret,
  isConfidential,
  isGuessable,
  matchesClientSecret,
  readClientCredentials,
  type ClientCredentials,
  type PresentedSecret,
} from '../../protocol/client/authentication.ts'
import { clientKeys, isSameAlgorithm, type ClientKeys } from '../../protocol/client/keys.ts'
import { followsFapi } from '../../protocol/client/policy.ts'
import { isFapiAlgorithm } from '../../protocol/token/dpop-proof.ts'
import { invalidClient, OAuthError, tooManyRequests, unavailable } from '../../protocol/errors.ts'
import { describeUri } from '../../protocol/uri/canonical-uri.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { findClient } from '../../clients/find-client.ts'
import { StoreUnavailable } from '../../ports/store.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { HashFormat } from '../../protocol/sign-in/password-formats.ts'
import { PATHS } from '../paths.ts'
import { takeStoredTokenBudget } from './stored-tokens.ts'

declare const proven: unique symbol

/** Only `authenticateClient` returns this type, so a function that requires it cannot skip authentication. */
export type AuthenticatedClient = ClientRecord & { readonly [proven]: true }

type Endpoint = 'push' | 'assertion' | 'other'

/** The `Retry-After` of a response when the keys or the metadata document of the client cannot be fetched. */
const FETCH_RETRY_SECONDS = 5

/**
 * Client authentication. RFC 6749 §2.3 and §3.2.1, RFC 7521 §4.2, RFC 7591 §2.
 *
 *  §2.3.1  A client with a secret sends it in the form (`client_id` and `client_secret`) or by Basic. Either is accepted.
 *  §3.2.1  A public client sends `client_id` and must not send a secret.
 *  RFC 7523 §2.2  A client with keys sends an assertion, each of which is accepted once.
 *
 * A client authenticates only as it registered. Failures are counted by network. Too many cause a 429. A correct secret is always
 * accepted: a secret cannot be guessed, so a lock-out would only help an attacker who wants to lock the client out. The
 * exception is a secret whose hash another system has made: verifying it takes long, so it waits while the network has no failures left.
 *
 * `push` and `assertion`: the request, with parameters or an identity assertion, may be the first one of the client, so a metadata document
 * is fetched. `push`: the address of the endpoint may be the audience of a client assertion (RFC 9126 §2).
 *
 * @throws OAuthError invalid_client, invalid_request, temporarily_unavailable
 */
export async function authenticateClient(
  context: Context,
  request: Request,
  endpoint: Endpoint = 'other',
): Promise<AuthenticatedClient> {
  let client: ClientRecord | undefined
  try {
    const credentials = readClientCredentials(request.authorization, request.params)
    client = await findPresented(context, credentials, request, endpoint)
    if (client === undefined) throw invalidClient('client_unknown', credentials.usedBasic)
    const keys = clientKeys(client.metadata)
    if (keys === undefined) {
      if (!isSecretRight(client, credentials, context)) await checkSlowSecret(client, credentials, context, request)
    } else {
      requireFapiAssertion(context, client, credentials)
      await checkSignature(client, keys, credentials, context, request)
    }
    if (client.disabledAt !== undefined) throw invalidClient('client_disabled', credentials.usedBasic)
    if (credentials.kind === 'assertion') await consume(client, credentials.assertion, context, request)
    return client as AuthenticatedClient
  } catch (cause) {
    if (cause instanceof OAuthError) {
      cause.client ??= client?.id
      if (cause.code === 'invalid_client') countFailure(context, request.network)
    }
    throw cause
  }
}

/**
 * Finds the client of a request. The keys of a client with a metadata document are those of its current document, which is therefore
 * fetched if it is not fresh. It says nothing new about a client without keys, so that one is only read, except where it starts.
 */
function findPresented(
  context: Context,
  credentials: ClientCredentials,
  { network, params }: Request,
  endpoint: Endpoint,
): Promise<ClientRecord | undefined> {
  if (credentials.kind === 'assertion') return findAsserted(context, credentials.assertion, network, endpoint)
  const named = endpoint !== 'other' && credentials.kind === 'none' ? params.get('client_id') : undefined
  return named === undefined ? context.store.findClient(credentials.id) : findCurrent(context, named, network)
}

async function findAsserted(
  context: Context,
  assertion: ClientAssertion,
  network: string,
  endpoint: Endpoint,
): Promise<ClientRecord | undefined> {
  await checkClaims(assertion, context, endpoint)
  return findCurrent(context, assertion.clientId, network)
}

async function findCurrent(context: Context, text: string, network: string): Promise<ClientRecord | undefined> {
  const lookup = await findClient(context, text, network)
  switch (lookup.kind) {
    case 'found':
      return lookup.client
    case 'unknown':
      return undefined
    case 'refused':
      throw invalidClient('client_not_allowed', false)
    case 'limited':
      throw unavailable('own_limit', lookup.retryAfterSeconds)
    case 'unavailable':
    case 'unacceptable':
      // Not invalid_client: SDKs throw their tokens away for it (real-clients.md), and the document may be corrected.
      throw unavailable('client_document_unavailable', FETCH_RETRY_SECONDS)
  }
}

/** RFC 7523 §3. Before the client is looked for, because that may send a request, and takes more time. */
async function checkClaims(
  assertion: ClientAssertion,
  { clock, issuer, notBefore }: Context,
  endpoint: Endpoint,
): Promise<void> {
  const own = endpoint === 'push' ? [addressOf(issuer, PATHS.par)] : []
  const audiences = [issuer, addressOf(issuer, PATHS.token), ...own]
  const fault = findAssertionFault(assertion, { audiences, now: clock(), notBefore: await notBefore() })
  if (fault !== undefined) throw invalidClient(fault, false)
}

/** FAPI 2.0 Security Profile §5.3.2.1 and §5.4: the only audience is the issuer, a text, and the algorithm is one of the profile. */
function requireFapiAssertion({ issuer }: Context, client: ClientRecord, credentials: ClientCredentials): void {
  if (credentials.kind !== 'assertion' || !followsFapi(client)) return
  const { algorithm, audience } = credentials.assertion
  if (audience !== issuer) throw invalidClient('assertion_audience', false)
  if (!isFapiAlgorithm(algorithm)) throw invalidClient('assertion_algorithm', false)
}

/** Whether the client authenticates by a secret of this server or one that it was given, or has none. */
function isSecretRight(client: ClientRecord, credentials: ClientCredentials, { clock, secrets }: Context): boolean {
  if (credentials.kind === 'assertion') throw invalidClient('assertion_unexpected', false)
  if (!isConfidential(client)) {
    if (credentials.kind === 'secret') throw invalidClient('client_secret_unexpected', credentials.usedBasic)
    return true
  }
  if (credentials.kind === 'none') throw invalidClient('client_secret_missing', false)
  return matchesClientSecret(secrets, credentials, client, clock())
}

/**
 * Compares the secret with the hash that another system has made, if the client has one. The first right secret replaces
 * the hash, so the client is verified slowly once.
 */
async function checkSlowSecret(
  client: ClientRecord,
  credentials: ClientCredentials,
  context: Context,
  request: Caller,
): Promise<void> {
  const hash = findSlowSecret(client, context.clock())
  const right =
    hash === undefined || credentials.kind !== 'secret'
      ? undefined
      : await findRight(context, credentials, foreignHashOf(hash), request.network)
  if (hash === undefined || right === undefined) {
    reportFailure(context, client, request)
    throw invalidClient('client_secret_wrong', credentials.usedBasic)
  }
  if (client.disabledAt === undefined) await upgradeSecret(context, client, hash, right)
}

/** Who presents the credentials of a client. */
type Caller = Pick<Request, 'agent' | 'callerNetwork' | 'id' | 'network'>

function reportFailure({ report }: Context, { id: clientId }: ClientRecord, { agent, callerNetwork }: Caller): void {
  report({ event: 'client.authentication-failed', clientId }, originOf(agent, callerNetwork))
}

/** A text that is the secret, and the format of its hash; undefined: the hash does not cover all of the text. */
interface RightSecret {
  readonly text: string
  readonly format: HashFormat | undefined
}

/**
 * Verifies the secret as Basic decoded it and as it was sent, in the pool of passwords. Meanwhile the request counts as a failure, so wrong
 * secrets, also concurrent ones, cause no more work than the network has failures (threats.md CID-04).
 */
async function findRight(
  context: Context,
  { secret, secretAsSent }: PresentedSecret,
  hash: string,
  network: string,
): Promise<RightSecret | undefined> {
  countFailure(context, network)
  try {
    for (const text of new Set([secret, secretAsSent])) {
      const { isRight, replaceable: format } = await context.passwords.verify(text, hash, network)
      if (isRight) return { text, format }
    }
    return undefined
  } finally {
    context.budgets.giveBack('client-authentication', network, context.clock(), network)
  }
}

/** Replaces the hash. That of a secret that can be guessed stays, so that guesses stay limited. The client is authenticated in any case. */
async function upgradeSecret(
  { record, secrets, store }: Context,
  { id }: ClientRecord,
  previous: SecretHash,
  { text, format }: RightSecret,
): Promise<void> {
  const failed = (reason: string) => record({ event: 'client.secret-upgrade-failed', client: id, reason })
  if (format === undefined) return failed('compared-in-part')
  if (!GIVEN_SECRET_FORM.test(text) || isGuessable(text)) return failed('guessable')
  try {
    // Another outcome than `changed` means that the hash was replaced meanwhile, or the secret was.
    await store.upgradeClientSecret({ id, previous, secretHash: hashGivenSecret(secrets, id, text), format })
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause
    failed('store_unavailable')
  }
}

/** RFC 7523 §3. The claims were checked before. */
async function checkSignature(
  client: ClientRecord,
  keys: ClientKeys,
  credentials: ClientCredentials,
  context: Context,
  request: Caller,
): Promise<void> {
  const { id: requestId, network } = request
  if (credentials.kind !== 'assertion') throw invalidClient('assertion_missing', credentials.usedBasic)
  const { assertion } = credentials
  const payer = JSON.stringify([network, client.id])
  const logUnavailable = (reason: string): void => {
    const uri = keys.kind === 'jwks_uri' ? describeUri(keys.uri) : undefined
    const event = { event: 'client.keys-unavailable', client: client.id, uri, reason } as const
    context.inRequest(requestId, () => context.record(event))
  }
  const outcome = await countUnverified(context, payer, network, () => verify(context, keys, assertion, network))
  switch (outcome.kind) {
    case 'verified':
      return
    case 'wrong':
    case 'ambiguous':
      reportFailure(context, client, request)
      throw invalidClient(outcome.kind === 'wrong' ? 'assertion_wrong' : 'assertion_key_unnamed', false)
    case 'keys-unavailable':
      logUnavailable(outcome.reason)
      // Not invalid_client, upon which clients throw their registration away.
      throw unavailable('keys_unavailable', FETCH_RETRY_SECONDS)
    case 'limited':
      logUnavailable(outcome.reason)
      throw unavailable('own_limit', outcome.retryAfterSeconds)
  }
}

async function verify(
  context: Context,
  keys: ClientKeys,
  assertion: ClientAssertion,
  network: string,
): Promise<SignatureOutcome> {
  if (keys.algorithm !== undefined && !isSameAlgorithm(keys.algorithm, assertion.algorithm)) return { kind: 'wrong' }
  if (keys.kind === 'jwks_uri' && (await isBlockedHost(context, keys.uri))) {
    return { kind: 'keys-unavailable', reason: 'host-blocked' }
  }
  return context.clientSignatures.verify(assertion, keys, network)
}

/** Accepts the assertion once, on all nodes. RFC 7523 §3, RFC 7519 §4.1.7. */
async function consume(
  client: ClientRecord,
  assertion: ClientAssertion,
  context: Context,
  request: Caller,
): Promise<void> {
  takeStoredTokenBudget(context, client, request.network, 'client-assertion')
  const digest = context.secrets.digest('client-assertion', [client.id, assertion.id])
  const expiresAt = rememberUntil(assertion, context.clock())
  if ((await context.store.consumeOnce([{ digest, expiresAt }])) === 'fresh') return
  reportFailure(context, client, request)
  throw invalidClient('assertion_replayed', false)
}

/** Runs the part of a request for which the client is known. A refusal names it in the log. */
export async function asClient<Result>(client: ClientRecord, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof OAuthError) cause.client = client.id
    throw cause
  }
}

/**
 * Verifies a signature that a caller without the key can make the server verify. What is not verified is counted for `payer`, which is a part
 * of the network. After a failure the next signatures are counted before they are verified, and those that are right given back, so wrong
 * ones cause no more verifications than the payer has failures. Until then they are counted after, so that a client with many requests at
 * once gets no 429 (threats.md CA-15).
 *
 * @throws OAuthError temporarily_unavailable
 */
export async function countUnverified<Outcome extends { readonly kind: string }>(
  context: Context,
  payer: string,
  network: string,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const isFailing = context.budgets.isUsed('client-authentication', payer, context.clock())
  if (isFailing) countFailure(context, payer)
  const outcome = await work()
  const isVerified = outcome.kind === 'verified'
  if (isFailing && isVerified) context.budgets.giveBack('client-authentication', payer, context.clock(), network)
  if (!isFailing && !isVerified) countFailure(context, payer)
  return outcome
}

/** Counts a failed authentication of a client or an API. @throws OAuthError temporarily_unavailable, with 429, if there are too many */
export function countFailure({ budgets, clock }: Context, network: string): void {
  const outcome = budgets.take('client-authentication', network, clock())
  if (!outcome.isWithin) throw tooManyRequests('client-authentication', outcome)
}
