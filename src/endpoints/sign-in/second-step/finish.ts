import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import type { SecondStepProblem } from '../../../ports/pages.ts'
import type { AuthenticationMethod } from '../../../protocol/sign-in/authentication.ts'
import type { PasskeyId } from '../../../protocol/sign-in/passkey.ts'
import { finishSignIn } from '../finish-sign-in.ts'
import { refusedSignIn, signInProblem } from '../page.ts'
import { clientOf, findSubmittedTarget, type SignInTarget } from '../target.ts'
import { secondStepPage } from './page.ts'
import { openWaiting, WAITING_FIELD, type Waiting } from './waiting.ts'

/** A form of the second step. */
export interface SecondStep {
  readonly target: SignInTarget
  readonly waiting: Waiting
}

/** Reads a form of the second step. Returns a page if no sign-in waits in this browser for it: the user signs in again. */
export async function openSecondStep(context: Context, request: Request): Promise<SecondStep | Reply> {
  const target = await findSubmittedTarget(context, request)
  if ('kind' in target) return target
  const waiting = await openWaiting(context, request, target)
  return waiting === undefined ? signInProblem(context, target, { kind: 'second-step-expired' }) : { target, waiting }
}

/** Starts the session of a user whose second factor was right, once. `methods`: those of the second step. */
export async function finishSecondStep(
  context: Context,
  request: Request,
  { target, waiting }: SecondStep,
  second: { readonly methods: readonly AuthenticationMethod[]; readonly passkey: PasskeyId | undefined },
): Promise<Reply> {
  const { user, methods, at, providerId, identity } = waiting
  if (!(await waiting.use())) return signInProblem(context, target, { kind: 'second-step-expired' }, user.id)
  const both = { methods: [...methods, ...second.methods], passkey: second.passkey }
  const authenticated = { user, at, providerId, identity, ...both, delegated: undefined }
  const finished = await finishSignIn(context, request, target, authenticated)
  return finished.kind === 'refused' ? signInProblem(context, target, { kind: 'account-refused' }, user.id) : finished
}

/** The problem of an attempt beyond the limit. */
export function throttled({ retryAfterSeconds }: { readonly retryAfterSeconds: number }): SecondStepProblem {
  return { kind: 'throttled', retryAfterSeconds }
}

/** Shows the page again. The audit counts a wrong second step, because the first one was right. */
export async function showAgain(
  context: Context,
  { params }: Request,
  { target, waiting: { user } }: SecondStep,
  problem: SecondStepProblem | undefined,
): Promise<Reply> {
  const page = await secondStepPage(context, target, { user, waiting: params.get(WAITING_FIELD) ?? '' }, problem)
  if (problem === undefined) return page
  if (problem.kind !== 'throttled') {
    const clientId = clientOf(target)?.id
    context.report({ event: 'second-factor.refused', clientId, userId: user.id, details: { reason: problem.kind } })
  }
  return { ...page, event: refusedSignIn(target, problem.kind, user.id) }
}
