import * as z from 'zod'
import type { EpochMs } from '../protocol/brand.ts'
import {
  parseAdminCredentialId,
  parseClientId,
  parseGrantId,
  parseOrganizationId,
  parseUserId,
} from '../protocol/ids.ts'
import { parseScope } from '../protocol/scope.ts'
import { LIST_LIMIT } from './page.ts'

/** Characters; what fits on a page and into a line. */
const NAME_LIMIT = 200

/** Members of tasks' inputs: they read text and give what the use-cases take. */

export const CLIENT_ID = parsed(parseClientId, 'This is not a client id.').describe("The client's client_id.")
export const USER_ID = parsed(parseUserId, 'This is not a user id.').describe("The user's id.")
export const ORGANIZATION_ID = parsed(parseOrganizationId, 'This is not the id of an organization.').describe(
  "The organization's id.",
)
export const GRANT_ID = parsed(parseGrantId, 'This is not the id of a grant.').describe("The grant's id.")
export const ADMIN_CREDENTIAL_ID = parsed(
  parseAdminCredentialId,
  "This is not the id of an administrator's credentials.",
).describe('The id of the credentials; not the token.')

export const SCOPE = parsed(parseScope, 'The scope is malformed, or has too many values.').describe(
  'Scopes with a space between them.',
)

/** What somebody or something is called. */
export const NAME = z
  .string()
  .trim()
  .refine((text) => text !== '' && [...text].length <= NAME_LIMIT && !/\p{Cc}|\p{Zl}|\p{Zp}/u.test(text), {
    error: `A name has between 1 and ${NAME_LIMIT} characters and no control characters.`,
  })

/** A moment in ISO 8601 with its zone. */
export const MOMENT = z.iso
  .datetime({ offset: true, error: 'This is not a moment such as 2026-01-31T12:00:00Z.' })
  .transform((text) => Date.parse(text) as EpochMs)

/** Rows of one answer. */
export const LIMIT = z
  .int()
  .min(1)
  .max(LIST_LIMIT.most)
  .default(LIST_LIMIT.usual)
  .describe(`At most this many rows, up to ${LIST_LIMIT.most}.`)

/** A member of an answer that may be absent. */
export const ISO_OR_NULL = z.iso.datetime().nullable()
export const ISO = z.iso.datetime()
/** Where the next page starts: the `before` to ask it with; null on the last one. */
export const NEXT = z
  .string()
  .nullable()
  .describe('Give it as `before` for the rows after these; null: these are the last.')

/** The place to go on from, by the ids of the rows. */
export function before<Id extends z.ZodType>(id: Id): z.ZodOptional<Id> {
  return id.optional().describe('Go on after this one: the `next` of the page before.')
}

/** Text that a parser takes, as what the parser makes of it. */
export function parsed<T extends string>(
  parse: (text: string) => T | undefined,
  error: string,
): z.ZodPipe<z.ZodString, z.ZodTransform<T, string>> {
  return z
    .string()
    .refine((text) => parse(text) !== undefined, { error })
    .transform((text) => parse(text) as T)
}

/** A moment as answers have it. */
export function iso(moment: EpochMs): string {
  return new Date(moment).toISOString()
}

export function isoOrNull(moment: EpochMs | undefined): string | null {
  return moment === undefined ? null : iso(moment)
}
