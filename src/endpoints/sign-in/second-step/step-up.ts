import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import { continueWithout } from '../../authorization/consent.ts'
import { findOpenInteraction, type Interaction } from '../../authorization/interaction.ts'
import { nextStep, takeStep } from '../../authorization/next-step.ts'
import { findSignedIn, isRecent, type SignedIn } from '../../authorization/session.ts'
import { findAddableLevel } from '../../authorization/step-up.ts'
import { PATHS, pageAddress } from '../../paths.ts'
import { ADDS_FACTOR } from '../target.ts'
import { expired, openSecondStep } from './finish.ts'
import { secondStepPage } from './page.ts'
import { mintWaiting, type StepUp } from './waiting.ts'

/**
 * Shows the page on which a user who is signed in confirms with a factor that the request needs. RFC 9470 §5. Its forms are those of the
 * second step, with the session in the place of the first one. The page writes nothing.
 */
export async function showStepUp(context: Context, request: Request): Promise<Reply> {
  const interaction = await findOpenInteraction(context, request)
  if ('kind' in interaction) return interaction
  const signedIn = await findSignedIn(context, request.cookies)
  const step = await nextStep(context, interaction, signedIn, { kind: 'not-asked' })
  if (step.kind !== 'step-up' || signedIn === undefined || context.settings.delegate !== undefined)
    return takeStep(context, interaction, step, {})
  return stepUpPage(context, interaction, signedIn, { level: step.level, addsFactor: false })
}

/**
 * Shows the page on which a user whose account has no second factor sets one up, because the request needs it. The user has signed in a
 * moment ago, or does so first: another person at the open browser must not add a factor (threats.md ACR-04). A user who needs no factor
 * goes on with the request.
 */
export async function showSetUp(context: Context, request: Request): Promise<Reply> {
  const interaction = await findOpenInteraction(context, request)
  if ('kind' in interaction) return interaction
  const signedIn = await findSignedIn(context, request.cookies)
  const step = await nextStep(context, interaction, signedIn, { kind: 'asked' })
  const isAsked = step.kind === 'consent' || step.kind === 'set-up'
  const { authorization, uiLocales } = interaction
  const level =
    signedIn === undefined || !isAsked ? undefined : await findAddableLevel(context, authorization, signedIn)
  if (signedIn === undefined || level === undefined) return takeStep(context, interaction, step, {})
  if (isRecent(context, signedIn)) return stepUpPage(context, interaction, signedIn, { level, addsFactor: true })
  const parameters = { authorization: authorization.id, [ADDS_FACTOR]: '1', uiLocales }
  return { kind: 'redirect', location: pageAddress(context.issuer, PATHS.signIn, parameters), cookies: {} }
}

function stepUpPage(
  context: Context,
  interaction: Interaction,
  { user, session }: SignedIn,
  stepUp: StepUp,
): Promise<Reply> {
  const target = { purpose: 'authorization', addsFactor: false, ...interaction } as const
  const first = { user, ...session.authentication, identity: undefined, link: undefined, groups: undefined }
  const waiting = mintWaiting(context, target, first, { sessionId: session.id, ...stepUp })
  return secondStepPage(context, target, { ...first, waiting, stepUp }, undefined)
}

/**
 * Goes on without the factor that the request asks for, as if the account had none: a voluntary value of `acr` is not met, a scope is left
 * out, and an essential value ends the authorization (OpenID Connect Core §5.5.1.1). A form of a sign-in has no such way.
 */
export async function declineStepUp(context: Context, request: Request): Promise<Reply> {
  const step = await openSecondStep(context, request)
  if ('kind' in step) return step
  const { target, waiting } = step
  const signedIn = await findSignedIn(context, request.cookies)
  if (waiting.stepUp === undefined || target.purpose !== 'authorization' || signedIn === undefined)
    return expired(context, step)
  return continueWithout(context, target, signedIn)
}
