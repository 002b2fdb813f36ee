import type { AccountPageName } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../../ports/message.ts'
import type { HiddenFields } from '../../ports/pages/parts.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { authenticatedSinceOf, findStepUps } from '../../requests/step-up.ts'
import { evaluateTime, type SignInDemand } from '../../protocol/sign-in/authentication.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import {
  authorizationIn,
  endedPage,
  findInteraction,
  isCrossSite,
  openBrowser,
  otherBrowser,
  type Interaction,
} from '../authorization/interaction.ts'
import { nextStep, takeStep, type ConsentAnswer } from '../authorization/next-step.ts'
import { findSignedIn, isForAnother, type SignedIn } from '../authorization/session.ts'
import { errorPage } from '../error-page.ts'
import { accountPath, pageAddress, parseAccountPage, PATHS } from '../paths.ts'

/** What a user signs in for, in the browser that started it: an authorization, or an account page of this server. */
export type SignInTarget =
  | ({
      readonly purpose: 'authorization'
      /** The user signs in before setting up a second factor for a scope or `acr` of the request. */
      readonly addsFactor: boolean
    } & Interaction)
  | {
      readonly purpose: 'account'
      readonly page: AccountPageName
      readonly browserHash: SecretHash
      readonly uiLocales: string | undefined
    }

/** Names a target in a form, and in what a sign-in method stores. It is useless in another browser. */
export type TargetKey = string

const ACCOUNT = 'account:'
const FACTOR = 'factor:'
/** The parameter of the sign-in page, and the field of its forms: after the sign-in the user sets up a second factor. */
export const ADDS_FACTOR = 'adds_factor'

/** The key in the request for the sign-in page, and in the forms of that page. */
export function keyIn(request: Pick<Request, 'params'>): TargetKey {
  const page = request.params.get('page')
  if (page !== undefined) return ACCOUNT + page
  return request.params.get(ADDS_FACTOR) === undefined ? authorizationIn(request) : FACTOR + authorizationIn(request)
}

/** The key of a target, for a method that continues with it later. */
export function keyOf(target: SignInTarget): TargetKey {
  if (target.purpose === 'account') return ACCOUNT + target.page
  return target.addsFactor ? FACTOR + target.authorization.id : target.authorization.id
}

/**
 * Finds a target that this browser may continue with. Returns an error page if there is none. An account page is named, and never
 * given as an address (threats.md UI-07).
 */
export async function findTarget(context: Context, request: Request, key: TargetKey): Promise<SignInTarget | Reply> {
  if (!key.startsWith(ACCOUNT)) {
    const addsFactor = key.startsWith(FACTOR)
    const interaction = await findInteraction(context, request, addsFactor ? key.slice(FACTOR.length) : key)
    return 'kind' in interaction ? interaction : { purpose: 'authorization', addsFactor, ...interaction }
  }
  const page = parseAccountPage(key.slice(ACCOUNT.length))
  if (page === undefined) return errorPage('page_unknown')
  const browserHash = openBrowser(context, request)
  if (browserHash === undefined) return otherBrowser(context, request)
  return { purpose: 'account', page, browserHash, uiLocales: request.uiLocales }
}

/** Finds the target of the sign-in page. Returns an error page also if the user has already answered the request of the client. */
export async function findOpenTarget(
  context: Context,
  request: Request,
  key: TargetKey,
): Promise<SignInTarget | Reply> {
  const target = await findTarget(context, request, key)
  if ('kind' in target || target.purpose === 'account') return target
  return target.authorization.status.kind === 'pending'
    ? target
    : endedPage(context, 'authorization_decided', target.client.id)
}

/** Finds the target of a form of the sign-in page. Returns an error page also if the form was not made for the target in this browser. */
export async function findSubmittedTarget(context: Context, request: Request): Promise<SignInTarget | Reply> {
  if (isCrossSite(request)) return errorPage('form_of_another_site')
  const target = await findTarget(context, request, keyIn(request))
  if ('kind' in target) return target
  const isOwn = context.secrets.digestMatches('csrf', csrfParts(target), request.params.get('csrf') ?? '')
  return isOwn ? target : errorPage('form_token_wrong', { client: clientOf(target)?.id })
}

/** The hidden fields of the forms of the sign-in page. */
export function hiddenFields({ secrets }: Context, target: SignInTarget): HiddenFields {
  return { ...signInParameters(target), csrf: secrets.digest('csrf', csrfParts(target)) }
}

/** The parameters of the sign-in page for a target. */
export function signInParameters(target: SignInTarget): Readonly<Record<string, string>> {
  if (target.purpose === 'account') return { page: target.page }
  return { authorization: target.authorization.id, ...(target.addsFactor ? { [ADDS_FACTOR]: '1' } : {}) }
}

/** Finds the user who is signed in already, and confirms the own identity for an account page. undefined: the user signs in. */
export async function findConfirming(
  context: Context,
  request: Request,
  { purpose }: SignInTarget,
): Promise<SignedIn | undefined> {
  const signedIn = purpose === 'account' ? await findSignedIn(context, request.cookies) : undefined
  return signedIn === undefined || (await isForAnother(context, signedIn, 'account-pages')) ? undefined : signedIn
}

/**
 * What a source of sign-ins is asked for, because the client, a scope or the account page needs it. undefined: the person may have authenticated at
 * any time. `mustSignIn`: the person has to authenticate now, whatever the client asks for.
 */
export async function demandOf(
  { apis }: Context,
  target: SignInTarget,
  mustSignIn: boolean,
  now: EpochMs,
): Promise<SignInDemand | undefined> {
  if (target.purpose === 'account') return mustSignIn ? { after: now, isAfresh: true } : undefined
  const { authorization } = target
  const { authenticatedSince, createdAt } = authorization
  // The clock of the node that began the authorization may be ahead.
  if (mustSignIn || target.addsFactor) return { after: Math.max(now, createdAt) as EpochMs, isAfresh: true }
  const ofRequest = authorization.mustSignIn ? createdAt : authenticatedSince
  const ofScopes = authenticatedSinceOf(findStepUps(await apis(), authorization), createdAt)
  const since = [ofRequest ?? [], ofScopes ?? []].flat()
  return readDemand(target, since.length === 0 ? undefined : (Math.max(...since) as EpochMs))
}

/** When this server authenticated the user: now, or when the request was made if the clock of that node is ahead. */
export async function timeOf(context: Context, target: SignInTarget): Promise<EpochMs | undefined> {
  const now = context.clockCheck.now()
  const time = evaluateTime({ kind: 'now' }, await demandOf(context, target, false, now), { now, toleranceMs: 0 })
  return time.kind === 'accepted' ? time.at : undefined
}

/** The demand whose time was stored. A user who must have authenticated since the request was made has to authenticate for it. */
export function readDemand(target: SignInTarget, since: EpochMs | undefined): SignInDemand | undefined {
  if (since === undefined) return undefined
  return { after: since, isAfresh: target.purpose === 'account' || since >= target.authorization.createdAt }
}

/** What makes up the digest of a button of a provider that a page for the target has (threats.md UP-33). */
export function buttonParts(target: SignInTarget, provider: string): readonly string[] {
  return ['provider', ...csrfParts(target), provider]
}

function csrfParts(target: SignInTarget): readonly string[] {
  return ['sign-in', keyOf(target), target.browserHash]
}

export function clientOf(target: SignInTarget): ClientRecord | undefined {
  return target.purpose === 'authorization' ? target.client : undefined
}

/** Continues with the target after the user has signed in. */
export async function continueWith(
  context: Context,
  target: SignInTarget,
  signedIn: SignedIn,
  cookies: CookieChanges,
  answer: ConsentAnswer,
): Promise<Reply> {
  if (target.purpose === 'account') {
    const location = pageAddress(context.issuer, accountPath(target.page), { uiLocales: target.uiLocales })
    return { kind: 'redirect', location, cookies, event: { event: 'session.started', user: signedIn.user.id } }
  }
  if (target.addsFactor) {
    const parameters = { authorization: target.authorization.id, uiLocales: target.uiLocales }
    const location = pageAddress(context.issuer, PATHS.setUpFactor, parameters)
    const event = { event: 'session.started', client: target.client.id, user: signedIn.user.id } as const
    return { kind: 'redirect', location, cookies, event }
  }
  const step = await nextStep(context, target, signedIn, answer)
  const reply = await takeStep(context, target, step, cookies)
  if (step.kind === 'approve' || step.kind === 'deny') return reply
  return { ...reply, event: { event: 'session.started', client: target.client.id, user: signedIn.user.id } }
}
