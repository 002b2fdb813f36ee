import type { Context } from '../ports/context.ts'
import type { UserRecord } from '../ports/records/user.ts'
import type { EpochMs } from '../base/brand.ts'
import { mintUserId } from '../protocol/ids.ts'

/** Returns a user with a new id, who has never signed in. */
export function newUser(
  { random }: Pick<Context, 'random'>,
  now: EpochMs,
  account: Pick<UserRecord, 'email' | 'emailVerifiedAt' | 'name' | 'passwordHash'>,
): UserRecord {
  return {
    id: mintUserId(now, random),
    ...account,
    profile: {},
    updatedAt: now,
    firstSignedInAt: undefined,
    lastSignedInAt: undefined,
    createdAt: now,
    disabledAt: undefined,
    notBefore: now,
  }
}
