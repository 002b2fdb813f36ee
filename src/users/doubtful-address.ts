import type { Context } from '../ports/context.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { firstSignInOf } from '../protocol/sign-in/account.ts'

/**
 * Whether an account may be of another person than its address says: the address was never proved, and a person can sign in who may have
 * chosen it, at the operator's application, at a provider, or in the system that the account was imported from. Such an address names no account
 * for an operation that gives something: a role, a membership, or the account itself (threats.md CON-34).
 */
export async function isAddressDoubtful({ store }: Context, user: UserRecord): Promise<boolean> {
  const { id, email, emailVerifiedAt, firstSignedInAt, passwordHash } = user
  if (email === undefined || emailVerifiedAt !== undefined) return false
  if (firstSignInOf(user) !== undefined) return true
  const hasImportedPassword = firstSignedInAt !== undefined && passwordHash !== undefined
  return hasImportedPassword || (await store.listIdentities(id)).length > 0
}
