import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { SignInOffer, SignInProblem } from '../../ports/pages/pages.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import { FORM_REFUSALS, type FormReason } from '../../protocol/authorization/page-refusals.ts'
import { destinationOf } from '../../requests/device.ts'
import { findRequiredProvider, isUsable, offersPasskeys, usableProviders } from '../../users/provider-routing.ts'
import { formTarget, viewClient } from '../authorization/client-view.ts'
import { isTooOld } from '../authorization/next-step.ts'
import { findSignedIn, type SignedIn } from '../authorization/session.ts'
import { downProblem, findAddress, offProblem, SIGN_IN } from './provider/depart.ts'
import { PROOF_FIELD, type OpenProof } from './provider/proof.ts'
import { forgotAddress } from './forgot.ts'
import { leaveAddress, SIGN_IN_METHODS, withButtons, type OfferInput } from './methods.ts'
import { clientOf, findConfirming, findOpenTarget, hiddenFields, keyIn, type SignInTarget } from './target.ts'

/** Shows the sign-in page for the authorization or the account page in the query (decision 0022), or goes straight to a provider. */
export async function showSignIn(context: Context, request: Request): Promise<Reply> {
  const target = await findOpenTarget(context, request, keyIn(request))
  if ('kind' in target) return target
  const signedIn = await findConfirming(context, request, target)
  const asked = signedIn ?? (await findAskedAgain(context, request, target))
  const hint = target.purpose === 'account' ? signedIn?.user.email : target.authorization.loginHint
  const cameFrom = asked?.session.authentication.providerId
  const shown = { email: hint ?? '', isConfirmation: asked !== undefined, problem: undefined, cameFrom }
  // From a page of this server the user follows a link: a form there may lead only to this server (CSP `form-action`).
  const away = request.fetchSite === 'same-origin' ? undefined : leaveAddress(context, target)
  if (away !== undefined) return { kind: 'redirect', location: away }
  const provider = await findOnlyProvider(context, { ...shown, target, providers: await context.providers() })
  const required = findRequiredProvider(await context.providers(), hint)
  const problem = required === undefined || required.disabledAt === undefined ? undefined : offProblem(required)
  if (provider === undefined) return signInPage(context, target, { ...shown, problem })
  const location = await findAddress(context, request, {
    provider,
    target,
    purpose: SIGN_IN,
    email: hint,
    signedIn,
    isAgain: false,
  })
  return location === undefined
    ? signInPage(context, target, { ...shown, problem: downProblem(provider) })
    : { kind: 'redirect', location }
}

/** The session of the user who is asked for a newer sign-in: by the client, or before a second factor is set up. */
async function findAskedAgain(context: Context, request: Request, target: SignInTarget): Promise<SignedIn | undefined> {
  if (target.purpose === 'account') return undefined
  const signedIn = await findSignedIn(context, request.cookies)
  const isAsked = signedIn !== undefined && (target.addsFactor || isTooOld(target.authorization, signedIn))
  return isAsked ? signedIn : undefined
}

/**
 * The provider that the address requires, or the only way to sign in, which it is until a user has a passkey: only the page can ask for
 * one. A hint never enables what is not offered.
 */
async function findOnlyProvider(context: Context, input: OfferInput): Promise<ProviderRecord | undefined> {
  const { settings, store } = context
  const { providers, email } = input
  const required = findRequiredProvider(providers, email)
  if (required !== undefined) return isUsable(settings, required) ? required : undefined
  const [only, another] = usableProviders(settings, providers)
  if (settings.passwords === 'on' || another !== undefined || only === undefined) return undefined
  if (!withButtons(settings, input).includes(only)) return undefined
  return offersPasskeys(context) && (await store.hasAnyPasskey()) ? undefined : only
}

const STATUS: Readonly<Record<SignInProblem['kind'], number>> = {
  'wrong-credentials': 401,
  'email-missing': 400,
  'address-unknown': 403,
  'password-missing': 400,
  'password-too-long': 400,
  'second-step-expired': 403,
  'passkey-invalid': 401,
  'passkey-unknown': 401,
  'method-off': 403,
  'account-refused': 403,
  'application-refused': 403,
  'not-answered': 503,
  'provider-off': 403,
  'provider-down': 503,
  'provider-failed': 403,
  'provider-not-fresh': 403,
  'no-account': 403,
  'identity-taken': 409,
  throttled: 429,
  busy: 503,
}

type PageReply = Extract<Reply, { readonly kind: 'page' }>

/** What the sign-in page shows besides the offers. */
interface ShownSignIn {
  readonly email: string
  readonly isConfirmation: boolean
  readonly problem: SignInProblem | undefined
  /** A provider named the address of an account, and the user signs in to that account first. */
  readonly proof?: OpenProof | undefined
  /** The provider at which the user signed in, or tried to, in this browser. */
  readonly cameFrom?: ProviderId | undefined
  /** The user whose sign-in was refused, for the log. */
  readonly userId?: UserId | undefined
}

/** The sign-in page with everything that the methods offer. A method shows it again with the problem of the last attempt. */
export async function signInPage(
  context: Context,
  target: SignInTarget,
  { proof, cameFrom, userId, ...shown }: ShownSignIn,
): Promise<PageReply> {
  const { problem } = shown
  const providers = await context.providers()
  const input = { target, providers, email: shown.email, cameFrom }
  const offers = SIGN_IN_METHODS.flatMap(({ offer }) => offer(context, input))
  // With a proof of the required provider, the person signs in with a method from before the rule.
  const isRouted = proof === undefined && findRequiredProvider(providers, shown.email) !== undefined
  return {
    kind: 'page',
    status: problem === undefined ? 200 : STATUS[problem.kind],
    ...(problem === undefined ? {} : { event: refusedSignIn(target, problem.kind, userId) }),
    ...(problem !== undefined && 'retryAfterSeconds' in problem
      ? { retryAfterSeconds: problem.retryAfterSeconds }
      : {}),
    ...(target.purpose === 'authorization' ? { formTarget: formTarget(target.authorization.redirectUri) } : {}),
    page: {
      kind: 'sign-in',
      hidden: { ...hiddenFields(context, target), ...(proof === undefined ? {} : { [PROOF_FIELD]: proof.token }) },
      client:
        target.purpose === 'authorization'
          ? viewClient(target, destinationOf(target.authorization), context.clock())
          : undefined,
      offers: isRouted ? offers.flatMap(offerRouted) : offers,
      forgotUri: forgotAddress(context, target),
      connecting: viewConnection(providers, proof),
      ...shown,
    },
  }
}

/** What works for an address that a provider is required for: that provider, and another address. */
function offerRouted(offer: SignInOffer): readonly SignInOffer[] {
  if (offer.kind === 'passkey') return []
  return [offer.kind === 'password' ? { ...offer, asksEmailFirst: true } : offer]
}

/** The provider that the sign-in connects to the account. */
function viewConnection(
  providers: readonly ProviderRecord[],
  open: OpenProof | undefined,
): { readonly name: string; readonly isRequired: boolean } | undefined {
  const provider = providers.find(({ id }) => id === open?.proof.identity.providerId)
  if (provider === undefined) return undefined
  // The account has the address that the provider named.
  const required = findRequiredProvider(providers, open?.proof.identity.email)
  return { name: provider.settings.name, isRequired: required?.id === provider.id }
}

/** The sign-in page after an attempt that names no address of the user. */
export function signInProblem(
  context: Context,
  target: SignInTarget,
  problem: SignInProblem,
  userId?: UserId,
  cameFrom?: ProviderId,
): Promise<PageReply> {
  return signInPage(context, target, { email: '', isConfirmation: false, problem, userId, cameFrom })
}

/** The event of a sign-in that a method refused. `check` is what failed, if that is more exact than the reason. */
export function refusedSignIn(
  target: SignInTarget,
  reason: FormReason,
  user: UserId | undefined,
  check?: string,
): OutcomeEvent {
  const description = check ?? FORM_REFUSALS[reason]
  return { event: 'sign-in.refused', client: clientOf(target)?.id, user, reason, description }
}
