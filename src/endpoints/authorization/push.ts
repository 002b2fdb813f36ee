import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { evaluateClient } from '../../clients/evaluate-client.ts'
import { after } from '../../base/brand.ts'
import { PAGE_REFUSALS } from '../../protocol/authorization/page-refusals.ts'
import { canBeOpened, keptParameters, PUSHED_LIMIT, requestUriOf } from '../../protocol/authorization/pushed-request.ts'
import { followsFapi } from '../../protocol/client/policy.ts'
import { invalidClient, invalidDpopProof, invalidRequest, type OAuthError } from '../../protocol/errors.ts'
import { mintPushedRequestId } from '../../protocol/ids.ts'
import type { JwkThumbprint } from '../../protocol/token/dpop-proof.ts'
import { refuseQuery, refuseRepeated } from '../form.ts'
import { PATHS } from '../paths.ts'
import { asClient, authenticateClient } from '../token/authenticate-client.ts'
import { readProof, verifyProof } from '../token/proof.ts'
import { takeStoredTokenBudget } from '../token/stored-tokens.ts'
import { explain, findKeptError, type Fault } from './authorization-error.ts'
import { checkRequest, chooseRedirectUri } from './checked-request.ts'

const CREATED = 201

/**
 * Pushed authorization requests. RFC 9126 §2.
 *
 *  RFC 9449 §10.1  The key of a DPoP proof binds the code, as `dpop_jkt` does.
 *  §2.1  The client authenticates as at the token endpoint. A `request_uri` is refused.
 *  §2.1  The request is checked as at the authorization endpoint, except for what depends on the user.
 *  §2.2  The parameters are kept as they were sent. The answer has the `request_uri` of them.
 *
 * @throws OAuthError invalid_request, invalid_client, invalid_scope, invalid_target, unauthorized_client, invalid_dpop_proof,
 * use_dpop_nonce, temporarily_unavailable
 */
export async function push(context: Context, request: Request): Promise<Reply> {
  const { params } = request
  refuseQuery(request.query)
  refuseRepeated(params, 'resource')
  const proof = readProof(context, request, PATHS.par)
  const client = await authenticateClient(context, request, 'push')
  return asClient(client, async () => {
    if (params.get('request_uri') !== undefined) throw invalidRequest('request_uri_pushed')
    const key = verifyProof(context, proof)
    await check(context, client, request)
    const parameters = keptParameters(params, boundTo(key, params.get('dpop_jkt')))
    if (!canBeOpened(parameters)) throw malformed(TOO_LONG)
    takeStoredTokenBudget(context, client, request.network, 'pushed')
    const now = context.clockCheck.now()
    const { authorization, pushed: lifetime } = context.settings.lifetimes
    const id = mintPushedRequestId(now, context.random)
    const { token } = context.secrets.mint('pushed-request', id, context.random)
    const expiresAt = after(now, lifetime * 1000)
    const keptUntil = after(expiresAt, authorization * 1000)
    const kept = { id, clientId: client.id, parameters, usedBy: undefined, expiresAt, keptUntil }
    await context.store.pushRequest(kept)
    const body = { request_uri: requestUriOf(token), expires_in: lifetime }
    return { kind: 'json', status: CREATED, body, event: { event: 'authorization.pushed', client: client.id } }
  })
}

const TOO_LONG = `The request has more than ${PUSHED_LIMIT} characters, or too many parameters.`

async function check(context: Context, client: ClientRecord, { params }: Request): Promise<void> {
  // FAPI 2.0 Security Profile §5.3.2.2.
  if (followsFapi(client) && params.get('redirect_uri') === undefined) throw malformed(NO_REDIRECT_URI)
  const chosen = chooseRedirectUri(context, client, params)
  const redirectUri = chosen.kind === 'chosen' ? chosen.redirectUri : undefined
  const allowed = await evaluateClient(context, client, { phase: 'use', redirectUri })
  if ('kind' in allowed) throw invalidClient('client_not_allowed', false)
  if (chosen.kind === 'refused') throw malformed(REDIRECT_FAULTS[chosen.reason])
  const checked = await checkRequest(context, { ...allowed, redirectUri: chosen.redirectUri }, params)
  if ('error' in checked) throw refusalOf(context, client, checked)
}

const NO_REDIRECT_URI = 'The redirect_uri is missing, which the profile of the client requires.'
const REDIRECT_FAULTS = {
  ...PAGE_REFUSALS['redirect-missing'],
  ...PAGE_REFUSALS['redirect-unknown'],
  ...PAGE_REFUSALS['redirect-not-allowed'],
}

/** RFC 9449 §10.1: a proof and a `dpop_jkt` name the same key. */
function boundTo(key: JwkThumbprint | undefined, named: string | undefined): Readonly<Record<string, string>> {
  if (key === undefined) return {}
  if (named !== undefined && named !== key) throw invalidDpopProof('proof_of_another_key', 'request')
  return { dpop_jkt: key }
}

/** RFC 9126 §2.3: codes that token requests have too are kept, and every other fault of the request is `invalid_request`. */
function refusalOf(context: Context, client: ClientRecord, fault: Fault): OAuthError {
  return findKeptError(context, client.id, fault) ?? malformed(explain(fault))
}

function malformed(explanation: string): OAuthError {
  return invalidRequest('pushed_request_malformed', { explanation })
}
