import type { Context } from '../../../ports/context.ts'
import type { DeviceRecord } from '../../../ports/records/authorization.ts'
import type { IssuedToken } from '../../../protocol/token/access-token.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { Parameters } from '../../../base/message.ts'
import { missing } from '../../../base/validation.ts'
import { hasDeviceEnded } from '../../../protocol/authorization/user-code.ts'
import { invalidGrant, invalidRequest, OAuthError } from '../../../protocol/errors.ts'
import type { DeviceId } from '../../../protocol/ids.ts'
import { findInvalidPrincipal } from '../../../tokens/invalid-principal.ts'
import { sameText } from '../../../protocol/secrets.ts'
import { countFailure } from '../authenticate-client.ts'
import type { TokenRequester } from '../token-profile.ts'
import { principalsOf, requireLive } from './grant.ts'
import { isRedeemed, isTimely, redeemApproval } from './redemption.ts'

/**
 * Device Authorization Grant, a poll. RFC 8628 §3.4 and §3.5.
 *
 *  §3.4  The device code must have been issued by this server to this client. Otherwise nothing changes; codes that are made up count as
 *        failures of the network.
 *  §3.5  `authorization_pending` until a user has answered. A poll writes nothing of its own, so that `slow_down` follows from a rate in memory.
 *  §3.5  `access_denied`, also if the server refused the request for the user. `expired_token` after the time for the answer, and after the
 *        time for the poll that follows the approval.
 *  §3.5  An approved device gets its tokens once, as for a code (`redeemApproval`). A proof binds them to its key (RFC 9449 §5).
 *
 * @throws OAuthError invalid_grant, invalid_request, invalid_target, authorization_pending, slow_down, access_denied, expired_token
 */
export async function deviceCode(context: Context, requester: TokenRequester, form: Parameters): Promise<IssuedToken> {
  const { client, network } = requester
  const now = context.clockCheck.now()
  const text = form.get('device_code')
  if (text === undefined) throw invalidRequest('parameter_missing', { problems: [missing('body', 'device_code')] })
  const opened = context.secrets.verify('device-code', text)
  if (opened === undefined) {
    countFailure(context, network)
    throw invalidGrant('device_unknown')
  }
  const device = await context.store.findDevice(opened.id as DeviceId)
  // Another device may have got the same user code since.
  if (device === undefined || !sameText(device.deviceHash, opened.hash)) throw expired()
  if (device.clientId !== client.id) {
    context.report({ event: 'device.presented-by-another-client', clientId: client.id })
    throw invalidGrant('device_of_another_client')
  }
  if (device.authorizationId === undefined) throw waiting(context, device, now)
  const authorization = await context.store.findAuthorization(device.authorizationId)
  if (authorization === undefined) throw expired()
  const { status } = authorization
  switch (status.kind) {
    // The node that connected the device may have stopped before it stored the answer, which the user can give again.
    case 'pending':
      throw waiting(context, device, now)
    case 'denied':
      throw new OAuthError('access_denied', 'device_denied')
    case 'approved':
    case 'burned': {
      const approved = { authorization, approval: status, now }
      const isOpen = status.kind === 'approved' && isTimely(approved)
      if (isOpen || (await isRedeemed(context, authorization.id)))
        return redeemApproval(context, requester, form, approved)
      requireLive(await findInvalidPrincipal(context, principalsOf(client, status), status.approvedAt), status.userId)
      throw expired()
    }
  }
}

/** Why a device that no user has answered gets nothing yet. */
function waiting({ budgets }: Context, device: DeviceRecord, now: EpochMs): OAuthError {
  if (hasDeviceEnded(device, now)) return expired()
  return budgets.take('device-poll', device.id, now).isWithin
    ? new OAuthError('authorization_pending', 'device_waiting')
    : new OAuthError('slow_down', 'device_polled_too_often')
}

function expired(): OAuthError {
  return new OAuthError('expired_token', 'device_expired')
}
