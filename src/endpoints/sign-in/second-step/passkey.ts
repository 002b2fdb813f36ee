import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import { checkOf, verifyNewPasskey, verifySignature } from '../passkey/ceremony.ts'
import { countUnguessable } from '../throttle.ts'
import { expired, finishSecondStep, openSecondStep, openSetUp, showAgain, startAfter, throttled } from './finish.ts'
import { findEnrolmentReason } from './waiting.ts'
import { passkeyStep } from './ways.ts'
import { mayAddPasskey } from '../../../users/factors.ts'
import { noticesOf } from '../../../users/mails.ts'

const FAILED = { kind: 'second-step-wrong', offer: 'passkey' } as const

/** Takes the signature of a passkey of the user who has done the first step. */
export async function confirmByPasskey(context: Context, request: Request): Promise<Reply> {
  const step = await openSecondStep(context, request)
  if ('kind' in step) return step
  const attempt = await countUnguessable(context, request)
  if (attempt.kind === 'refused') return showAgain(context, request, step, throttled(attempt))
  const { user } = step.waiting
  const signed = await verifySignature(context, request, passkeyStep({ user, target: step.target }), user)
  if (signed.kind === 'refused') return showAgain(context, request, step, FAILED, checkOf(signed))
  await attempt.forgive()
  return finishSecondStep(context, request, step, {
    methods: ['pop', 'mfa'],
    passkey: signed.passkey.id,
    app: undefined,
  })
}

/**
 * Stores the passkey of a user who has done the first step and has no second factor, because the sign-in or a request needs one. The sign-in is used up
 * first, so that its form adds one passkey.
 */
export async function setUpPasskey(context: Context, request: Request): Promise<Reply> {
  const step = await openSetUp(context, request)
  if ('kind' in step) return step
  const { user } = step.waiting
  const reason = await findEnrolmentReason(context, step.waiting)
  if (reason === undefined || !(await mayAddPasskey(context, user))) return showAgain(context, request, step, undefined)
  const made = await verifyNewPasskey(context, request, passkeyStep({ user, target: step.target }), user)
  if (made.kind === 'refused') return showAgain(context, request, step, FAILED, checkOf(made))
  if (!(await step.waiting.use())) return expired(context, step)
  const mails = noticesOf(context, user, 'passkey-added', request)
  const added = await context.store.addPasskey({ passkey: made.passkey, reason, mails })
  if (added !== 'added') return expired(context, step)
  return startAfter(context, request, step, { methods: ['pop', 'mfa'], passkey: made.passkey.id, app: undefined })
}
