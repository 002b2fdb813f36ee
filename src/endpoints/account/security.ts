import type { AccountFrame, SecurityPage } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { factorsOf } from '../../users/factors.ts'
import type { SignedIn } from '../authorization/session.ts'
import { SIGN_IN_METHODS, type OwnerInput } from '../sign-in/methods.ts'
import { organizationsOf } from '../../users/provider-membership.ts'
import { frameOf } from './frame.ts'
import { viewTwoStep } from './two-step.ts'

/** Shows how the user can sign in, and leads to the pages that change it. */
export async function showSecurity(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  return securityPage(context, request, owner, undefined)
}

/** The page. `done`: what the request has changed just now. */
export async function securityPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  done: (Pick<AccountFrame, 'notice'> & Pick<SecurityPage, 'forgotten'>) | undefined,
): Promise<Extract<Reply, { readonly kind: 'page' }>> {
  const input = await ownerInput(context, request, owner)
  const methods = SIGN_IN_METHODS.flatMap(({ ofUser }) => ofUser(context, input))
  const frame = await frameOf(context, request, owner)
  return {
    kind: 'page',
    status: 200,
    page: {
      kind: 'account-security',
      frame: done === undefined ? frame : { ...frame, notice: done.notice },
      methods,
      twoStep: await viewTwoStep(context, owner),
      forgotten: done?.forgotten,
    },
  }
}

/** What the sign-in methods need to know about a user at the account pages. */
export async function ownerInput(
  context: Context,
  { uiLocales }: Pick<Request, 'uiLocales'>,
  { user }: SignedIn,
): Promise<OwnerInput> {
  const { store } = context
  const [providers, identities, passkeys, app, organizations] = await Promise.all([
    context.providers(),
    store.listIdentities(user.id),
    store.listPasskeys(user.id),
    store.findSecondFactor(user.id),
    organizationsOf(context, user),
  ])
  const factors = factorsOf(context, { user, app, passkeys, identities }, providers)
  return { user, providers, identities, passkeys, factors, organizations, uiLocales }
}
