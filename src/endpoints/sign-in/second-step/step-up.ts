import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import { findOpenInteraction } from '../../authorization/interaction.ts'
import { nextStep, takeStep } from '../../authorization/next-step.ts'
import { findSignedIn } from '../../authorization/session.ts'
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
  return secondStepPage(context, target, { user, waiting, stepUp: level }, undefined)
}
