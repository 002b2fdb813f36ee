import type { Context, OutcomeEvent } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { SignInProblem } from '../../ports/pages.ts'
import { formTarget, viewClient } from '../authorization/client-view.ts'
import { findSignedIn } from '../authorization/session.ts'
import { leaveAddress, SIGN_IN_METHODS } from './methods.ts'
import { clientOf, findOpenTarget, hiddenFields, keyIn, type SignInTarget } from './target.ts'

/** Shows the sign-in page for the authorization or the account page in the query (decision 0022). */
export async function showSignIn(context: Context, request: Request): Promise<Reply> {
  const target = await findOpenTarget(context, request, keyIn(request))
  if ('kind' in target) return target
  const isAccount = target.purpose === 'account'
  const signedIn = isAccount ? await findSignedIn(context, request.cookies) : undefined
  const isConfirmation = signedIn !== undefined
  // From a page of this server the user follows a link: a form there may lead only to this server (CSP `form-action`).
  const location = request.fetchSite === 'same-origin' ? undefined : leaveAddress(context, target)
  if (location !== undefined) return { kind: 'redirect', location }
  const email = isAccount ? signedIn?.user.email : target.authorization.loginHint
  return signInPage(context, target, { email: email ?? '', isConfirmation, problem: undefined })
}

const STATUS: Readonly<Record<SignInProblem['kind'], number>> = {
  'wrong-credentials': 401,
  'email-missing': 400,
  'password-missing': 400,
  'password-too-long': 400,
  'method-off': 403,
  'account-refused': 403,
  'application-refused': 403,
  'not-answered': 503,
  throttled: 429,
  busy: 503,
}

/** The sign-in page with everything that the methods offer. A method shows it again with the problem of the last attempt. */
export function signInPage(
  context: Context,
  target: SignInTarget,
  shown: { readonly email: string; readonly isConfirmation: boolean; readonly problem: SignInProblem | undefined },
): Extract<Reply, { readonly kind: 'page' }> {
  const { problem } = shown
  return {
    kind: 'page',
    status: problem === undefined ? 200 : STATUS[problem.kind],
    ...(problem === undefined ? {} : { event: refusedSignIn(target, problem.kind) }),
    ...(problem !== undefined && 'retryAfterSeconds' in problem
      ? { retryAfterSeconds: problem.retryAfterSeconds }
      : {}),
    ...(target.purpose === 'authorization' ? { formTarget: formTarget(target.authorization.redirectUri) } : {}),
    page: {
      kind: 'sign-in',
      hidden: hiddenFields(context, target),
      client:
        target.purpose === 'authorization'
          ? viewClient(target, target.authorization.redirectUri, context.clock())
          : undefined,
      offers: SIGN_IN_METHODS.flatMap(({ offer }) => offer(context, target)),
      ...shown,
    },
  }
}

/** The event of a sign-in that a method refused. */
export function refusedSignIn(target: SignInTarget, reason: SignInProblem['kind'] | 'disabled'): OutcomeEvent {
  return { event: 'sign-in.refused', client: clientOf(target)?.id, reason }
}
