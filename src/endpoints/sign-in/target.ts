import type { Context } from '../../ports/context.ts'
import type { CookieChanges, Reply, Request } from '../../ports/message.ts'
import { authorizationIn, findInteraction, type Interaction } from '../authorization/interaction.ts'
import { nextStep, takeStep } from '../authorization/next-step.ts'
import type { SignedIn } from '../authorization/session.ts'
import { errorPage } from '../error-page.ts'

/** What a user signs in for, in the browser that started it. */
export type SignInTarget = { readonly purpose: 'authorization' } & Interaction

/** Names a target in a form, and in what a sign-in method stores. It is useless in another browser. */
export type TargetKey = string

/** The key in the request for the sign-in page, and in the forms of that page. */
export function keyOf(request: Pick<Request, 'params'>): TargetKey {
  return authorizationIn(request)
}

/** Finds a target that this browser may continue with. Returns an error page if there is none. */
export async function findTarget(context: Context, request: Request, key: TargetKey): Promise<SignInTarget | Reply> {
  const interaction = await findInteraction(context, request, key)
  return 'kind' in interaction ? interaction : { purpose: 'authorization', ...interaction }
}

/** The same for the sign-in page. Returns an error page also if the user has already answered the request of the client. */
export async function findOpenTarget(
  context: Context,
  request: Request,
  key: TargetKey,
): Promise<SignInTarget | Reply> {
  const target = await findTarget(context, request, key)
  if ('kind' in target || target.authorization.status.kind === 'pending') return target
  return errorPage('already-completed')
}

/** What a CSRF token of the sign-in page is bound to. */
export function csrfParts({ authorization, browserHash }: SignInTarget): readonly string[] {
  return ['sign-in', authorization.id, browserHash]
}

/** Continues with the target after the user has signed in. */
export async function continueWith(
  context: Context,
  target: SignInTarget,
  signedIn: SignedIn,
  cookies: CookieChanges,
): Promise<Reply> {
  // The new session satisfies prompt=login, even if this node's clock is behind the one that started the authorization.
  const authorization = { ...target.authorization, mustSignIn: false }
  const step = await nextStep(context, { ...target, authorization }, signedIn, { kind: 'not-asked' })
  const reply = await takeStep(context, target, step, cookies)
  if (step.kind === 'approve' || step.kind === 'deny') return reply
  return { ...reply, event: { event: 'session.started', client: target.client.id } }
}
