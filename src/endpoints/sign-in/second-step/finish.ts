import { originOf } from '../../../protocol/audit/origin.ts'
import type { Context } from '../../../ports/context.ts'
import type { Reply, Request } from '../../../ports/message.ts'
import type { SecondStepProblem } from '../../../ports/pages/pages.ts'
import type { AuthenticationMethod } from '../../../protocol/sign-in/authentication.ts'
import { isRecent } from '../../authorization/session.ts'
import { finishSignIn, type AuthenticatedUser } from '../finish-sign-in.ts'
import { refusedSignIn, signInProblem } from '../page.ts'
import { clientOf, findSubmittedTarget, timeOf, type SignInTarget } from '../target.ts'
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

/**
 * The same for a form that sets a factor up. The user of a session has signed in a moment ago still, as when the page was shown, because another
 * person may be at the open browser by then (threats.md ACR-08), and otherwise signs in again first.
 */
export async function openSetUp(context: Context, request: Request): Promise<SecondStep | Reply> {
  const step = await openSecondStep(context, request)
  if ('kind' in step) return step
  const { target, waiting } = step
  const { stepUp, user } = waiting
  if (stepUp?.addsFactor !== true || isRecent(context, { session: stepUp.session, user })) return step
  if (target.purpose === 'account') return expired(context, step)
  return expired(context, { waiting, target: { ...target, addsFactor: true } })
}

/** The second factor of a user that was right. */
export interface SecondFactorUsed extends Pick<AuthenticatedUser, 'app' | 'passkey'> {
  /** Those of the second step. */
  readonly methods: readonly AuthenticationMethod[]
}

/**
 * Starts the session of a user whose second factor was right, once. The user has authenticated now (OpenID Connect Core §2, `auth_time`),
 * or when the provider says that the first step was.
 */
export async function finishSecondStep(
  context: Context,
  request: Request,
  step: SecondStep,
  second: SecondFactorUsed,
): Promise<Reply> {
  return (await step.waiting.use()) ? startAfter(context, request, step, second) : expired(context, step)
}

/**
 * The same, after the sign-in that waits was used up. In a step-up, the time of authentication is that of the session where a code was
 * added to it, and so is its end: a client that asks for a recent authentication would otherwise get one of the second factor alone, and
 * codes would prolong the session without end. A passkey has two factors.
 */
export async function startAfter(
  context: Context,
  request: Request,
  { target, waiting }: SecondStep,
  second: SecondFactorUsed,
): Promise<Reply> {
  const { user, methods, providerId, identity, link, groups, stepUp } = waiting
  const isNow = stepUp === undefined ? providerId === undefined : second.passkey !== undefined
  const at = isNow ? await timeOf(context, target) : waiting.at
  const both = { ...second, methods: [...new Set([...methods, ...second.methods])] }
  const endsAt = isNow ? undefined : stepUp?.session.expiresAt
  const first = { user, at, providerId, identity, link, groups, stepUp: stepUp?.session }
  const authenticated = { ...first, ...both, endsAt, delegated: undefined }
  const finished = await finishSignIn(context, request, target, authenticated)
  return finished.kind === 'refused' ? signInProblem(context, target, { kind: 'account-refused' }, user.id) : finished
}

/** The user signs in again: the sign-in that waited was finished elsewhere. */
export function expired(context: Context, { target, waiting }: SecondStep): Promise<Reply> {
  return signInProblem(context, target, { kind: 'second-step-expired' }, waiting.user.id)
}

/** The problem of an attempt beyond the limit. */
export function throttled({ retryAfterSeconds }: { readonly retryAfterSeconds: number }): SecondStepProblem {
  return { kind: 'throttled', retryAfterSeconds }
}

/** Shows the page again. The audit counts a wrong second step, because the first one was right. `check`: the one that failed, for the log. */
export async function showAgain(
  context: Context,
  request: Request,
  { target, waiting }: SecondStep,
  problem: SecondStepProblem | undefined,
  check?: string,
): Promise<Reply> {
  const { user } = waiting
  const sealed = request.params.get(WAITING_FIELD) ?? ''
  const shown = { ...waiting, waiting: sealed }
  const page = await secondStepPage(context, target, shown, problem)
  if (problem === undefined) return page
  if (problem.kind !== 'throttled') {
    const clientId = clientOf(target)?.id
    const details = { reason: problem.kind }
    const origin = originOf(request.agent, request.callerNetwork)
    context.report({ event: 'second-factor.refused', clientId, userId: user.id, details }, origin)
  }
  return { ...page, event: refusedSignIn(target, problem.kind, user.id, check) }
}
