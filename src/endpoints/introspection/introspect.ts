import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import type { GrantRecord } from '../../ports/records/grant.ts'
import {
  actorOf,
  audienceOf,
  confirmationOf,
  tokenTypeOf,
  type AccessTokenFacts,
} from '../../protocol/token/access-token.ts'
import { isConfidential } from '../../protocol/client/authentication.ts'
import { OAuthError } from '../../protocol/errors.ts'
import { toSeconds, type EpochMs } from '../../base/brand.ts'
import { identifierOf, isClientIdentifier } from '../../protocol/client/identifier.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { expiryOf, refreshExpiration } from '../../protocol/token/refresh-expiration.ts'
import type { IntrospectionAnswer, RefreshTokenAnswer, TokenClaims } from '../../protocol/token/introspection-answer.ts'
import { isOfApi } from '../../protocol/token/resource.ts'
import { checkToken, type End } from '../../tokens/inactive-reason.ts'
import { findToken, type FoundToken } from '../../tokens/find-token.ts'
import { findGroups } from '../../users/group-claim.ts'
import { authenticateCaller, type Caller } from '../token/authenticate-caller.ts'
import { readToken } from './read-token.ts'

/**
 * Token Introspection. RFC 7662 §2.
 *
 *  §2.1  The caller authenticates: an API with its credentials, or a client. A public client cannot, so it may not introspect tokens
 *        (threats.md INT-02).
 *  §2.2  If the token is inactive, or the caller may not see it, the response is only `active: false`.
 *  §2.2  `org_id` and `act` have the same values as in a JWT (decision 0005).
 *  §4    An API sees access tokens that name it in their audience. A client sees tokens that were issued to it.
 *
 * The state of the token is read from the store for every response, so a revocation takes effect on every node at once.
 *
 * @throws OAuthError invalid_client, invalid_request, unauthorized_client, temporarily_unavailable
 */
export async function introspect(context: Context, request: Request): Promise<Reply> {
  const token = readToken(request)
  const caller = await authenticateCaller(context, request)
  if (caller.kind === 'client' && !isConfidential(caller.client))
    throw new OAuthError('unauthorized_client', 'client_public', { status: 403 })
  const found = await findToken(context, token)
  const now = context.clock()
  const checked =
    found && (await mayKnow(context, caller, found)) ? await checkToken(context, found, now) : hidden(found)
  const reason = typeof checked === 'string' ? checked : undefined
  if (found !== undefined && reason !== undefined)
    context.inRequest(request.id, () => reportUse(context, caller, found, reason))
  const event: OutcomeEvent = {
    event: 'introspect.answered',
    client: caller.kind === 'client' ? caller.client.id : undefined,
    api: caller.kind === 'api' ? caller.api.resource : undefined,
    user: found === undefined ? undefined : principalsOf(found).userId,
    reason,
    active: reason === undefined,
  }
  if (typeof checked === 'string') return { kind: 'json', status: 200, body: { active: false }, event }
  return { kind: 'json', status: 200, body: await describe(context, checked, caller, now), event }
}

type FoundAccessToken = Extract<FoundToken, { kind: 'access' }>

/** Returns the response for an active token. */
async function describe(
  context: Context,
  found: FoundToken,
  caller: Caller,
  now: EpochMs,
): Promise<IntrospectionAnswer> {
  if (found.kind === 'access') return describeAccessToken(context, found, caller)
  return describeRefreshToken(found.grant, context.issuer, await findIdentifier(context, found.owner), now)
}

/** The reader of an answer. An API is undeclared where the server accepts every resource. */
type Reader =
  | { readonly kind: 'client' }
  | { readonly kind: 'api'; readonly api: Pick<ApiRecord, 'groups'> | undefined }

/**
 * Returns the response for an active access token. What only concerns the APIs of an opaque token is not for its client. The groups of the user
 * are those of now, and for the only API of a token.
 */
export async function describeAccessToken(
  context: Context,
  { facts, owner }: FoundAccessToken,
  reader: Reader,
): Promise<TokenClaims> {
  const client = await findIdentifier(context, owner)
  const subject = reader.kind === 'api' ? facts.applicationSubject : undefined
  const { organizationId, resources, userId } = facts
  const claim = reader.kind === 'api' && resources.length === 1 ? reader.api?.groups : undefined
  const groups =
    claim === undefined || userId === undefined
      ? undefined
      : await findGroups(context, claim, { userId, organizationId })
  const actor = actorOf(facts, client)
  const confirmation = confirmationOf(facts)
  const { acr, time } = facts.authentication ?? {}
  return {
    active: true,
    token_type: tokenTypeOf(facts),
    iss: context.issuer,
    aud: audienceOf(facts),
    sub: facts.userId ?? client,
    client_id: client,
    iat: facts.issuedAt,
    exp: facts.expiresAt,
    jti: facts.tokenId,
    ...(facts.scope === '' ? {} : { scope: facts.scope }),
    ...(facts.organizationId === undefined ? {} : { org_id: facts.organizationId }),
    ...(actor === undefined ? {} : { act: actor }),
    ...(subject === undefined ? {} : { application_subject: subject }),
    ...(confirmation === undefined ? {} : { cnf: confirmation }),
    ...(acr === undefined ? {} : { acr }),
    ...(time === undefined ? {} : { auth_time: time }),
    ...groups,
  }
}

/** `client` is the `client_id`. */
function describeRefreshToken(grant: GrantRecord, issuer: string, client: string, now: EpochMs): RefreshTokenAnswer {
  const expiry = expiryOf(grant)
  const { userId, organizationId, scope, createdAt, family } = grant
  return {
    active: true,
    iss: issuer,
    sub: userId,
    client_id: client,
    ...(organizationId === undefined ? {} : { org_id: organizationId }),
    iat: toSeconds(family?.rotatedAt ?? createdAt),
    exp: Math.min(toSeconds(expiry.expiresAt), toSeconds(expiry.idleExpiresAt)),
    ...refreshExpiration(expiry, now),
    ...(scope === '' ? {} : { scope }),
  }
}

/** Returns the `client_id` of a client. Only one whose record has another id takes another read, of a record that was just read. */
async function findIdentifier({ store }: Context, id: ClientId): Promise<string> {
  const client = isClientIdentifier(id) ? undefined : await store.findClient(id)
  return client === undefined ? id : identifierOf(client)
}

type Refusal = End | 'unknown' | 'for-another'

function hidden(found: FoundToken | undefined): Refusal {
  return found === undefined ? 'unknown' : 'for-another'
}

/** Reasons that do not mean that access was withdrawn. */
const USUAL: ReadonlySet<Refusal> = new Set(['expired', 'replaced', 'unknown', 'for-another'])

/** Records in the audit that an API received a token whose access was withdrawn. */
function reportUse({ report }: Context, caller: Caller, found: FoundToken, reason: Refusal): void {
  if (caller.kind === 'client' || USUAL.has(reason)) return
  const { clientId, userId, organizationId } = principalsOf(found)
  const details = { resource: caller.api.resource, reason }
  report({ event: 'introspection.inactive', clientId, userId, organizationId, details })
}

function principalsOf(found: FoundToken): Pick<AccessTokenFacts, 'clientId' | 'userId' | 'organizationId'> {
  return found.kind === 'access' ? found.facts : found.grant
}

async function mayKnow({ apis }: Context, caller: Caller, found: FoundToken): Promise<boolean> {
  if (caller.kind === 'client') return caller.client.id === found.owner
  if (found.kind !== 'access') return false
  const declared = await apis()
  return found.facts.resources.some((one) => isOfApi(one, caller.api.resource, declared))
}
