import * as z from 'zod'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../base/iso.ts'
import type { UserRecord } from '../ports/records/user.ts'
import { firstSignInOf } from '../protocol/sign-in/account.ts'
import { tableOf } from './table.ts'

const { row, table } = tableOf<UserRecord>()

/** A user in an answer, without the hash of the password. */
export const USER = table({
  user_id: row(z.string(), ({ id }) => id),
  email: row(
    z.string().nullable().describe('null: the user signs in without an address, at a provider.'),
    ({ email }) => email ?? null,
  ),
  email_verified_at: row(ISO_OR_NULL.describe("When the address was proved to be the user's."), ({ emailVerifiedAt }) =>
    isoOrNull(emailVerifiedAt),
  ),
  name: row(z.string().nullable(), ({ name }) => name ?? null),
  profile: row(
    z.record(z.string(), z.unknown()).describe('The claims that apps with the scopes profile, phone and address get.'),
    ({ profile }) => ({ ...profile }),
  ),
  has_password: row(z.boolean(), ({ passwordHash }) => passwordHash !== undefined),
  first_signed_in_at: row(ISO_OR_NULL.describe('null: never.'), (one) => isoOrNull(firstSignInOf(one))),
  last_signed_in_at: row(ISO_OR_NULL.describe('null: never.'), ({ lastSignedInAt }) => isoOrNull(lastSignedInAt)),
  created_at: row(ISO, ({ createdAt }) => iso(createdAt)),
  disabled_at: row(ISO_OR_NULL, ({ disabledAt }) => isoOrNull(disabledAt)),
  not_before: row(
    ISO.describe('The not-before time: sessions and tokens of the user issued earlier are revoked.'),
    ({ notBefore }) => iso(notBefore),
  ),
})
