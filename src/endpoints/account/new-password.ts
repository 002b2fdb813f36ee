import type { PasswordProblem } from '../../ports/account-pages.ts'
import type { UserRecord } from '../../ports/records/user.ts'
import { normalizeEmail, PASSWORD_BYTES, PASSWORD_CHARACTERS } from '../../protocol/sign-in/account.ts'
import type { Parameters } from '../../base/message.ts'

/**
 * Reads a new password from a form that asks for it twice. Only its length is checked: there are no rules for its characters (NIST SP
 * 800-63B §5.1.1.2), and it must differ from the address of the account.
 */
export function readNewPassword(
  params: Parameters,
  { email }: Pick<UserRecord, 'email'>,
): { readonly password: string } | { readonly problem: PasswordProblem } {
  const password = params.get('password') ?? ''
  if ([...password].length < PASSWORD_CHARACTERS) return { problem: 'password-too-short' }
  if (Buffer.byteLength(password) > PASSWORD_BYTES) return { problem: 'password-too-long' }
  if (email !== undefined && normalizeEmail(password) === email) return { problem: 'password-is-email' }
  return password === params.get('repeated') ? { password } : { problem: 'passwords-differ' }
}
