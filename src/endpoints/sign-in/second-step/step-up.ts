import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import { continueWithout } from '../../authorization/consent.ts'
import { findOpenInteraction } from '../../authorization/interaction.ts'
import { nextStep, takeStep } from '../../authorization/next-step.ts'
import { findSignedIn } from '../../authorization/session.ts'
import { expired, openSecondStep } from './finish.ts'
import { secondStepPage } from './page.ts'
import { mintWaiting } from './waiting.ts'

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
  const { user, session } = signedIn
  const target = { purpose: 'authorization', ...interaction } as const
  const first = { user, ...session.authentication, identity: undefined, link: undefined }
  const { level } = step
  const waiting = mintWaiting(context, target, first, { sessionId: session.id, level })
  return secondStepPage(context, target, { ...first, waiting, stepUp: level }, undefined)
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
