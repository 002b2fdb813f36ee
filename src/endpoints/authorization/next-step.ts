import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply } from '../../ports/message.ts'
import type { ConsentProblem } from '../../ports/pages/pages.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { AuthenticationLevel } from '../../protocol/sign-in/authentication.ts'
import { isWithin, NO_SCOPE, type Scope } from '../../protocol/token/scope.ts'
import { challengeFault, replacesPkce } from '../../protocol/authorization/request.ts'
import { PATHS, pageAddress } from '../paths.ts'
import { approve, deny, type Approval } from './approval.ts'
import { NOT_A_MEMBER, NOT_PUSHED, OTHER_USER, type Fault } from './authorization-error.ts'
import { chooseOrganization, findChoices, type OpenChoices } from './organization-choice.ts'
import type { Subject } from './interaction.ts'
import { loadScopeCatalog } from '../../requests/scope-catalog.ts'
import { chooseScope } from './scope-choice.ts'
import { ACCESS_RULE, ruleRequest, type RuledRequest } from './rule-request.ts'
import { findRemembered } from './remembered-consent.ts'
import { isForAnother, type SignedIn } from './session.ts'
import { decideLevel, decideWithout, UNMET } from './step-up.ts'
import { isOfConsole } from '../../protocol/client/console.ts'
import { mustPush } from '../../protocol/client/policy.ts'
import { hasRole } from '../../users/role.ts'

/** What happens next to an authorization. */
export type Step =
  | { readonly kind: 'sign-in' }
  /** The session stays, and the user confirms with a factor of this level. */
  | { readonly kind: 'step-up'; readonly level: AuthenticationLevel }
  /** The session stays, and the user sets up the first second factor of the account, for this level. */
  | { readonly kind: 'set-up'; readonly level: AuthenticationLevel }
  | {
      readonly kind: 'consent'
      readonly signedIn: SignedIn
      readonly choices: OpenChoices
      /** What access rules leave of the request. */
      readonly ruled: RuledRequest
      /** The scope that the user cannot give, because it requires a factor that the account does not have, or that the user does not use. */
      readonly withheld: Scope
      readonly problem: ConsentProblem | undefined
      /** What the user has entered so far. undefined: the page is displayed for the first time. */
      readonly answer: Allowed | undefined
    }
  | ({ readonly kind: 'approve' } & Approval)
  /** Without a fault, the user denied it. */
  | { readonly kind: 'deny'; readonly userId: UserId; readonly fault: Fault | undefined }

/** What the form of the consent page says with "allow", or the operator's application. */
export interface Allowed {
  readonly kind: 'allow'
  /** Later requests may use the consent. */
  readonly isRemembered: boolean
  /** The id of the organization, or WITHOUT. undefined: no choice. */
  readonly organization: string | undefined
  readonly isAllowed: (scopeToken: string) => boolean
  /** The user says that the device is an own one, although it is in another network. */
  readonly isOwnDevice: boolean
  /** The application asked the user, and has said what access rules leave out. */
  readonly isOfApplication: boolean
}

/** What the user has answered on the consent page. */
export type ConsentAnswer =
  /** The consent page has not been displayed, so an earlier consent may be used. */
  | { readonly kind: 'not-asked' }
  /** The consent page is to be displayed, whatever the user allowed earlier. */
  | { readonly kind: 'asked' }
  | Allowed
  | { readonly kind: 'deny' }

/** The same, and on the page of the step-up. */
export type UserAnswer = ConsentAnswer & {
  /** `prompt=none`: no page can be shown. Absent: one can. */
  readonly isSilent?: boolean
  /** The user continues without a factor that the request asks for. Absent: no such answer. */
  readonly declinesStepUp?: boolean
}

/**
 * Returns the next step of an authorization. RFC 6749 §4.1.
 *
 * An authorization begins when a client sends the user's browser to the authorization endpoint (`authorize.ts`). The endpoint
 * first finds the client and checks the redirect URI. If either is wrong, the user sees an error page, because no address is
 * known to be safe. The endpoint then checks the rest of the request: PKCE, resources, scopes, prompt. If something is wrong
 * there, the client receives the error (`refuse`). A valid request is stored as a pending authorization with the hash of a
 * cookie, so that no other browser can continue it.
 *
 * From then on this function decides. It looks at the stored authorization, at the session and at the answer of the user,
 * in this order:
 *
 *  1. Sign-in. Without a session the user signs in. With `prompt=login` the user must have authenticated after the request,
 *     and with `max_age` lately; so with a scope that requires it, if its level is in reach. The operator's application is asked with each request, unless it
 *     said that the browser stays signed in. If the request names a user (`id_token_hint`), another user who is
 *     signed in is asked to sign in; if that was done for this request, the authorization ends. If the request or a scope needs a
 *     higher level than the session has, the user is asked for a factor that the account has (`decideLevel`). Without one, and if the
 *     user continues without it, a scope that requires it is left out, and an essential `acr` ends the authorization. A user whose
 *     account has no factor can set one up: from the consent page, or at once where nothing would be left of the request.
 *     Before that, what access rules take from the user is left out, which is no reason for a page. If nothing is left, a page says why.
 *  2. Denial. If the user pressed "deny", the authorization ends; after the page that says why nothing is left, with that reason.
 *     It also ends if the operator has required pushed requests or PKCE of the client since, and the request lacks them.
 *  3. Organization. If the client named an organization, the user must be an active member of it; otherwise the authorization
 *     ends. If the client named none, the user may choose one of their own, or none.
 *  4. Consent. If the user allowed the client this access earlier, the consent page is skipped, unless consents for several
 *     organizations match, or a scope is left out because the account lacks a factor: the page says so. It is also skipped for a first-party client that requests no more than the operator registered for it,
 *     unless the user has to choose an organization. `prompt=consent` always shows the page. So does an unverified client with a
 *     redirect URI that other programs could receive (client/policy.ts).
 *     A device always leads to the page (decision 0039). The user may leave scopes out, but something must remain.
 *     The console of this server asks a user with a role for no consent and no organization.
 *  5. Approval. The authorization is marked as approved and the browser carries the code to the client. A device gets the tokens by itself.
 *
 * No endpoint decides which endpoint follows. Each parses its request, calls this function and replies:
 *
 *  - `authorize.ts` has a new request, and redirects to a page or directly to the client. `device/enter-code.ts` has that of a device.
 *  - `sign-in/target.ts` has a session that a sign-in method has just started. Usually the consent page is next.
 *  - `consent.ts` displays the question, and accepts the answer.
 *
 * Each step reads the session, the memberships and the consents again. An organization may disable a member while the consent
 * page is open, and then an answer from that page must not count. The form has only the id of the authorization and the answer;
 * everything else comes from the store.
 *
 * An authorization ends once. Approval and denial are single operations of the store, and the first one wins. If the browser
 * sends the approval twice, by a double click for example, it receives the same code again; any other second answer results in
 * the page "already completed". A pending authorization that is never answered expires.
 */
export async function nextStep(
  context: Context,
  subject: Subject,
  signedIn: SignedIn | undefined,
  answer: UserAnswer,
): Promise<Step> {
  const { authorization: whole, rights } = subject
  if (signedIn === undefined || isTooOld(whole, signedIn)) return { kind: 'sign-in' }
  if (await isForAnother(context, signedIn, whole)) return { kind: 'sign-in' }
  const { session } = signedIn
  const userId = signedIn.user.id
  if (isOtherUser(whole, signedIn)) {
    const isAsked = session.createdAt >= whole.createdAt
    return isAsked ? { kind: 'deny', userId, fault: OTHER_USER } : { kind: 'sign-in' }
  }
  if (answer.kind === 'deny') return { kind: 'deny', userId, fault: await findRead(context, subject, userId) }
  const outdated = findOutdated(subject)
  if (outdated !== undefined) return { kind: 'deny', userId, fault: outdated }
  const ruled = await ruleRequest(context, subject, userId, whole.organizationId)
  if (ruled.nothing !== undefined) return nothingLeft(context, whole, signedIn, ruled, answer)
  const { allowed: authorization } = ruled
  const decided =
    answer.declinesStepUp === true
      ? await decideWithout(context, authorization, session.authentication, userId)
      : await decideLevel(context, authorization, signedIn)
  if (decided.kind === 'unmet' || (decided.kind === 'set-up' && answer.isSilent === true))
    return { kind: 'deny', userId, fault: UNMET }
  if (decided.kind !== 'enough') return decided
  const { allowed: open, withheld } = decided
  if (answer.kind === 'not-asked' && isOfConsole(subject) && (await hasRole(context, userId)))
    return {
      kind: 'approve',
      approver: { userId, organization: undefined },
      allowed: open,
      session,
      isRemembered: false,
    }
  const choices = await findChoices(context, authorization, userId)
  if (choices.kind === 'not-a-member') return { kind: 'deny', userId, fault: NOT_A_MEMBER }
  if (answer.kind === 'allow') {
    if (isUnconfirmed(authorization, answer))
      return { kind: 'consent', signedIn, choices, ruled, withheld, problem: 'device-unconfirmed', answer }
    const chosen = chooseOrganization(choices, answer.organization)
    if (typeof chosen === 'string')
      return { kind: 'consent', signedIn, choices, ruled, withheld, problem: chosen, answer }
    const allowed = chooseScope(await loadScopeCatalog(context), open, answer.isAllowed)
    if (allowed === 'scope-missing')
      return { kind: 'consent', signedIn, choices, ruled, withheld, problem: allowed, answer }
    const { isRemembered } = answer
    return approveWithin(
      context,
      subject,
      signedIn,
      { approver: { userId, ...chosen }, allowed, session, isRemembered },
      answer,
    )
  }
  const mayUseEarlier = answer.kind === 'not-asked' && !authorization.mustConsent
  // Each time, as for a scope that the user left out. After "continue without" the user knows it.
  const isTold = withheld === NO_SCOPE || answer.declinesStepUp === true || answer.isSilent === true
  const earlier = mayUseEarlier && isTold ? await findRemembered(context, subject, open, userId, choices) : undefined
  if (earlier !== undefined)
    return approveWithin(
      context,
      subject,
      signedIn,
      { approver: earlier, allowed: open, session, isRemembered: true },
      answer,
    )
  const isImplied =
    mayUseEarlier && rights.mayImplyConsent && (await isOwnAccess(context, { ...subject, authorization: open }))
  const chosen = isImplied ? chooseOrganization(choices, undefined) : undefined
  if (typeof chosen === 'object') {
    const approval = { approver: { userId, ...chosen }, allowed: open, session, isRemembered: false }
    return approveWithin(context, subject, signedIn, approval, answer)
  }
  return { kind: 'consent', signedIn, choices, ruled, withheld, problem: undefined, answer: undefined }
}

/** What the page said of which the user went back. undefined: the user was asked, and denied. */
async function findRead(context: Context, subject: Subject, userId: UserId): Promise<Fault | undefined> {
  const { nothing } = await ruleRequest(context, subject, userId, subject.authorization.organizationId)
  return nothing === undefined ? undefined : { ...ACCESS_RULE, isRead: true }
}

/** The page that says why nothing is left. With `prompt=none`, and after the page of the application, the client gets the error at once. */
async function nothingLeft(
  context: Context,
  authorization: AuthorizationRecord,
  signedIn: SignedIn,
  ruled: RuledRequest,
  answer: UserAnswer,
): Promise<Step> {
  const userId = signedIn.user.id
  ruled.nothing?.record()
  const choices = await findChoices(context, authorization, userId)
  if (choices.kind === 'not-a-member') return { kind: 'deny', userId, fault: NOT_A_MEMBER }
  if (answer.isSilent === true || (answer.kind === 'allow' && answer.isOfApplication))
    return { kind: 'deny', userId, fault: ACCESS_RULE }
  return { kind: 'consent', signedIn, choices, ruled, withheld: NO_SCOPE, problem: undefined, answer: undefined }
}

/** Approves what the rules of the organization leave too, which the request did not name. */
async function approveWithin(
  context: Context,
  { authorization, client }: Subject,
  signedIn: SignedIn,
  approval: Approval,
  answer: UserAnswer,
): Promise<Step> {
  const { approver, allowed } = approval
  const { organization, userId } = approver
  if (organization === undefined || authorization.organizationId !== undefined) return { kind: 'approve', ...approval }
  const ruled = await ruleRequest(context, { authorization: allowed, client }, userId, organization.id)
  if (ruled.nothing !== undefined) return nothingLeft(context, authorization, signedIn, ruled, answer)
  return { kind: 'approve', ...approval, allowed: ruled.allowed }
}

/**
 * `prompt=login` requires that the user authenticated after the request was made, and `max_age` not longer ago than it says. A session may
 * be newer than what it followed from, and an unknown time is too old (threats.md UP-24).
 */
export function isTooOld(
  { authenticatedSince, createdAt, mustSignIn }: AuthorizationRecord,
  { session }: SignedIn,
): boolean {
  const since = mustSignIn ? createdAt : authenticatedSince
  return since !== undefined && (session.authentication.at ?? 0) < since
}

/** Whether the device is in another network, and the user has not confirmed that it is an own one. */
function isUnconfirmed({ device }: AuthorizationRecord, { isOwnDevice }: Allowed): boolean {
  return device?.isSameNetwork === false && !isOwnDevice
}

/** Why the client may no longer send a request that waits. */
function findOutdated({ authorization, client, rights }: Subject): Fault | undefined {
  // A device sends no authorization request, and no code is sent to it.
  if (authorization.device !== undefined) return undefined
  if (mustPush(client) && authorization.pushedRequestId === undefined) return NOT_PUSHED
  const { codeChallenge, openid } = authorization
  if (codeChallenge === undefined && !replacesPkce(authorization, rights.pkce, openid))
    return { error: 'invalid_request', reason: challengeFault(rights.pkce) }
  return undefined
}

function isOtherUser({ onlyUserId }: AuthorizationRecord, { user }: SignedIn): boolean {
  return onlyUserId !== undefined && onlyUserId !== user.id
}

/** Whether the request is within the scope that the operator registered for the client, and for no API without scopes. */
async function isOwnAccess({ apis }: Context, { authorization, client }: Subject): Promise<boolean> {
  const { resources, scope } = authorization
  const isUnlimited = (await apis()).some((api) => resources.includes(api.resource) && api.scopes.length === 0)
  return !isUnlimited && isWithin(scope, client.metadata.scope ?? NO_SCOPE)
}

/** Carries out a step of a stored authorization. A step that needs a page redirects to it. */
export async function takeStep(
  context: Context,
  subject: Subject & { readonly uiLocales: string | undefined },
  step: Step,
  cookies: CookieChanges,
): Promise<Reply> {
  const { authorization, uiLocales } = subject
  switch (step.kind) {
    case 'approve':
      return approve(context, subject, step, cookies)
    case 'deny':
      return deny(context, subject, step.userId, step.fault, cookies)
    case 'sign-in':
    case 'step-up':
    case 'set-up':
    case 'consent': {
      const path = pathOf(context, step.kind)
      const location = pageAddress(context.issuer, path, { authorization: authorization.id, uiLocales })
      return { kind: 'redirect', location, cookies }
    }
  }
}

/** The operator's application asks for more where it signs users in. */
function pathOf({ settings }: Context, kind: 'sign-in' | 'step-up' | 'set-up' | 'consent'): string {
  switch (kind) {
    case 'sign-in':
      return PATHS.signIn
    case 'step-up':
      return settings.delegate === undefined ? PATHS.stepUp : PATHS.signIn
    case 'set-up':
      return PATHS.setUpFactor
    case 'consent':
      return PATHS.consent
  }
}
