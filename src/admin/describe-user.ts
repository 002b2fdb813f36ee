import * as z from 'zod'
import type { UserRecord } from '../ports/records/user.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from './fields.ts'

/** A user in an answer, without the hash of the password. */
export const USER = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    created_at: ISO,
    disabled_at: ISO_OR_NULL,
    not_before: ISO.describe('The not-before time: sessions and tokens of the user issued earlier are revoked.'),
  })
  .meta({ id: 'User' })

export type UserDocument = z.output<typeof USER>

/** A user as the operator sees it, without the hash of the password. */
export function describeUser({ id, email, name, createdAt, disabledAt, notBefore }: UserRecord): UserDocument {
  return {
    user_id: id,
    email,
    name: name ?? null,
    created_at: iso(createdAt),
    disabled_at: isoOrNull(disabledAt),
    not_before: iso(notBefore),
  }
}
