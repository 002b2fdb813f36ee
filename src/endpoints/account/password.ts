import type { PasswordProblem } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { shortestPassword } from '../../protocol/sign-in/password-rules.ts'
import { mayHavePasskeys, mayHavePassword } from '../../users/provider-routing.ts'
import type { SignedIn } from '../authorization/session.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { changingSession, coversAll, knowsPassword } from '../sign-in/changing-session.ts'
import { isPasswordRemovable } from '../sign-in/methods.ts'
import { doneAt, frameOf, countChange } from './frame.ts'
import { readNewPassword } from './new-password.ts'
import { ownerInput } from './security.ts'
import { noticesOf } from '../../users/mails.ts'

/** Shows the form of a new password. A user who cannot have one sees the sign-in methods. */
export async function showPassword(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const username = await findUsername(context, owner)
  return username === undefined
    ? doneAt(context, request, 'security', undefined)
    : passwordPage(context, request, owner, { username, problem: undefined })
}

/**
 * Sets the user's password. The old one is not asked for again. The other sessions end, because a person who knows the old password
 * may have started them; apps stay connected.
 */
export async function changePassword(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { user } = owner
  const username = await findUsername(context, owner)
  if (username === undefined) return errorPage('form_field_malformed', { user: user.id })
  const read = readNewPassword(context, request.params, user)
  if ('problem' in read) return passwordPage(context, request, owner, { username, problem: read.problem })
  await countChange(context, owner, 'sign-in-methods')
  const passwordHash = await context.passwords.hash(read.password, request.network)
  const { passwordHash: previousHash } = user
  const mails = noticesOf(context, user, 'password-changed', request)
  const session = knowsPassword(owner) ? coversAll(owner.session) : await changingSession(context, owner)
  const change = { id: user.id, passwordHash, previousHash, session, mails }
  // The session has ended meanwhile, for example because the password was reset: nothing is done, and the user signs in again.
  if ((await context.store.changePassword(change)) === 'unknown') return doneAt(context, request, 'security', undefined)
  const done = previousHash === undefined ? 'password-set' : 'password-changed'
  return { ...doneAt(context, request, 'security', done), event: { event: 'user.password-changed' } }
}

/** Asks before the password is removed. One that stays leads to the sign-in methods. */
export async function askToRemovePassword(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  if (!isPasswordRemovable(context, await ownerInput(context, request, owner)))
    return doneAt(context, request, 'security', undefined)
  return {
    kind: 'page',
    status: 200,
    page: { kind: 'account-remove-password', frame: await frameOf(context, request, owner) },
  }
}

/** Removes the password, and ends the other sessions of the user. One method always remains. */
export async function removePassword(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  const { user } = owner
  const input = await ownerInput(context, request, owner)
  if (!isPasswordRemovable(context, input)) return doneAt(context, request, 'security', undefined)
  await countChange(context, owner, 'sign-in-methods')
  const session = await changingSession(context, owner)
  const passkeysCount = mayHavePasskeys(context, input)
  const mails = noticesOf(context, user, 'password-removed', request)
  const outcome = await context.store.removePassword({ userId: user.id, session, passkeysCount, mails })
  if (outcome !== 'removed') return doneAt(context, request, 'security', undefined)
  const event = { event: 'user.password-removed', user: user.id } as const
  return { ...doneAt(context, request, 'security', 'password-removed'), event }
}

/** The address with which the user would sign in. undefined: the user cannot have a password. */
async function findUsername(
  { settings, providers }: Context,
  { user: { email } }: SignedIn,
): Promise<string | undefined> {
  return mayHavePassword(settings, await providers(), email) ? email : undefined
}

async function passwordPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  form: { readonly username: string; readonly problem: PasswordProblem | undefined },
): Promise<Reply> {
  const { id, passwordHash } = owner.user
  const frame = await frameOf(context, request, owner)
  return {
    kind: 'page',
    status: form.problem === undefined ? 200 : 400,
    ...(form.problem === undefined ? {} : { event: formRefusal(form.problem, { user: id }) }),
    page: {
      kind: 'account-password',
      frame,
      isSet: passwordHash !== undefined,
      shortestPassword: shortestPassword(context.settings),
      ...form,
    },
  }
}
