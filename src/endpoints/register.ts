import type { Context } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import type { ClientRecord } from '../ports/records.ts'
import { toSeconds } from '../protocol/brand.ts'
import { describeMetadata, readRegistration } from '../protocol/client-metadata.ts'
import { OAuthError, tooManyRequests } from '../protocol/errors.ts'
import { mintClientId, mintOrderedId } from '../protocol/ids.ts'
import { readJson } from '../protocol/json.ts'
import type { SealedCredential } from '../protocol/secrets.ts'
import { findOffers, offersScope } from './offers.ts'

type Needs = Pick<Context, 'apis' | 'budgets' | 'clock' | 'issuer' | 'random' | 'secrets' | 'settings'> & {
  readonly store: Pick<Context['store'], 'registerClient'>
}

/**
 * Dynamic client registration. RFC 7591 §3; the spec, "Register OAuth client".
 *
 *  §3.1    Anybody may register; every field is optional.
 *  §2      What is not offered is left out of the answer; what is dangerous refuses the whole request (decisions.md D2).
 *  §3.2.1  201 with everything that was registered, the secret included: it is never shown again.
 *  §3.2.2  400, or 422 where the shape is wrong, naming every fault at once.
 *
 * @throws OAuthError invalid_client_metadata, invalid_redirect_uri, temporarily_unavailable
 */
export async function register(context: Needs, request: Request): Promise<Reply> {
  const now = context.clock()
  takeBudget(context, request.network)
  const json = readJson(request.body)
  if (json.kind === 'malformed') {
    throw new OAuthError('invalid_client_metadata', 'json_malformed', { status: json.status, problems: [json.problem] })
  }
  const offers = await findOffers(context)
  const reading = readRegistration(json.value, {
    schemes: context.settings.redirectSchemes,
    ownOrigin: new URL(context.issuer).origin,
    offersScope: (token) => offersScope(offers, token),
  })
  if (reading.kind === 'malformed') {
    throw new OAuthError('invalid_client_metadata', 'metadata_malformed', { status: 422, problems: reading.problems })
  }
  if (reading.kind === 'not-allowed') {
    const { problems } = reading
    throw reading.redirectUriAtFault
      ? new OAuthError('invalid_redirect_uri', 'redirect_uri_not_allowed', { problems })
      : new OAuthError('invalid_client_metadata', 'metadata_not_allowed', { problems })
  }

  const { metadata, nulls } = reading
  const id = mintClientId(now, context.random)
  const secret =
    metadata.authMethod === 'none'
      ? undefined
      : context.secrets.seal('client-secret', mintOrderedId(now, context.random), context.random)
  const client: ClientRecord = {
    id,
    issuedAt: toSeconds(now),
    secretHash: secret?.hash,
    metadata,
    usedAt: undefined,
    verifiedAt: undefined,
    disabledAt: undefined,
  }
  await context.store.registerClient(client)
  const body = describeClient(client, secret, nulls)
  return { kind: 'json', status: 201, body, event: { event: 'client.registered', client: id } }
}

function takeBudget(context: Pick<Context, 'budgets' | 'clock'>, network: string): void {
  const outcome = context.budgets.take('registration', network, context.clock())
  if (!outcome.isWithin) throw tooManyRequests('registration', outcome)
}

/** RFC 7591 §3.2.1. A field that was not given is absent; null only where the caller sent it (clients.md). */
function describeClient(
  { id, issuedAt, metadata }: ClientRecord,
  secret: SealedCredential | undefined,
  nulls: readonly string[],
): Readonly<Record<string, unknown>> {
  return {
    client_id: id,
    ...(secret === undefined ? {} : { client_secret: secret.token }),
    client_id_issued_at: issuedAt,
    // RFC 7591 §3.2.1: 0 is "does not expire", and the member belongs to the secret.
    ...(secret === undefined ? {} : { client_secret_expires_at: 0 }),
    ...describeMetadata(metadata),
    ...(nulls.length === 0 ? {} : Object.fromEntries(nulls.map((field) => [field, null]))),
  }
}
