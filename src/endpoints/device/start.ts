import assert from 'node:assert/strict'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { DeviceRecord, DeviceRequest } from '../../ports/records/authorization.ts'
import { AT_DEVICE, evaluateClient } from '../../clients/evaluate-client.ts'
import { after } from '../../base/brand.ts'
import type { Parameters } from '../../base/message.ts'
import { deviceIdOf, formatUserCode, mintUserCode, type UserCode } from '../../protocol/authorization/user-code.ts'
import { invalidClient, invalidRequest, tooManyRequests, unauthorizedClient } from '../../protocol/errors.ts'
import { parseOrganizationId } from '../../protocol/ids.ts'
import { NO_CLAIMS } from '../../protocol/openid/request.ts'
import type { MintedCredential } from '../../protocol/secrets.ts'
import { DEVICE_CODE } from '../../protocol/token/grant-types.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { findKeptError } from '../authorization/authorization-error.ts'
import { findRequestedAccess } from '../authorization/checked-request.ts'
import { refuseQuery, refuseRepeated } from '../form.ts'
import { PATHS } from '../paths.ts'
import { asClient, authenticateClient, type AuthenticatedClient } from '../token/authenticate-client.ts'
import { organizationMismatch, readResources, readScope } from '../token/grants/grant.ts'
import { loadScopeCatalog } from '../../requests/scope-catalog.ts'

/** Seconds within which a user types the code and answers. */
const LIFETIME = 600
/** Seconds between two polls. RFC 8628 §3.5. */
const INTERVAL = 5
/** With 10,000 devices waiting, a code is taken once in 2.6 million times. */
const TRIES = 3

/**
 * Device authorization endpoint. RFC 8628 §3.1 and §3.2.
 *
 *  A page in a browser is refused: it would start a device from the network of its reader, which the consent page compares (threats.md DEV-15).
 *  §3.1  The client authenticates as at the token endpoint. Only a client that an operator created or adopted has the grant type.
 *  §3.1  `scope`, `resource` and `org_id` are decided as at the authorization endpoint. Other parameters are ignored.
 *  §3.2  The answer has the code for the user, the page on which the user types it, and the code with which the device polls.
 *  §3.3.1  There is no `verification_uri_complete`: its link is what a phisher would send (decision 0039).
 *
 * @throws OAuthError invalid_request, invalid_client, invalid_scope, invalid_target, unauthorized_client, temporarily_unavailable
 */
export async function startDevice(context: Context, request: Request): Promise<Reply> {
  const { params, network } = request
  refuseQuery(request.query)
  refuseRepeated(params, 'resource')
  if (request.fetchSite !== undefined && request.fetchSite !== 'none') throw invalidRequest('device_in_browser')
  const client = await authenticateClient(context, request)
  return asClient(client, async () => {
    if (!client.metadata.grant_types.includes(DEVICE_CODE)) throw unauthorizedClient('grant_type_not_registered')
    if ('kind' in (await evaluateClient(context, client, AT_DEVICE))) throw invalidClient('client_not_allowed', false)
    const requested = await readAccess(context, client, params)
    const budget = context.budgets.take('device', network, context.clock())
    if (!budget.isWithin) throw tooManyRequests('device', budget)
    const { userCode, deviceCode } = await store(context, client, requested, network)
    const body = {
      device_code: deviceCode.token,
      user_code: formatUserCode(userCode),
      verification_uri: addressOf(context.issuer, PATHS.device),
      expires_in: LIFETIME,
      interval: INTERVAL,
    }
    return { kind: 'json', status: 200, body, event: { event: 'device.started', client: client.id } }
  })
}

async function readAccess(context: Context, client: AuthenticatedClient, params: Parameters): Promise<DeviceRequest> {
  const organization = params.get('org_id')
  const organizationId = organization === undefined ? undefined : parseOrganizationId(organization)
  if (organization !== undefined && organizationId === undefined) throw organizationMismatch(organization)
  const access = findRequestedAccess(await loadScopeCatalog(context), client, {
    scope: readScope(params),
    resources: readResources(params),
    organizationId,
    openid: { nonce: undefined, claims: NO_CLAIMS },
  })
  if (!('error' in access)) {
    const { scope, ungrantedScope, resources } = access
    return { scope, ungrantedScope, resources, organizationId }
  }
  const refusal = findKeptError(context, client.id, access)
  assert(refusal, 'Access is refused because of its scope or resource.')
  throw refusal
}

async function store(
  { clockCheck, random, secrets, store: { startDevice: start } }: Context,
  client: AuthenticatedClient,
  request: DeviceRequest,
  network: string,
): Promise<{ readonly userCode: UserCode; readonly deviceCode: MintedCredential }> {
  const createdAt = clockCheck.now()
  const expiresAt = after(createdAt, LIFETIME * 1000)
  for (let tries = 0; tries < TRIES; tries += 1) {
    const userCode = mintUserCode(random)
    const id = deviceIdOf(secrets, userCode)
    const deviceCode = secrets.mint('device-code', id, random)
    const waiting = { id, deviceHash: deviceCode.hash, clientId: client.id, request, network } as const
    const device: DeviceRecord = { ...waiting, authorizationId: undefined, createdAt, expiresAt }
    if ((await start(device)) === 'started') return { userCode, deviceCode }
  }
  throw new Error('No user code is free.')
}
