import type { Context, StoreNeeds } from '../../../ports/context.ts'
import type { SecondStepOffer } from '../../../ports/pages.ts'
import type { ProviderRecord } from '../../../ports/records/provider.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import { levelOf, type Authentication, type AuthenticationLevel } from '../../../protocol/sign-in/authentication.ts'
import { PATHS, pageAddress } from '../../paths.ts'
import { findApp } from '../../second-factor/app.ts'
import {
  beginEnrolment,
  ENROLMENT_FIELD,
  viewEnrolment,
  type Enrolment,
  type EnrolmentPlace,
} from '../../second-factor/enrolment.ts'
import { askToMake, askToSign, offersPasskeys, type Ceremony } from '../passkey/ceremony.ts'
import { multiFactorIdentities } from '../../../users/provider-routing.ts'
import { offerProvider } from '../methods.ts'
import { keyOf, type SignInTarget } from '../target.ts'

/**
 * A way to do the second step, or to set one up. Its endpoints open the waiting sign-in (`openWaiting`), check the second factor, use the
 * waiting sign-in up, and call `finishSignIn` with the methods of both steps.
 */
export interface SecondStepWay {
  /** What the page of the second step has of the way. Empty: this user cannot use it. */
  readonly offer: (context: Context, input: WayInput) => Promise<readonly SecondStepOffer[]>
}

/** Whose second step it is, in which sign-in. */
export interface WayInput {
  readonly user: UserRecord
  readonly target: SignInTarget
  /** The level that a user who is signed in is asked for. undefined: the second step of a sign-in. */
  readonly stepUp: AuthenticationLevel | undefined
  /** The app that the user sets up on the page. undefined: the page begins with another one. */
  readonly enrolment: Enrolment | undefined
}

type EnrolmentNeeds = Pick<Context, 'encryption' | 'providers' | 'settings'> &
  StoreNeeds<'findSecondFactor' | 'listIdentities' | 'listPasskeys'>

/** The table of ways, in the order of the page. */
export const SECOND_STEP_WAYS: readonly SecondStepWay[] = [
  { offer: offerCode },
  { offer: offerRecoveryCode },
  { offer: offerPasskey },
  { offer: offerStrongProvider },
  { offer: offerApp },
]

async function offerCode(context: Context, { user, target, stepUp }: WayInput): Promise<readonly SecondStepOffer[]> {
  if (stepUp === 3) return []
  const app = await findApp(context, user.id)
  return app?.kind === 'on' ? [{ kind: 'code', action: actionOf(context, target, PATHS.signInCode) }] : []
}

async function offerRecoveryCode(
  context: Context,
  { user, target, stepUp }: WayInput,
): Promise<readonly SecondStepOffer[]> {
  if (stepUp === 3) return []
  const isUsable =
    (await findApp(context, user.id))?.kind === 'on' && (await context.store.countRecoveryCodes(user.id)) > 0
  return isUsable ? [{ kind: 'recovery-code', action: actionOf(context, target, PATHS.signInRecoveryCode) }] : []
}

/** Passkeys of the user, or, where the user has no second factor, a new one. A step-up adds none (threats.md ACR-04). */
async function offerPasskey(context: Context, { user, target, stepUp }: WayInput): Promise<readonly SecondStepOffer[]> {
  if (!offersPasskeys(context)) return []
  const passkeys = await context.store.listPasskeys(user.id)
  const ceremony = passkeyStep({ user, target })
  if (passkeys.length > 0) {
    const action = actionOf(context, target, PATHS.signInPasskeyStep)
    return [{ kind: 'passkey', action, ceremony: askToSign(context, ceremony, passkeys) }]
  }
  if (stepUp !== undefined || !(await mayAddPasskey(context, user))) return []
  const action = actionOf(context, target, PATHS.signInNewPasskey)
  return [{ kind: 'passkey', action, ceremony: askToMake(context, ceremony, user, []) }]
}

/** The ceremony of a passkey in the second step: of this user, in this sign-in. */
export function passkeyStep({ user, target }: Pick<WayInput, 'user' | 'target'>): Ceremony {
  return { browserHash: target.browserHash, purpose: 'second-step', bound: [keyOf(target), user.id] }
}

/** Where the account has no app that works, an account at a provider that always asks for two factors is its second factor. */
async function offerStrongProvider(
  context: Context,
  { user, target, stepUp }: WayInput,
): Promise<readonly SecondStepOffer[]> {
  if (stepUp !== undefined || (await findApp(context, user.id))?.kind === 'on') return []
  const providers = await findStrongProviders(context, user)
  return providers.map((provider) => offerProvider(context, target, provider))
}

/** The usable providers with `multi_factor` at which the user has an account. */
async function findStrongProviders(
  context: Pick<Context, 'providers' | 'settings'> & StoreNeeds<'listIdentities'>,
  { id }: Pick<UserRecord, 'id'>,
): Promise<readonly ProviderRecord[]> {
  const [providers, identities] = await Promise.all([context.providers(), context.store.listIdentities(id)])
  const strong = multiFactorIdentities(context.settings, providers, identities)
  return providers.filter((provider) => strong.some(({ providerId }) => providerId === provider.id))
}

async function offerApp(context: Context, input: WayInput): Promise<readonly SecondStepOffer[]> {
  const { user, target } = input
  if (input.stepUp !== undefined || !(await mayEnrol(context, user))) return []
  const where = placeOf(input)
  const enrolment = input.enrolment ?? beginEnrolment(context, where)
  return [
    {
      kind: 'set-up',
      action: actionOf(context, target, PATHS.signInApp),
      hidden: { [ENROLMENT_FIELD]: enrolment.text },
      enrolment: viewEnrolment(context.settings.serverName, where, enrolment),
    },
  ]
}

/**
 * Whether a user who has done the first step may set an app up: only if the account has no second factor that works, because a person who
 * knows the password could otherwise use a factor of their own (threats.md OTP-02).
 */
export async function mayEnrol(context: EnrolmentNeeds, user: Pick<UserRecord, 'id'>): Promise<boolean> {
  const { id } = user
  const [app, passkeys] = await Promise.all([findApp(context, id), context.store.listPasskeys(id)])
  return app?.kind !== 'on' && passkeys.length === 0 && (await findStrongProviders(context, user)).length === 0
}

/** Whether such a user may add a passkey: an app that a leak made void is replaced by another app, as the store has it. */
export async function mayAddPasskey(
  context: EnrolmentNeeds & Pick<Context, 'issuer'>,
  user: Pick<UserRecord, 'id'>,
): Promise<boolean> {
  if (!offersPasskeys(context) || (await context.store.findSecondFactor(user.id)) !== undefined) return false
  return mayEnrol(context, user)
}

/** An app is set up in the browser of the sign-in. */
export function placeOf({ user, target }: Pick<WayInput, 'user' | 'target'>): EnrolmentPlace {
  return { user, place: target.browserHash }
}

function actionOf({ issuer }: Pick<Context, 'issuer'>, { uiLocales }: SignInTarget, path: string): string {
  return pageAddress(issuer, path, { uiLocales })
}

/**
 * Whether a second step follows the first one: the account has an authenticator app, or the operator requires two factors. A passkey has
 * two factors by itself, and the operator's application and a provider with `multi_factor` have asked for them.
 */
export async function needsSecondStep(
  { settings, store }: Pick<Context, 'settings'> & StoreNeeds<'findSecondFactor'>,
  { id }: Pick<UserRecord, 'id'>,
  { methods }: Pick<Authentication, 'methods'>,
): Promise<boolean> {
  if (settings.delegate !== undefined || levelOf(methods) > 1) return false
  return settings.secondFactor === 'required' || (await store.findSecondFactor(id)) !== undefined
}
