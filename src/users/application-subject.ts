import type { Context } from '../ports/context.ts'
import { APPLICATION } from '../protocol/sign-in/authentication.ts'
import type { UserId } from '../protocol/ids.ts'

/**
 * Returns the subject that the operator's application has for a user. undefined: the application never signed the user in, or the identity
 * was deleted since. If a user ever had several, none of them is known to be the right one.
 */
export async function findApplicationSubject({ store }: Context, userId: UserId): Promise<string | undefined> {
  const [own, another] = (await store.listIdentities(userId)).filter(({ providerId }) => providerId === APPLICATION)
  return another === undefined ? own?.subject : undefined
}
