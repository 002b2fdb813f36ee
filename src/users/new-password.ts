import type { Context } from '../ports/context.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { showEmails } from '../protocol/sign-in/email-address.ts'
import { findPasswordFault, shortestPassword, type PasswordFault } from '../protocol/sign-in/password-rules.ts'

/** Returns why the user must not get a password. */
export function findNewPasswordFault(
  context: Context,
  { email, name }: Pick<UserRecord, 'email' | 'name'>,
  password: string,
): PasswordFault | undefined {
  const { issuer, passwords, settings } = context
  const words = [
    email,
    showEmails(email ?? ''),
    email?.replace(/@.*$/, ''),
    name,
    new URL(issuer).hostname,
    settings.serverName,
  ]
  return findPasswordFault(password, {
    shortest: shortestPassword(settings),
    words: words.filter((word) => word !== undefined),
    isCommon: passwords.isCommon,
  })
}
