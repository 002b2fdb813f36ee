import type { Context } from '../../../ports/context.ts'
import type { Reply } from '../../../ports/message.ts'
import type { SecondStepProblem, StepUpView } from '../../../ports/pages/pages.ts'
import { describeAccess } from '../../../clients/access-view.ts'
import { destinationOf } from '../../../requests/device.ts'
import { withheldScope } from '../../../requests/step-up.ts'
import { scopeTokens } from '../../../protocol/token/scope.ts'
import { formTarget, viewClient } from '../../authorization/client-view.ts'
import { decideWithout, findRequirements } from '../../authorization/step-up.ts'
import { PATHS, pageAddress } from '../../paths.ts'
import { levelOf } from '../../../protocol/sign-in/authentication.ts'
import type { Enrolment } from '../../second-factor/enrolment.ts'
import { hiddenFields, type SignInTarget } from '../target.ts'
import { WAITING_FIELD, type FirstStep, type StepUp } from './waiting.ts'
import { SECOND_STEP_WAYS } from './ways.ts'

type PageReply = Extract<Reply, { readonly kind: 'page' }>

/** A user whose sign-in waits, and how the user has authenticated. */
export interface WaitingUser extends Pick<FirstStep, 'user' | 'methods' | 'at'> {
  /** The sign-in, as `mintWaiting` made it. */
  readonly waiting: string
  /** What a user who is signed in is asked for. undefined: the second step of a sign-in. */
  readonly stepUp: StepUp | undefined
  /** The app that the user sets up on the page; absent: the page begins with another one. */
  readonly enrolment?: Enrolment
}

const STATUS: Readonly<Record<SecondStepProblem['kind'], number>> = {
  'second-step-wrong': 401,
  'second-step-used': 401,
  'second-step-locked': 403,
  throttled: 429,
}

/**
 * The page on which a user does the second step, or sets one up. `waiting`: the sign-in that waits, as `mintWaiting` made it; shown again,
 * the page has the same one, so that no sign-in waits longer.
 */
export async function secondStepPage(
  context: Context,
  target: SignInTarget,
  shown: WaitingUser,
  problem: SecondStepProblem | undefined,
): Promise<PageReply> {
  const { user, waiting, stepUp, enrolment } = shown
  const ways = SECOND_STEP_WAYS.map((way) => way.offer(context, { user, target, stepUp, enrolment }))
  const isOfClient = target.purpose === 'authorization'
  const redirectUri = isOfClient ? target.authorization.redirectUri : undefined
  return {
    kind: 'page',
    status: problem === undefined ? 200 : STATUS[problem.kind],
    ...(problem !== undefined && 'retryAfterSeconds' in problem
      ? { retryAfterSeconds: problem.retryAfterSeconds }
      : {}),
    ...(redirectUri === undefined ? {} : { formTarget: formTarget(redirectUri) }),
    page: {
      kind: 'second-step',
      hidden: { ...hiddenFields(context, target), [WAITING_FIELD]: waiting },
      client: isOfClient ? viewClient(target, destinationOf(target.authorization), context.clock()) : undefined,
      stepUp: stepUp === undefined ? undefined : await viewStepUp(context, target, shown, stepUp),
      offers: (await Promise.all(ways)).flat(),
      problem,
    },
  }
}

/** What a user is asked for a factor for, and can do instead. */
async function viewStepUp(
  context: Context,
  target: SignInTarget,
  authentication: WaitingUser,
  { level, addsFactor }: StepUp,
): Promise<StepUpView | undefined> {
  if (target.purpose === 'account') return undefined
  const { authorization, uiLocales } = target
  const { id: userId } = authentication.user
  const { kind } = await decideWithout(context, authorization, authentication, userId)
  const apis = await context.apis()
  const stepUps = await findRequirements(context, authorization, userId)
  const own = { level: levelOf(authentication.methods), at: authentication.at }
  const unmet = new Set(scopeTokens(withheldScope(stepUps, authorization, own)))
  const isNeeded = (name: string): boolean => unmet.has(name) && (stepUps.get(name)?.level ?? 1) <= level
  return {
    scopes: describeAccess(apis, authorization).scopes.filter(({ name }) => isNeeded(name)),
    action: pageAddress(context.issuer, PATHS.stepUp, { uiLocales }),
    addsFactor,
    isEnd: kind === 'unmet',
    switchUri: pageAddress(context.issuer, PATHS.signIn, { authorization: authorization.id, uiLocales }),
  }
}
