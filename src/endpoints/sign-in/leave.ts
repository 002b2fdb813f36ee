import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { after } from '../../base/brand.ts'
import { mintInteractionId } from '../../protocol/ids.ts'
import { applicationAddress } from '../../protocol/sign-in/interaction.ts'
import { takeAuthorization } from '../authorization/authorize.ts'
import { errorPage } from '../error-page.ts'
import { AFRESH } from './methods.ts'
import { demandOf, findConfirming, findOpenTarget, keyIn, keyOf } from './target.ts'

/**
 * Redirects the browser to the application that signs users in. The address has a credential of this interaction alone, which is
 * useless in another browser.
 */
export async function leaveForApplication(context: Context, request: Request): Promise<Reply> {
  const now = context.clockCheck.now()
  // Each redirect is stored.
  takeAuthorization(context, request.network, now)
  const { delegate } = context.settings
  if (delegate === undefined) return errorPage('not_delegated')
  const target = await findOpenTarget(context, request, keyIn(request))
  if ('kind' in target) return target
  const isConfirmation = (await findConfirming(context, request, target)) !== undefined
  const mustSignIn = isConfirmation || request.params.get(AFRESH) !== undefined
  const id = mintInteractionId(now, context.random)
  const { token, hash } = context.secrets.mint('interaction', id, context.random)
  await context.store.startInteraction({
    id,
    hash,
    target: keyOf(target),
    browserHash: target.browserHash,
    uiLocales: request.uiLocales,
    signInAfter: (await demandOf(context, target, mustSignIn, now))?.after,
    expiresAt:
      target.purpose === 'authorization'
        ? target.authorization.expiresAt
        : after(now, context.settings.lifetimes.authorization * 1000),
    createdAt: now,
    answer: undefined,
    answeredAt: undefined,
    usedAt: undefined,
  })
  return { kind: 'redirect', location: applicationAddress(delegate.url, token) }
}
