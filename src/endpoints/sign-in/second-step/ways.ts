import type { Context } from '../../../ports/context.ts'
import type { SecondStepOffer } from '../../../ports/pages/pages.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import { levelOf, type Authentication } from '../../../protocol/sign-in/authentication.ts'
import { PATHS, pageAddress } from '../../paths.ts'
import { findApp } from '../../second-factor/app.ts'
import {
  beginEnrolment,
  ENROLMENT_FIELD,
  viewEnrolment,
  type Enrolment,
  type EnrolmentPlace,
} from '../../second-factor/enrolment.ts'
import { askToMake, askToSign, type Ceremony } from '../passkey/ceremony.ts'
import {
  findFactorNeed,
  findFactors,
  hasFactor,
  mayAddPasskey,
  type Factors,
  type FactorSense,
} from '../../../users/factors.ts'
import { offersPasskeys } from '../../../users/provider-routing.ts'
import { offerProvider } from '../methods.ts'
import { keyOf, type SignInTarget } from '../target.ts'
import type { StepUp } from './waiting.ts'

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
  /** What a user who is signed in is asked for. undefined: the second step of a sign-in. */
  readonly stepUp: StepUp | undefined
  /** The app that the user sets up on the page. undefined: the page begins with another one. */
  readonly enrolment: Enrolment | undefined
}

/** The table of ways, in the order of the page. */
export const SECOND_STEP_WAYS: readonly SecondStepWay[] = [
  { offer: offerCode },
  { offer: offerRecoveryCode },
  { offer: offerPasskey },
  { offer: offerStrongProvider },
  { offer: offerApp },
]

async function offerCode(context: Context, { user, target, stepUp }: WayInput): Promise<readonly SecondStepOffer[]> {
  if (stepUp?.level === 3) return []
  const app = await findApp(context, user.id)
  return app?.kind === 'on' ? [{ kind: 'code', action: actionOf(context, target, PATHS.signInCode) }] : []
}

async function offerRecoveryCode(
  context: Context,
  { user, target, stepUp }: WayInput,
): Promise<readonly SecondStepOffer[]> {
  if (stepUp?.level === 3) return []
  const isUsable =
    (await findApp(context, user.id))?.kind === 'on' && (await context.store.countRecoveryCodes(user.id)) > 0
  return isUsable ? [{ kind: 'recovery-code', action: actionOf(context, target, PATHS.signInRecoveryCode) }] : []
}

/** Passkeys of the user, or, where the user has no second factor, a new one. */
async function offerPasskey(context: Context, { user, target, stepUp }: WayInput): Promise<readonly SecondStepOffer[]> {
  if (!offersPasskeys(context)) return []
  const passkeys = await context.store.listPasskeys(user.id)
  const ceremony = passkeyStep({ user, target })
  if (passkeys.length > 0) {
    const action = actionOf(context, target, PATHS.signInPasskeyStep)
    return [{ kind: 'passkey', action, ceremony: askToSign(context, ceremony, passkeys) }]
  }
  if (!setsUp(stepUp) || !(await mayAddPasskey(context, user))) return []
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
  const { identities } = (await findFactors(context, user)).usable
  const strong = (await context.providers()).filter(({ id }) => identities.some((one) => one.providerId === id))
  return strong.map((provider) => offerProvider(context, target, provider))
}

async function offerApp(context: Context, input: WayInput): Promise<readonly SecondStepOffer[]> {
  const { user, target, stepUp } = input
  if (!setsUp(stepUp) || stepUp?.level === 3 || !mayEnrol(await findFactors(context, user))) return []
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
 * Whether a user who has done the first step may set an app up: only if the account has no second factor that counts, whether it works now
 * or not, because a person who knows the password could otherwise use a factor of their own (threats.md OTP-02, ACC-20).
 */
export function mayEnrol({ counting }: Readonly<Record<FactorSense, Factors>>): boolean {
  return !hasFactor(counting)
}

/** Whether a factor may be set up: a step-up to a factor that the account has adds none (threats.md ACR-04). */
function setsUp(stepUp: StepUp | undefined): boolean {
  return stepUp === undefined || stepUp.addsFactor
}

/** An app is set up in the browser of the sign-in. */
export function placeOf({ user, target }: Pick<WayInput, 'user' | 'target'>): EnrolmentPlace {
  return { user, place: target.browserHash }
}

function actionOf({ issuer }: Context, { uiLocales }: SignInTarget, path: string): string {
  return pageAddress(issuer, path, { uiLocales })
}

/**
 * Whether a second step follows the first one, as `findFactorNeed` says. A passkey has two factors by itself, and the operator's
 * application and a provider with `multi_factor` have asked for them.
 */
export async function needsSecondStep(
  context: Context,
  user: Pick<UserRecord, 'id' | 'email'>,
  { methods }: Pick<Authentication, 'methods'>,
): Promise<boolean> {
  if (context.settings.delegate !== undefined || levelOf(methods) > 1) return false
  const need = await findFactorNeed(context, user)
  return need === 'if-counting' ? hasFactor((await findFactors(context, user)).counting) : need === 'always'
}
