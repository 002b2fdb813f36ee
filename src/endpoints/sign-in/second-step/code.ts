import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import { findStep } from '../../../protocol/sign-in/totp.ts'
import { findApp, recoveryDigest } from '../../second-factor/app.ts'
import { countCode, countUnguessable } from '../throttle.ts'
import {
  expired,
  finishSecondStep,
  openSecondStep,
  showAgain,
  startAfter,
  throttled,
  type SecondStep,
} from './finish.ts'
import { noticesOf } from '../../../users/mails.ts'

/**
 * Takes a code of the authenticator app (RFC 6238). It is counted before it is checked, and used up by the check, so a code works once on
 * all nodes (§5.2).
 */
export async function signInByCode(context: Context, request: Request): Promise<Reply> {
  const step = await openCodeStep(context, request)
  if ('kind' in step) return step
  const { user } = step.waiting
  const app = await findApp(context, user.id)
  // It was removed or became void meanwhile: the page shows what there is now.
  if (app?.kind !== 'on') return showAgain(context, request, step, undefined)
  const { browserHash } = step.target
  const attempt = await countCode(context, { userId: user.id, network: request.network, browserHash })
  if (attempt.kind === 'refused') return showAgain(context, request, step, throttled(attempt))
  const now = context.clockCheck.now()
  const outcome = await context.store.useTotp({
    userId: user.id,
    createdAt: app.record.createdAt,
    step: findStep(app.secret, request.params.get('code') ?? '', now),
    isKnownBrowser: attempt.isKnown,
    now,
    mails: attempt.isLast ? noticesOf(context, user, 'codes-wrong', request) : [],
  })
  switch (outcome) {
    case 'accepted':
      await attempt.forgive()
      return finishSecondStep(context, request, step, {
        methods: ['otp', 'mfa'],
        passkey: undefined,
        app: app.record.createdAt,
      })
    case 'none':
      return showAgain(context, request, step, undefined)
    case 'wrong':
      return showAgain(context, request, step, { kind: 'second-step-wrong', offer: 'code' })
    case 'used-before':
      return showAgain(context, request, step, { kind: 'second-step-used' })
    case 'locked':
      return showAgain(context, request, step, { kind: 'second-step-locked' })
  }
}

/**
 * Takes a recovery code in the place of a code of the app. It works once, and is used up last: a sign-in that was finished elsewhere costs
 * none.
 */
export async function signInByRecoveryCode(context: Context, request: Request): Promise<Reply> {
  const step = await openCodeStep(context, request)
  if ('kind' in step) return step
  const { user } = step.waiting
  const { id: userId } = user
  const app = (await context.store.findSecondFactor(userId))?.createdAt
  const attempt = await countUnguessable(context, request)
  if (attempt.kind === 'refused') return showAgain(context, request, step, throttled(attempt))
  const digest = recoveryDigest(context, userId, request.params.get('code') ?? '')
  if (digest === undefined || !(await context.store.hasRecoveryCode(userId, digest)))
    return showAgain(context, request, step, { kind: 'second-step-wrong', offer: 'recovery-code' })
  if (!(await step.waiting.use())) return expired(context, step)
  const mails = noticesOf(context, user, 'recovery-code-used', request)
  const used = await context.store.useRecoveryCode({ userId, digest, now: context.clockCheck.now(), mails })
  if (used.kind === 'unknown') return expired(context, step)
  await attempt.forgive()
  return startAfter(context, request, step, { methods: ['mfa', 'recovery'], passkey: undefined, app })
}

/** A code never serves a demand of level 3, whatever form it is posted by (threats.md ACR-04). */
async function openCodeStep(context: Context, request: Request): Promise<SecondStep | Reply> {
  const step = await openSecondStep(context, request)
  return !('kind' in step) && step.waiting.stepUp?.level === 3 ? showAgain(context, request, step, undefined) : step
}
