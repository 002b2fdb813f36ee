import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import type { SignInGroups } from '../../../ports/operations/session.ts'
import type { SignInProblem } from '../../../ports/pages/pages.ts'
import type { ProviderRecord } from '../../../ports/records/provider.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import type { UpstreamAnswer, UpstreamFailure, UpstreamReason } from '../../../ports/provider-sign-in.ts'
import { joinOrganization } from '../../../users/provider-membership.ts'
import { findRequiredProvider, isOfAnotherProvider, isUsable } from '../../../users/provider-routing.ts'
import { evaluateTime, methodsElsewhere, type Authentication } from '../../../protocol/sign-in/authentication.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { parseProviderId } from '../../../protocol/sign-in/provider.ts'
import { identityKey, evaluateIdentity, type ProviderIdentity } from '../../../protocol/sign-in/provider-identity.ts'
import { findSignedIn } from '../../authorization/session.ts'
import { errorPage } from '../../error-page.ts'
import { offerProduct } from '../../journey.ts'
import { PATHS, pageAddress } from '../../paths.ts'
import { finishSignIn } from '../finish-sign-in.ts'
import { refusedSignIn, signInPage, signInProblem } from '../page.ts'
import { clientOf, findTarget, readDemand, type SignInTarget } from '../target.ts'
import { countUnguessable } from '../throttle.ts'
import { downProblem, findAddress, offProblem, reportFailure } from './depart.ts'
import { groupsSaid } from './groups.ts'
import { resolveIdentity, type Arrival, type Resolution } from './resolve.ts'
import { openState, type ProviderState } from './state.ts'

/** A callback whose state is valid. */
interface Return {
  readonly provider: ProviderRecord
  readonly target: SignInTarget
  readonly state: ProviderState
}

/** A person whom the provider has authenticated, and when. */
interface Arrived extends Pick<Authentication, 'at'> {
  readonly identity: ProviderIdentity
  readonly groups: SignInGroups | undefined
}

/** How far the clocks of a provider and of this server may differ. */
const AUTH_TIME_TOLERANCE_MS = 60_000

/**
 * The redirect URI of this server at a provider. RFC 6749 §4.1.2, OpenID Connect Core §3.1.2.5.
 *
 *  1. The state is of this provider and this browser. Otherwise no request is sent (threats.md UP-10), and the answer does not say whether
 *     there is such a provider (UP-33).
 *  2. What the user signs in for is still open, and the provider usable (UP-07, DEL-14).
 *  3. The browser and its network have not failed too often.
 *  4. The state was not used before: of requests with one state, one goes on (UP-06).
 *  5. The provider redeems the code, and says when the person authenticated. If that is too long ago, or not said where it is needed, the
 *     person is sent there once more to authenticate again (UP-21, UP-24).
 *  6. The provider is read again, so that a change of its settings while it answered counts (UP-07).
 *  7. `resolveIdentity` finds the account.
 */
export async function finishAtProvider(context: Context, request: Request): Promise<Reply> {
  const id = parseProviderId(request.name ?? '')
  const state = id === undefined ? errorPage('provider_state_wrong') : await openState(context, request, { id })
  if ('kind' in state) return state
  const provider = await context.store.findProvider(state.providerId)
  if (provider === undefined) return errorPage('provider_gone')
  const target = await findTarget(context, request, state.targetKey)
  if ('kind' in target) return target
  const returned = { provider, target, state }
  if (!isUsable(context.settings, provider)) return again(context, returned, offProblem(provider))
  const attempt = await countUnguessable(context, request)
  if (attempt.kind === 'refused') {
    return again(context, returned, { kind: 'throttled', retryAfterSeconds: attempt.retryAfterSeconds })
  }
  if (!(await state.use())) {
    await attempt.forgive()
    return errorPage('provider_state_used', { client: clientOf(target)?.id })
  }
  const binding = { ...state.binding, network: request.network }
  const finished = await context.providerSignIn.finish(provider, binding, queryOf(request))
  if (finished.kind === 'failed') {
    if (NO_ATTEMPT.includes(finished.reason)) await attempt.forgive()
    return failedPage(context, returned, finished)
  }
  const now = await context.store.findProvider(provider.id)
  if (now === undefined || !isUsable(context.settings, now) || !isSameSource(now, provider)) {
    await attempt.forgive()
    return again(context, returned, now === undefined ? { kind: 'method-off' } : offProblem(now))
  }
  const current = { ...returned, provider: now }
  const evaluated = await evaluateAnswer(context, current, finished)
  if (evaluated.kind === 'not-fresh') {
    reportFailure(context, now, 'not-fresh')
    return again(context, current, { kind: 'provider-not-fresh', provider: now.settings.name })
  }
  if (evaluated.kind === 'failed') return failedPage(context, current, evaluated)
  await attempt.forgive()
  if (evaluated.kind === 'ask-again') return askAgain(context, request, current, evaluated.identity)
  // As they were read, so that another list meanwhile starts no session.
  const groups = groupsSaid(context, provider, finished.groups)
  return arrive(context, request, current, { ...evaluated, groups })
}

/** Whether a subject that one record of a provider got names the same person in the other. A deleted provider may have been created again. */
function isSameSource({ settings: one }: ProviderRecord, { settings: other }: ProviderRecord): boolean {
  return one.kind === other.kind && one.issuer === other.issuer && one.clientId === other.clientId
}

/** A person who changed their mind, and a server that is busy, are no failed attempts. The rate of the network counts them all the same. */
const NO_ATTEMPT: readonly UpstreamReason[] = ['busy', 'refused']
const BUSY_SECONDS = 5

/** Judges who the person is, and when the person authenticated. The provider of a person who is refused was asked for a new sign-in. */
async function evaluateAnswer(
  { clockCheck, providers }: Context,
  { provider, target, state }: Return,
  { claims, time }: UpstreamAnswer,
): Promise<
  | (Omit<Arrived, 'groups'> & { readonly kind: 'accepted' | 'ask-again' })
  | UpstreamFailure
  | { readonly kind: 'not-fresh' }
> {
  const identity = evaluateIdentity(provider.settings, claims, isOfAnotherProvider(await providers(), provider))
  if (identity === undefined) return failed('no usable subject')
  const demand = readDemand(target, state.signInAfter)
  const evaluated = evaluateTime(time, demand, { now: clockCheck.now(), toleranceMs: AUTH_TIME_TOLERANCE_MS })
  if (evaluated.kind === 'too-old') return { kind: 'not-fresh' }
  if (evaluated.kind === 'future') return failed('The authentication is in the future.')
  return { identity, at: undefined, ...evaluated }
}

function failed(detail: string): UpstreamFailure {
  return { kind: 'failed', reason: 'invalid', detail }
}

/** Sends the person back to the provider, which has to authenticate the person, whatever session it has. */
async function askAgain(
  context: Context,
  request: Request,
  returned: Return,
  { email }: ProviderIdentity,
): Promise<Reply> {
  const { provider, target, state } = returned
  const { purpose } = state
  const location = await findAddress(context, request, {
    provider,
    target,
    purpose,
    email,
    signedIn: undefined,
    isAgain: true,
  })
  return location === undefined ? again(context, returned, downProblem(provider)) : { kind: 'redirect', location }
}

function queryOf({ params }: Request): URLSearchParams {
  return new URLSearchParams(params.names.flatMap((name) => params.all(name).map((value) => [name, value])))
}

async function arrive(context: Context, request: Request, returned: Return, arrived: Arrived): Promise<Reply> {
  const { identity } = arrived
  const { provider, target, state } = returned
  const signedIn = state.purpose.kind === 'connect' ? await findSignedIn(context, request.cookies) : undefined
  const { purpose } = state
  const key = identityKey({ id: provider.id, ...provider.settings }, identity.subject)
  const arrival = { provider, identity, key, purpose, browserHash: target.browserHash, request, signedIn }
  // The link is gone when the identity is linked.
  const links = purpose.kind === 'link' ? await context.store.listLinks(purpose.userId) : []
  const resolution = await resolveIdentity(context, arrival)
  switch (resolution.kind) {
    case 'user': {
      const { user } = resolution
      const reply = await signIn(context, request, returned, { ...arrived, key, user })
      const link = links.find(({ hash }) => purpose.kind === 'link' && hash === purpose.hash)
      return link === undefined || target.purpose !== 'account' ? reply : offerProduct(context, request, link, reply)
    }
    case 'connected':
      if (signedIn !== undefined) await join(context, provider, identity, signedIn.user)
      return {
        kind: 'redirect',
        location: pageAddress(context.issuer, PATHS.accountSecurity, {
          done: 'method-added',
          uiLocales: target.uiLocales,
        }),
      }
    case 'asked':
      return signInPage(context, target, {
        email: identity.email ?? '',
        isConfirmation: false,
        problem: undefined,
        proof: resolution.proof,
      })
    case 'refused':
      return refusedPage(context, returned, resolution, identity)
  }
}

async function signIn(
  context: Context,
  request: Request,
  returned: Return,
  { identity, groups, key, at, user }: Arrived & Pick<Arrival, 'key'> & { readonly user: UserRecord },
): Promise<Reply> {
  const { provider, target, state } = returned
  const { purpose } = state
  const proof = purpose.kind === 'proof' ? await context.store.findIdentityProof(purpose.userId) : undefined
  const isProven = purpose.kind === 'proof' && proof?.hash === purpose.hash && proof.identity.userId === user.id
  // A person whom the required provider has authenticated connects it by a method from before the rule.
  const required = findRequiredProvider(await context.providers(), user.email)
  const isOfProof = isProven && required?.id === proof.identity.providerId
  if (required !== undefined && required.id !== provider.id && !isOfProof) {
    return again(context, returned, { kind: 'account-refused' }, user.id)
  }
  await join(context, provider, identity, user)
  const methods = methodsElsewhere(provider.settings.multiFactor)
  const method = { methods, at, providerId: provider.id, identity: key }
  const link = isProven ? proof.hash : undefined
  const authenticated = {
    user,
    ...method,
    link,
    groups,
    passkey: undefined,
    app: undefined,
    stepUp: undefined,
    endsAt: undefined,
    delegated: undefined,
  }
  const finished = await finishSignIn(context, request, target, authenticated)
  return finished.kind === 'refused' ? again(context, returned, { kind: 'account-refused' }, user.id) : finished
}

/**
 * Each person whose proved address is of the domains becomes a member of the organization of the provider, and any other person only if
 * the operator declared that every person of the provider belongs (threats.md UP-22).
 */
async function join(
  context: Context,
  provider: ProviderRecord,
  { isWithinDomains }: ProviderIdentity,
  { id }: UserRecord,
): Promise<void> {
  if (isWithinDomains || provider.settings.membership === 'anybody') await joinOrganization(context, provider, id)
}

function failedPage(context: Context, returned: Return, { reason }: UpstreamFailure): Promise<Reply> {
  const { provider } = returned
  if (reason === 'busy') return again(context, returned, { kind: 'busy', retryAfterSeconds: BUSY_SECONDS })
  if (reason !== 'refused') reportFailure(context, provider, reason)
  if (reason === 'unreachable' || reason === 'off') return again(context, returned, downProblem(provider))
  const { name, routing } = provider.settings
  return again(context, returned, { kind: 'provider-failed', provider: name, isRequired: routing === 'required' })
}

function refusedPage(
  context: Context,
  returned: Return,
  { reason }: Extract<Resolution, { readonly kind: 'refused' }>,
  { email }: ProviderIdentity,
): Promise<Reply> {
  switch (reason) {
    case 'account-refused':
      return again(context, returned, { kind: 'account-refused' })
    case 'identity-taken':
      return again(context, returned, { kind: 'identity-taken', provider: returned.provider.settings.name })
    case 'provider-off':
      return again(context, returned, { kind: 'method-off' })
    case 'no-account': {
      const { name } = returned.provider.settings
      return again(context, returned, { kind: 'no-account', provider: name, email })
    }
  }
}

/**
 * The sign-in page with a problem. A person who adds a method or accepts a link does not sign in, so there the problem is a page of its
 * own.
 */
async function again(
  context: Context,
  { provider, target, state }: Return,
  problem: SignInProblem,
  userId?: UserId,
): Promise<Reply> {
  const { purpose } = state
  if (purpose.kind === 'sign-in' || purpose.kind === 'proof')
    return signInProblem(context, target, problem, userId, provider.id)
  const user = purpose.kind === 'link' ? purpose.userId : userId
  const reason = problem.kind === 'identity-taken' ? 'identity_taken' : 'provider_not_confirmed'
  return { ...errorPage(reason), event: refusedSignIn(target, problem.kind, user) }
}
