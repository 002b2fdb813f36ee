import * as z from 'zod'
import { ADDRESS_TEXTS, PROFILE_TEXTS, PROFILE_URLS } from '../protocol/openid/user-claims.ts'

const TEXT = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^\P{Cs}*$/u, { error: 'This is not text.' })
  .meta({ examples: ['Ada'] })

const URL_TEXT = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/[\x21-\x7e]+$/, { error: 'This is not an http or https URL.' })
  .meta({ examples: ['https://acme.test/ada'] })

/** The changes of a user's profile, by the names of the claims. OpenID Connect Core 1.0 §5.1. */
export const PROFILE_CHANGE = z.strictObject({
  ...membersOf(PROFILE_TEXTS, TEXT.nullable().optional()),
  ...membersOf(PROFILE_URLS, URL_TEXT.nullable().optional()),
  phone_number_verified: z.boolean().nullable().optional(),
  address: z
    .strictObject(membersOf(ADDRESS_TEXTS, TEXT.optional()))
    .nullable()
    .optional()
    .describe('The whole address: parts that are not given are removed.'),
})

/** The same schema for each of the names. */
function membersOf<Name extends string, Schema extends z.ZodType>(
  names: readonly Name[],
  schema: Schema,
): Readonly<Record<Name, Schema>> {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>
}
