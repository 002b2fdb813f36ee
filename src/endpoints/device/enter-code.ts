import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../../ports/message.ts'
import type { DeviceCodeProblem } from '../../ports/pages/device.ts'
import type { AuthorizationRecord, DeviceRecord } from '../../ports/records/authorization.ts'
import { encryptUserCode } from '../../requests/device.ts'
import { evaluateAuthorized, type AllowedClient } from '../../clients/evaluate-client.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import { isOneNetwork } from '../../base/networks-around.ts'
import { deviceIdOf, hasDeviceEnded, parseUserCode, type UserCode } from '../../protocol/authorization/user-code.ts'
import { mintAuthorizationId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { isOpenid } from '../../protocol/token/scope.ts'
import type { RedirectUri } from '../../protocol/uri/redirect-uri.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { findDemand, takeAuthorization } from '../authorization/authorize.ts'
import { browserOf, isCrossSite, openBrowser } from '../authorization/interaction.ts'
import { nextStep, takeStep } from '../authorization/next-step.ts'
import { requestableFrom } from '../../clients/identity-change.ts'
import { findSignedIn } from '../authorization/session.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { countUserCode } from '../sign-in/throttle.ts'

/**
 * Shows the page on which a user types the code of a device. RFC 8628 §3.3. No code is read from the address: a link would type it for
 * the user (threats.md DEV-04).
 */
export async function showDevicePage(context: Context, request: Request): Promise<Reply> {
  const { hash, cookies } = browserOf(context, request)
  return codePage(context, request, hash, undefined, cookies)
}

/**
 * Begins an authorization with the code that a user typed. RFC 8628 §3.3 and §5.1.
 *
 * Wrong codes are counted by network before they are looked up. A code that is wrong, expired, used, or of a client that may not have it
 * gets the same answer. From here on everything is as in any other authorization; the consent page is always shown.
 */
export async function enterCode(context: Context, request: Request): Promise<Reply> {
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const browserHash = openBrowser(context, request)
  if (browserHash === undefined) return errorPage('browser_differs')
  if (!context.secrets.digestMatches('csrf', csrfParts(browserHash), request.params.get('csrf') ?? ''))
    return errorPage('form_token_wrong')
  const refuse = (problem: DeviceCodeProblem) => codePage(context, request, browserHash, problem, {})
  const typed = request.params.get('code') ?? ''
  if (typed.trim() === '') return refuse({ kind: 'user-code-missing' })
  const code = parseUserCode(typed)
  if (code === undefined) return refuse({ kind: 'user-code-wrong' })
  const attempt = await countUserCode(context, request.network)
  if (attempt.kind === 'refused') return refuse({ kind: 'throttled', retryAfterSeconds: attempt.retryAfterSeconds })
  const now = context.clockCheck.now()
  const found = await findOpenDevice(context, code, now)
  if (found === undefined) return refuse({ kind: 'user-code-wrong' })
  takeAuthorization(context, request.network, now)
  await attempt.forgive()

  const { device, allowed } = found
  const typing: Typing = { code, browserHash, isSameNetwork: isOneNetwork(device.network, request.network), now }
  const authorization = authorizationOf(context, device, allowed, typing)
  const subject = { authorization, ...allowed, uiLocales: request.uiLocales }
  await context.store.startAuthorization(authorization)
  const signedIn = await findSignedIn(context, request.cookies)
  return takeStep(context, subject, await nextStep(context, subject, signedIn, { kind: 'not-asked' }), {})
}

interface OpenDevice {
  readonly device: DeviceRecord
  readonly allowed: AllowedClient
}

/** Finds the device of a code. undefined: none waits, or its client may no longer have the grant. */
async function findOpenDevice(context: Context, code: UserCode, now: EpochMs): Promise<OpenDevice | undefined> {
  const device = await context.store.findDevice(deviceIdOf(context.secrets, code))
  if (device === undefined || device.authorizationId !== undefined || hasDeviceEnded(device, now)) return undefined
  const client = await context.store.findClient(device.clientId)
  if (client === undefined || client.disabledAt !== undefined) return undefined
  // The client has changed its name since, and the page would show the new one.
  if (device.createdAt < requestableFrom(client)) return undefined
  const allowed = await evaluateAuthorized(context, client, 'device')
  return allowed === 'refused' ? undefined : { device, allowed }
}

/** What the user did on the page. */
interface Typing {
  readonly code: UserCode
  readonly browserHash: SecretHash
  readonly isSameNetwork: boolean
  readonly now: EpochMs
}

/** The authorization that answers a device. Its redirect URI is the page, which no client can register, and receives no code. */
function authorizationOf(
  context: Context,
  { id: deviceId, clientId, request, expiresAt }: DeviceRecord,
  { client }: AllowedClient,
  { code, browserHash, isSameNetwork, now }: Typing,
): AuthorizationRecord {
  const id = mintAuthorizationId(now, context.random)
  const openid = isOpenid(request.scope) ? { nonce: undefined, idTokenClaims: [], session: undefined } : undefined
  return {
    ...request,
    id,
    clientId,
    browserHash,
    redirectUri: addressOf(context.issuer, PATHS.device) as RedirectUri,
    responseMode: 'query',
    state: undefined,
    codeChallenge: undefined,
    keyThumbprint: undefined,
    mustSignIn: false,
    mustConsent: true,
    ...findDemand(client, openid, undefined, now),
    stated: undefined,
    onlyUserId: undefined,
    loginHint: undefined,
    openid,
    pushedRequestId: undefined,
    device: { id: deviceId, userCode: encryptUserCode(context, id, code), isSameNetwork },
    createdAt: now,
    expiresAt: Math.min(after(now, context.settings.lifetimes.authorization * 1000), expiresAt) as EpochMs,
    status: { kind: 'pending' },
  }
}

const STATUS: Readonly<Record<DeviceCodeProblem['kind'], number>> = {
  'user-code-missing': 400,
  'user-code-wrong': 400,
  throttled: 429,
}

/** The field is empty again after a wrong code. */
function codePage(
  context: Context,
  { uiLocales }: Request,
  browserHash: SecretHash,
  problem: DeviceCodeProblem | undefined,
  cookies: CookieChanges,
): Reply {
  return {
    kind: 'page',
    status: problem === undefined ? 200 : STATUS[problem.kind],
    ...(problem === undefined ? {} : { event: formRefusal(problem.kind, {}) }),
    ...(problem !== undefined && 'retryAfterSeconds' in problem
      ? { retryAfterSeconds: problem.retryAfterSeconds }
      : {}),
    page: {
      kind: 'device-code',
      action: pageAddress(context.issuer, PATHS.device, { uiLocales }),
      hidden: { csrf: context.secrets.digest('csrf', csrfParts(browserHash)) },
      problem,
    },
    cookies,
  }
}

function csrfParts(browserHash: SecretHash): readonly string[] {
  return ['device', browserHash]
}
