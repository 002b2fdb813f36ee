import type { OwnMethod, PasswordProblem } from '../../ports/account-pages.ts'
import type { Context } from '../../ports/context.ts'
import { shortestPassword } from '../../protocol/sign-in/password-rules.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { mayHavePassword, providersFor } from '../../users/provider-routing.ts'
import { openBrowser } from '../authorization/interaction.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import type { SignedIn } from '../authorization/session.ts'
import { countsPassword, isRemovable, SIGN_IN_METHODS, type OwnerInput } from '../sign-in/methods.ts'
import { findAddress, leave } from '../sign-in/provider/depart.ts'
import { confirmAddress, doneAt, findOwner, findSubmitter, frameOf, isRecent, isWithinLimit } from './frame.ts'
import { readNewPassword } from './new-password.ts'

/** Shows how the user can sign in, and what can be changed about it. */
export async function showSecurity(context: Context, request: Request): Promise<Reply> {
  const owner = await findOwner(context, request, 'security')
  return 'kind' in owner ? owner : securityPage(context, request, owner, undefined)
}

/** Changes a sign-in method of the user, who has signed in a moment ago. */
export async function changeMethods(context: Context, request: Request): Promise<Reply> {
  const owner = await findSubmitter(context, request, 'security')
  if ('kind' in owner) return owner
  if (!isRecent(context, owner)) return securityPage(context, request, owner, undefined)
  const provider = request.params.get('provider')
  if (provider !== undefined) return addProvider(context, request, owner, provider)
  const identity = request.params.get('identity')
  if (identity !== undefined) return removeIdentity(context, request, owner, identity)
  return changePassword(context, request, owner)
}

/** Sends the user to a provider, whose account becomes a sign-in method. */
async function addProvider(context: Context, request: Request, owner: SignedIn, id: string): Promise<Reply> {
  const provider = providersFor(context.settings, await context.providers(), owner.user.email).find(
    (one) => one.id === id,
  )
  const browserHash = openBrowser(context, request)
  const known = { user: owner.user.id }
  if (browserHash === undefined) return errorPage('browser_differs', known)
  if (provider === undefined) return errorPage('form_field_malformed', known)
  if (!(await isWithinLimit(context, owner, 'sign-in-methods')))
    return errorPage('too_many_requests', { user: owner.user.id })
  const target = { purpose: 'account', page: 'security', browserHash, uiLocales: request.uiLocales } as const
  const departure = {
    provider,
    target,
    purpose: { kind: 'connect' },
    email: owner.user.email,
    signedIn: owner,
    isAgain: false,
  } as const
  const location = await findAddress(context, request, departure)
  return location === undefined ? errorPage('provider_unreachable', known) : leave(provider, location, {})
}

/** Removes an account at a provider from the user's sign-in methods, and ends the other sessions that started there. One method always remains. */
async function removeIdentity(context: Context, request: Request, owner: SignedIn, key: string): Promise<Reply> {
  const input = await ownerInput(context, owner)
  const identity = input.identities.find((one) => one.key === key)
  if (identity === undefined || !isRemovable(context, input, identity)) {
    return securityPage(context, request, owner, undefined)
  }
  if (!(await isWithinLimit(context, owner, 'sign-in-methods')))
    return errorPage('too_many_requests', { user: owner.user.id })
  const passwordCounts = countsPassword(context, input)
  const outcome = await context.store.unlinkIdentity({
    ...identity,
    passwordCounts,
    passkeysCount: false,
    keep: owner.session.id,
  })
  if (outcome === 'last') return securityPage(context, request, owner, undefined)
  return { ...doneAt(context, request, 'security', 'method-removed'), event: { event: 'identity.unlinked' } }
}

/**
 * Sets the user's password. The old one is not asked for again. The other sessions end, because a person who knows the old password
 * may have started them; apps stay connected.
 */
async function changePassword(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { session, user } = owner
  const mayHave = mayHavePassword(context.settings, await context.providers(), user.email)
  if (user.email === undefined || !mayHave) return errorPage('form_field_malformed', { user: user.id })
  const read = readNewPassword(context, request.params, user)
  if ('problem' in read) return securityPage(context, request, owner, read.problem)
  if (!(await isWithinLimit(context, owner, 'sign-in-methods')))
    return errorPage('too_many_requests', { user: owner.user.id })
  const passwordHash = await context.passwords.hash(read.password, request.network)
  const { passwordHash: previousHash } = user
  const change = { id: user.id, passwordHash, previousHash, keep: session.id }
  // The session has ended meanwhile, for example because the password was reset: nothing is done, and the user signs in again.
  if ((await context.store.changePassword(change)) === 'unknown') return doneAt(context, request, 'security', undefined)
  return { ...doneAt(context, request, 'security', 'password-changed'), event: { event: 'user.password-changed' } }
}

async function securityPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  problem: PasswordProblem | undefined,
): Promise<Reply> {
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    ...(problem === undefined ? {} : { event: formRefusal(problem, { user: owner.user.id }) }),
    page: {
      kind: 'account-security',
      frame: frameOf(context, request, owner),
      methods: await ownMethods(context, owner),
      confirmUri: confirmAddress(context, request, owner, 'security'),
      problem,
      shortestPassword: shortestPassword(context.settings),
    },
  }
}

async function ownMethods(context: Context, owner: SignedIn): Promise<readonly OwnMethod[]> {
  const input = await ownerInput(context, owner)
  return SIGN_IN_METHODS.flatMap(({ ofUser }) => ofUser(context, input))
}

async function ownerInput({ providers, store }: Context, { user }: SignedIn): Promise<OwnerInput> {
  const [known, identities] = await Promise.all([providers(), store.listIdentities(user.id)])
  return { user, providers: known, identities }
}
