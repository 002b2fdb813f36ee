import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { AccessTokenFacts, IssuedToken } from '../../protocol/token/access-token.ts'
import {
  DEVICE_CODE,
  isForClients,
  JWT_BEARER,
  type ClientGrantType,
  type GrantType,
} from '../../protocol/token/grant-types.ts'
import type { DpopProof } from '../../protocol/token/dpop-proof.ts'
import { describeUri } from '../../protocol/uri/canonical-uri.ts'
import { invalidRequest, OAuthError, unauthorizedClient } from '../../protocol/errors.ts'
import { listed, REFUSALS } from '../../protocol/refusals.ts'
import type { Parameters } from '../../base/message.ts'
import { missing, problem } from '../../base/validation.ts'
import { authenticateCaller } from './authenticate-caller.ts'
import { authenticateClient, type AuthenticatedClient } from './authenticate-client.ts'
import { refuseQuery, refuseRepeated } from '../form.ts'
import { PATHS } from '../paths.ts'
import { GRANTS } from './grants/index.ts'
import { exchangeToken } from './grants/token-exchange.ts'
import { readProof, requiresProof, verifyProof } from './proof.ts'
import { findApi, loadScopeCatalog } from '../../requests/scope-catalog.ts'

/**
 * Token endpoint. RFC 6749 §3.2; the specification, "Create OAuth token".
 *
 *  §3.2  Parameters are sent in the body. Only `resource` may be repeated (RFC 8707 §2.2). Unknown parameters are ignored.
 *  §5.2  A `grant_type` that is missing or not offered is an error, with status 422 (decision 0005).
 *  RFC 9449 §5  A DPoP proof is checked, all but its signature, which follows when the client is known.
 *  §2.3  The client authenticates, or the API where the grant type is one of APIs (RFC 8693 §2.1).
 *  §5.2  The client must have registered the grant type.
 *  RFC 9449 §5.2  A client that registered so sends a proof with each request.
 *  §4    The grant type decides the rest; see `grants/`.
 *
 * @throws OAuthError every code of RFC 6749 §5.2, invalid_target, temporarily_unavailable
 */
export async function token(context: Context, request: Request): Promise<Reply> {
  const { params } = request
  refuseQuery(request.query)
  const grantType = readGrantType(params, context.settings.grantTypes)
  refuseRepeated(params, 'resource')
  const proof = readProof(context, request, PATHS.token)
  const issued = isForClients(grantType)
    ? await issueToClient(context, request, grantType, proof)
    : await issueToApi(context, request, proof)
  const { response, facts } = issued
  context.issued(facts.clientId, grantType)
  const isShown = facts.resources.length > 0 && context.settings.isLoopbackIssuer
  const resources = isShown ? await describeResources(context, facts) : facts.resources
  return { kind: 'json', status: 200, body: response, event: issuedEvent(grantType, issued, resources) }
}

/**
 * Whether a program sent the request, or a page of the client: one with the origin of a redirect URI. An opaque origin is `null`, that of a
 * sandboxed page as well as that of a private-use scheme (RFC 6454 §4 and §6.1), so it is no client's.
 */
function isOfClient({ metadata }: AuthenticatedClient, origin: string | undefined): boolean {
  if (origin === undefined) return true
  return origin !== 'null' && metadata.redirect_uris.some((uri) => URL.canParse(uri) && new URL(uri).origin === origin)
}

async function issueToClient(
  context: Context,
  request: Request,
  grantType: ClientGrantType,
  proof: DpopProof | undefined,
): Promise<IssuedToken> {
  const client = await authenticateClient(context, request, grantType === JWT_BEARER ? 'assertion' : 'other')
  try {
    if (!client.metadata.grant_types.includes(grantType)) throw unauthorizedClient('grant_type_not_registered')
    if (proof === undefined && requiresProof(client)) throw invalidRequest('proof_missing')
    const key = verifyProof(context, proof)
    const { id: requestId, network } = request
    // A page of any site runs in the network of its visitor.
    const callerNetwork = isOfClient(client, request.origin) ? request.callerNetwork : undefined
    return await GRANTS[grantType](context, { client, key, requestId, network, callerNetwork }, request.params)
  } catch (cause) {
    if (cause instanceof OAuthError) {
      cause.client = client.id
      if (cause.code === 'invalid_grant') cause.description = describeInvalidGrant(context, grantType, cause.reason)
    }
    throw cause
  }
}

/** RFC 8693 §2.1: the caller is an API with its credentials, and no client. */
async function issueToApi(context: Context, request: Request, proof: DpopProof | undefined): Promise<IssuedToken> {
  const caller = await authenticateCaller(context, request)
  try {
    if (caller.kind === 'client') throw unauthorizedClient('exchange_by_client')
    const key = verifyProof(context, proof)
    return await exchangeToken(context, { api: caller.api, key }, request.params)
  } catch (cause) {
    if (cause instanceof OAuthError) {
      if (caller.kind === 'client') cause.client = caller.client.id
      else cause.credential = caller.api.credentials?.id
    }
    throw cause
  }
}

const INVALID_GRANTS: Readonly<Record<ClientGrantType, string>> = {
  authorization_code:
    'The authorization code does not fit the request (code_verifier, redirect_uri), or is invalid, expired, used or revoked.',
  client_credentials: REFUSALS.invalid_grant.description,
  refresh_token: 'The refresh token is invalid, expired, used or revoked.',
  [JWT_BEARER]: 'The assertion does not fit the request, or is not accepted for it, or was used.',
  [DEVICE_CODE]: 'The device code is invalid, used or revoked.',
}

/**
 * The description of `invalid_grant` says what the request presented, and not what is wrong with it: who presents a stolen code or
 * token learns nothing from it. On a loopback issuer, where the developer sends the requests, it has the reason too.
 */
function describeInvalidGrant({ settings }: Context, grantType: ClientGrantType, reason: OAuthError['reason']): string {
  const { isLoopbackIssuer } = settings
  return `${INVALID_GRANTS[grantType]}${isLoopbackIssuer ? ` Reason: ${reason}.` : ''}`
}

/** The log event of a token. It has ids, scopes and resources, and never the token. */
function issuedEvent(
  reason: GrantType,
  { facts, earlier, leftOut }: Pick<IssuedToken, 'facts' | 'earlier' | 'leftOut'>,
  resources: OutcomeEvent['resources'],
): OutcomeEvent {
  const { clientId: client, userId: user, organizationId: organization, grantId: grant, scope } = facts
  const event: OutcomeEvent = {
    event: 'token.issued',
    api: facts.actors[0],
    client,
    user,
    organization,
    grant,
    scope,
    resources,
    reason,
    bound: facts.keyThumbprint === undefined ? undefined : true,
    earlier,
  }
  return leftOut === undefined ? event : { ...event, leftOut }
}

/** Where no API is declared, a resource is what the client sent, so that it may have anything. */
async function describeResources(
  context: Context,
  { resources }: Pick<AccessTokenFacts, 'resources'>,
): Promise<OutcomeEvent['resources']> {
  const catalog = await loadScopeCatalog(context)
  return resources.map((one) => findApi(catalog, one)?.resource ?? describeUri(one) ?? '')
}

function readGrantType(params: Parameters, offered: readonly GrantType[]): GrantType {
  const text = params.get('grant_type')
  if (text === undefined) {
    throw invalidRequest('grant_type_missing', { status: 422, problems: [missing('body', 'grant_type')] })
  }
  const grantType = offered.find((known) => known === text)
  if (grantType !== undefined) return grantType
  const msg = 'This grant type is not supported.'
  const problems = [problem(['body', 'grant_type'], 'literal_error', msg, text, { expected: offered })]
  const refusal = new OAuthError('unsupported_grant_type', 'grant_type_unknown', { problems })
  // The table does not know what this server offers. The log has the reason alone.
  refusal.description = `The grant type is not one of ${listed(offered)}.`
  throw refusal
}
