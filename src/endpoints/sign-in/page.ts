import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { SignInProblem } from '../../ports/pages.ts'
import { formTarget, viewClient } from '../authorization/client-view.ts'
import { SIGN_IN_METHODS } from './methods.ts'
import { csrfParts, findOpenTarget, keyOf, type SignInTarget } from './target.ts'

/** Shows the sign-in page for the authorization in the query (decision 0022). */
export async function showSignIn(context: Context, request: Request): Promise<Reply> {
  const target = await findOpenTarget(context, request, keyOf(request))
  if ('kind' in target) return target
  return signInPage(context, target, { email: target.authorization.loginHint ?? '', problem: undefined })
}

const STATUS: Readonly<Record<SignInProblem['kind'], number>> = {
  'wrong-credentials': 401,
  'email-missing': 400,
  'password-missing': 400,
  'password-too-long': 400,
  'method-off': 403,
  throttled: 429,
  busy: 503,
}

/** The sign-in page with everything that the methods offer. A method shows it again with the problem of the last attempt. */
export function signInPage(
  context: Context,
  target: SignInTarget,
  shown: { readonly email: string; readonly problem: SignInProblem | undefined },
): Extract<Reply, { readonly kind: 'page' }> {
  const { authorization } = target
  const { email, problem } = shown
  return {
    kind: 'page',
    status: problem === undefined ? 200 : STATUS[problem.kind],
    ...(problem === undefined ? {} : { event: refusedSignIn(target, problem.kind) }),
    formTarget: formTarget(authorization.redirectUri),
    ...(problem !== undefined && 'retryAfterSeconds' in problem
      ? { retryAfterSeconds: problem.retryAfterSeconds }
      : {}),
    page: {
      kind: 'sign-in',
      hidden: { authorization: authorization.id, csrf: context.secrets.digest('csrf', csrfParts(target)) },
      client: viewClient(target, authorization.redirectUri, context.clock()),
      offers: SIGN_IN_METHODS.flatMap(({ offer }) => offer(context, target)),
      email,
      problem,
    },
  }
}

/** The event of a sign-in that a method refused. */
export function refusedSignIn({ client }: SignInTarget, reason: SignInProblem['kind'] | 'disabled'): OutcomeEvent {
  return { event: 'sign-in.refused', client: client.id, reason }
}
