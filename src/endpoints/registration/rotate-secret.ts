import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { OAuthError, unavailable } from '../../protocol/errors.ts'
import { readJson } from '../../base/json.ts'
import { problem, type Problem } from '../../base/validation.ts'
import { rotateClientSecret, SECRET_OVERLAP, type RotationOptions } from '../../clients/rotate-secret.ts'
import { authenticateRegistrationOwner, CONFLICT_RETRY_SECONDS } from './manage.ts'
import { describeRegistration } from './response.ts'
import { takeRegistrationBudget } from './request.ts'

/**
 * Gives a client a new secret. RFC 7592 has no such request: there the server issues a new secret when it chooses to (§2.1).
 *
 *  1. The caller authenticates with the registration access token, as for every request of RFC 7592.
 *  2. The previous secret remains valid for `overlap_seconds`. The default is a day.
 *  3. `client_secret` says which currently valid secret becomes the previous one. The default is the newest. A caller that lost
 *     the response repeats the request with the secret that it has, and that secret remains valid.
 *  4. The response is the client information with the new secret. The secret is not shown again.
 *
 * @throws OAuthError invalid_token, invalid_client_metadata, temporarily_unavailable
 */
export async function rotateSecret(context: Context, request: Request): Promise<Reply> {
  const { client, token } = await authenticateRegistrationOwner(context, request)
  takeRegistrationBudget(context, request.network)
  const outcome = await rotateClientSecret(
    { ...context, clock: context.clockCheck.now },
    client,
    parseOptions(request.body),
  )
  if (outcome.kind === 'wrong-secret') throw wrongSecret()
  if (outcome.kind === 'no-secret') throw noSecret()
  if (outcome.kind !== 'rotated') throw unavailable('client_changed_meanwhile', CONFLICT_RETRY_SECONDS)
  const shown = { secret: outcome.secret, managementToken: token }
  return {
    kind: 'json',
    status: 200,
    body: describeRegistration(context.issuer, client, shown, {}),
    event: { event: 'client.secret-rotated', client: client.id },
  }
}

function parseOptions(body: string): RotationOptions {
  if (body === '') return { overlapSeconds: SECRET_OVERLAP.usual, kept: undefined }
  const json = readJson(body)
  if (json.kind === 'malformed') throw refusal(json.status, json.problem)
  if (typeof json.value !== 'object' || json.value === null || Array.isArray(json.value)) {
    throw refusal(422, problem(['body'], 'object_type', 'The body must be an object.', json.value, {}))
  }
  const members = json.value as Readonly<Record<string, unknown>>
  const { overlap_seconds: seconds = SECRET_OVERLAP.usual, client_secret: kept } = members
  if (kept !== undefined && typeof kept !== 'string') throw wrongSecret()
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= SECRET_OVERLAP.most) {
    return { overlapSeconds: seconds, kept }
  }
  const msg = `This must be a whole number of seconds from 0 to ${SECRET_OVERLAP.most}.`
  throw refusal(400, problem(['body', 'overlap_seconds'], 'value_error', msg, seconds, {}))
}

function wrongSecret(): OAuthError {
  const msg = 'This is not a currently valid secret of this client.'
  return refusal(400, problem(['body', 'client_secret'], 'value_error', msg, null, {}))
}

function noSecret(): OAuthError {
  const msg = 'This client has no secret: it is public, or authenticates with keys.'
  return refusal(400, problem(['body', 'client_secret'], 'value_error', msg, null, {}))
}

function refusal(status: 400 | 422, fault: Problem): OAuthError {
  const reason = fault.loc.length === 1 ? 'json_malformed' : 'metadata_not_allowed'
  return new OAuthError('invalid_client_metadata', reason, { status, problems: [fault] })
}
