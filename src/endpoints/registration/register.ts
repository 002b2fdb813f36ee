import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { InitialTokenRecord } from '../../ports/records/initial-token.ts'
import { newClient, registrationOrigin, withTemplate } from '../../clients/new-client.ts'
import { reportDormant } from '../../clients/registration-policy.ts'
import { after } from '../../base/brand.ts'
import type { ClientMetadata } from '../../protocol/client/members.ts'
import { mintOrderedId } from '../../protocol/ids.ts'
import { offersRegistration } from '../../protocol/client/policy.ts'
import { invalidRequest } from '../../protocol/errors.ts'
import type { SingleKind } from '../../protocol/secrets.ts'
import { canonicalMetadata } from '../../protocol/client/shared-client.ts'
import { takeNewClient } from './new-client-budgets.ts'
import { readInitialToken, rejectInitialToken } from './initial-token.ts'
import { describeRegistration, type ShownCredentials } from './response.ts'
import { readRegistrationRequest, requireAllowed, takeRegistrationBudget } from './request.ts'

/**
 * Dynamic client registration. RFC 7591 §3; the specification, "Register OAuth client".
 *
 *  §3      Any caller may register a client, unless the operator closed registration, or requires an initial access token. Such a
 *          token can be presented in any case; its template then applies.
 *  §3.1    Every field is optional.
 *  §2      Unsupported values are omitted from the response. Dangerous values cause an error (decision 0005).
 *  §3.2.1  The response is 201 with all registered metadata and the secret, which is not shown again. A client with a secret
 *          or with an initial access token also receives a registration access token (RFC 7592 §3).
 *  §3.2.2  An error is 400, or 422 if a value has the wrong type. It lists all problems at once.
 *
 * @throws OAuthError invalid_client_metadata, invalid_redirect_uri, invalid_request, invalid_token, temporarily_unavailable
 */
export async function register(context: Context, request: Request): Promise<Reply> {
  if (!offersRegistration(context.settings)) throw invalidRequest('registration_closed', { status: 404 })
  const token = await readInitialToken(context, request)
  takeRegistrationBudget(context, request.network)
  const limits = token?.template
  const origin = registrationOrigin(token, context.clock())
  const { metadata, echo } = await readRegistrationRequest(context, request.body, () => [], limits, origin)
  const registered = await registerAs(context, metadata, token, request.network)
  const { id, issuedAt } = registered.client
  reportDormant(context, { id, metadata })
  const body = describeRegistration(context.issuer, { id, issuedAt, metadata }, registered, echo)
  const event = registered.isRepeated ? 'client.registration-repeated' : 'client.registered'
  return { kind: 'json', status: 201, body, event: { event, client: registered.client.id } }
}

interface Registered extends ShownCredentials {
  readonly client: ClientRecord
  readonly isRepeated: boolean
}

function registerAs(
  context: Context,
  metadata: ClientMetadata,
  token: InitialTokenRecord | undefined,
  network: string,
): Promise<Registered> {
  if (token !== undefined) return registerWithToken(context, metadata, token, network)
  return metadata.token_endpoint_auth_method === 'none'
    ? registerPublic(context, metadata, network)
    : registerConfidential(context, metadata, network)
}

async function registerConfidential(context: Context, metadata: ClientMetadata, network: string): Promise<Registered> {
  const minted = mintClient(context, metadata)
  await requireAllowed(context, minted.client, 'enter')
  takeNewClient(context, metadata, network)
  await context.store.registerClient(minted.client)
  return minted
}

/**
 * Registers a client with an initial access token. A public client is not shared with others that have the same metadata: the
 * caller is known, so each registration is a client of its own, which the caller manages.
 */
async function registerWithToken(
  context: Context,
  metadata: ClientMetadata,
  { id, template }: InitialTokenRecord,
  network: string,
): Promise<Registered> {
  const minted = mintClient(context, metadata)
  const now = context.clockCheck.now()
  const client = withTemplate(minted.client, { id, template }, now)
  await requireAllowed(context, client, 'enter')
  const registration = { client, tokenId: id, now, isKept: template.unused === 'keep' }
  if ((await context.store.registerWithToken(registration)) !== 'registered') throw rejectInitialToken(context, network)
  return { ...minted, client }
}

/** Returns a client with its own credentials. A public one has no secret, and manages itself. */
function mintClient(context: Context, metadata: ClientMetadata): Registered {
  const now = context.clockCheck.now()
  const mint = (kind: SingleKind) => context.secrets.mint(kind, mintOrderedId(now, context.random), context.random)
  const secret = metadata.token_endpoint_auth_method === 'none' ? undefined : mint('client-secret')
  const management = mint('management-token')
  const client = {
    ...newClient(context, now, metadata, 'registration'),
    secretHash: secret?.hash,
    managementHash: management.hash,
  }
  // A client with keys has a secret too, which is never shown. A client that changes from keys to a secret rotates it.
  const shown = metadata.token_endpoint_auth_method === 'private_key_jwt' ? undefined : secret?.token
  return { client, secret: shown, managementToken: management.token, isRepeated: false }
}

/**
 * Registers a public client, or returns the existing one with the same metadata (decision 0021), because many programs
 * register at every start. Such a client has no owner, so it gets no registration access token. The server keeps it for
 * another lifetime of unused clients, so that the sweep does not remove it right after the answer.
 */
async function registerPublic(context: Context, metadata: ClientMetadata, network: string): Promise<Registered> {
  const now = context.clockCheck.now()
  const dedupeKey = context.secrets.digest('shared-client', [canonicalMetadata(metadata)])
  const own = { ...newClient(context, now, metadata, 'registration'), dedupeKey }
  await requireAllowed(context, own, 'enter')
  const retainUntil = after(now, context.settings.lifetimes.unusedClient * 1000)
  // A client that this node returned lately is stored, so that its programs register while the budgets of new clients are used up.
  const isKnown = context.sharedKeys.get(dedupeKey) === true
  const giveBack = isKnown ? undefined : takeNewClient(context, metadata, network)
  const client = await context.store.registerPublicClient({ client: own, retainUntil })
  context.sharedKeys.set(dedupeKey, true)
  const isRepeated = client.id !== own.id
  if (isRepeated) giveBack?.()
  return { client, secret: undefined, managementToken: undefined, isRepeated }
}
