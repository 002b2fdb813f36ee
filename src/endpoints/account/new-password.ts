import type { Context } from '../../ports/context.ts'
import type { PasswordProblem } from '../../ports/pages/account.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { findNewPasswordFault } from '../../users/new-password.ts'
import type { Parameters } from '../../base/message.ts'

/** Reads a new password of a user from a form that asks for it twice. */
export function readNewPassword(
  context: Context,
  params: Parameters,
  user: Pick<UserRecord, 'email' | 'name'>,
): { readonly password: string } | { readonly problem: PasswordProblem } {
  const password = params.get('password') ?? ''
  const fault = findNewPasswordFault(context, user, password)
  if (fault !== undefined) return { problem: fault }
  return password === params.get('repeated') ? { password } : { problem: 'passwords-differ' }
}
