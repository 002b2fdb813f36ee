import type { OwnMethod, PasswordProblem } from '../../ports/account-pages.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { errorPage } from '../error-page.ts'
import type { SignedIn } from '../authorization/session.ts'
import { SIGN_IN_METHODS } from '../sign-in/methods.ts'
import { confirmAddress, doneAt, findOwner, findSubmitter, frameOf, isRecent, isWithinLimit } from './frame.ts'
import { readNewPassword } from './new-password.ts'

/** Shows how the user can sign in, and what can be changed about it. */
export async function showSecurity(context: Context, request: Request): Promise<Reply> {
  const owner = await findOwner(context, request, 'security')
  return 'kind' in owner ? owner : securityPage(context, request, owner, undefined)
}

/**
 * Sets the user's password. The user has signed in a moment ago, so the old one is not asked for again. The other sessions end,
 * because somebody who knows the old password may have started them; apps stay connected.
 */
export async function changePassword(context: Context, request: Request): Promise<Reply> {
  const owner = await findSubmitter(context, request, 'security')
  if ('kind' in owner) return owner
  const { session, user } = owner
  const mayHavePassword = ownMethods(context, owner).some(({ kind }) => kind === 'password')
  if (!mayHavePassword) return errorPage('request-malformed')
  if (!isRecent(context, owner)) return securityPage(context, request, owner, undefined)
  const read = readNewPassword(request.params, user)
  if ('problem' in read) return securityPage(context, request, owner, read.problem)
  if (!(await isWithinLimit(context, owner))) return errorPage('too-many-requests')
  const passwordHash = await context.passwords.hash(read.password)
  const { passwordHash: previousHash } = user
  const change = { id: user.id, passwordHash, previousHash, keep: session.id }
  // The session has ended meanwhile, for example because the password was reset: nothing is done, and the user signs in again.
  if ((await context.store.changePassword(change)) === 'unknown') return doneAt(context, request, 'security', undefined)
  return { ...doneAt(context, request, 'security', 'password-changed'), event: { event: 'user.password-changed' } }
}

function securityPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  problem: PasswordProblem | undefined,
): Reply {
  return {
    kind: 'page',
    status: problem === undefined ? 200 : 400,
    page: {
      kind: 'account-security',
      frame: frameOf(context, request, owner),
      methods: ownMethods(context, owner),
      confirmUri: confirmAddress(context, request, owner, 'security'),
      problem,
    },
  }
}

function ownMethods(context: Context, { user }: SignedIn): readonly OwnMethod[] {
  return SIGN_IN_METHODS.flatMap(({ ofUser }) => ofUser(context, user))
}
