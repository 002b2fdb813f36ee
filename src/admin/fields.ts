import * as z from 'zod'
import { EMAIL_LIMIT, normalizeEmail, normalizeEmailStart } from '../protocol/sign-in/email-address.ts'
import { PASSWORD_BYTES } from '../protocol/sign-in/password-rules.ts'
import type { EpochMs } from '../base/brand.ts'
import {
  CHOSEN_CLIENT_ID_FORM,
  chosenClientId,
  CLIENT_IDENTIFIER_FORM,
  CLIENT_REFERENCE_FORM,
  parseClientIdentifier,
  parseClientReference,
} from '../protocol/client/identifier.ts'
import { GIVEN_SECRET_FORM, isGuessable } from '../protocol/client/authentication.ts'
import { DISPLAY_TEXT_FORM, DISPLAY_TEXT_LIMIT, displayed, sized } from '../base/display-text.ts'
import {
  CHOSEN_ID_FORM,
  isChosenId,
  ORDERED_ID_FORM,
  ORGANIZATION_ID_FORM,
  parseAdminCredentialId,
  parseGrantId,
  parseInitialTokenId,
  parseOrganizationId,
  parseSessionId,
  parseUserId,
  USER_ID_FORM,
} from '../protocol/ids.ts'
import { GROUP_ID_FORM, parseGroupId } from '../protocol/access/group.ts'
import { parseResource, type Resource } from '../protocol/token/resource.ts'
import { parseScope, SCOPE_FORM, SCOPE_TOKEN_FORM } from '../protocol/token/scope.ts'
import { localizedText, TEXT_LANGUAGES, type LocalizedText, type TextLanguage } from '../base/localized-text.ts'
import { PAGE_LIMIT } from './page.ts'
import { MAXIMA } from '../base/maxima.ts'

/**
 * Members of the inputs of tasks. Each schema reads text and returns the type that the use-cases take. The OpenAPI document
 * is made from the same schemas, so a rule is a pattern, a length or a range wherever JSON Schema can express it, and each
 * has an example.
 */

const DAY_MS = 86_400_000
const ORDERED_EXAMPLE = '01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'

export const CLIENT_ID = parsed(
  parseClientReference,
  CLIENT_REFERENCE_FORM,
  'This is not a client id.',
  `gci_${ORDERED_EXAMPLE}`,
).describe(
  'The client_id of the client: an id that the operator chose, an id of this server, or the URL of a metadata document. The id of the record, as lists have it, is accepted too.',
)
const NO_IDENTIFIER = 'This is not a client_id: gci_…, a chosen id, or the URL of a metadata document.'
/** The `client_id` as others know it. */
export const CLIENT_IDENTIFIER = z
  .string()
  .regex(CLIENT_IDENTIFIER_FORM, { error: NO_IDENTIFIER, abort: true })
  .refine((text) => parseClientIdentifier(text) !== undefined, { error: NO_IDENTIFIER })
  .meta({ examples: [`gci_${ORDERED_EXAMPLE}`] })
export const USER_ID = parsed(parseUserId, USER_ID_FORM, 'This is not a user id.', `gus_${ORDERED_EXAMPLE}`).describe(
  'The id of the user.',
)
export const ORGANIZATION_ID = parsed(
  parseOrganizationId,
  ORGANIZATION_ID_FORM,
  'This is not the id of an organization.',
  `gor_${ORDERED_EXAMPLE}`,
).describe('The id of the organization.')
/** The `client_id` that the operator chooses for a new client. */
export const CHOSEN_CLIENT_ID = chosen(
  CHOSEN_CLIENT_ID_FORM,
  (text) => chosenClientId(text) !== undefined,
  'A chosen client_id has up to 128 of the characters A–Z a–z 0–9 . _ ~ : / @ | = -, begins with a letter or a digit, and neither as a URL nor as ids of this server do, such as gci_.',
  'board',
).describe('The client_id. It never changes. By default the server makes one.')
/** The id that the operator chooses for a new organization. */
export const CHOSEN_ORGANIZATION_ID = chosen(
  CHOSEN_ID_FORM,
  isChosenId,
  'A chosen id has up to 64 of the characters A–Z a–z 0–9 . _ ~ | : = -, begins with a letter or a digit, and not as ids of this server do, such as gor_.',
  'acme',
).describe('The id of the organization. It never changes. By default the server makes one.')
export const GROUP_ID = parsed(parseGroupId, GROUP_ID_FORM, 'This is not the id of a group.', 'finance').describe(
  'The id of the group; of a group of an organization with that of the organization before it, as in acme/finance.',
)
/** The id that a new group gets. Below the path of an organization it may lack that of the organization. */
export const NEW_GROUP_ID = parsed(
  parseGroupId,
  GROUP_ID_FORM,
  'The id of a group has up to 64 of the characters A–Z a–z 0–9 . _ ~ | : = -, and begins with a letter or a digit.',
  'finance',
).describe(
  'The id of the group, which tokens contain; of a group of an organization as in acme/finance. It never changes.',
)
/** A secret that a client has elsewhere. */
export const GIVEN_SECRET = z
  .string()
  .regex(GIVEN_SECRET_FORM, { error: 'A secret has 16 to 256 printable ASCII characters and no spaces.', abort: true })
  .refine((secret) => !isGuessable(secret), {
    error: 'A secret with fewer than eight different characters can be guessed. Rotate the secret instead.',
  })
  .meta({ format: 'password', examples: ['2b7e151628aed2a6abf7158809cf4f3c'] })
  .describe('The secret that the client has already. It is never shown.')
export const GRANT_ID = parsed(
  parseGrantId,
  ORDERED_ID_FORM,
  'This is not the id of a grant.',
  ORDERED_EXAMPLE,
).describe('The id of the grant.')
export const SESSION_ID = parsed(
  parseSessionId,
  ORDERED_ID_FORM,
  'This is not the id of a session.',
  ORDERED_EXAMPLE,
).describe('The id of the session; not the cookie.')
export const ADMIN_CREDENTIAL_ID = parsed(
  parseAdminCredentialId,
  ORDERED_ID_FORM,
  "This is not the id of an administrator's credentials.",
  ORDERED_EXAMPLE,
).describe('The id of the credentials; not the token.')

export const INITIAL_TOKEN_ID = parsed(
  parseInitialTokenId,
  ORDERED_ID_FORM,
  'This is not the id of an initial access token.',
  ORDERED_EXAMPLE,
).describe('The id of the initial access token; not the token.')

export const SCOPE = parsed(
  parseScope,
  SCOPE_FORM,
  'The scope is malformed, or has too many values.',
  'projects:read',
).describe('Scopes, separated by spaces.')

/** The name of one scope. */
export const SCOPE_NAME = z
  .string()
  .regex(SCOPE_TOKEN_FORM, {
    error: `The name of a scope has no spaces, quotes or backslashes, and up to ${MAXIMA.scopeName.most} characters.`,
  })
  .meta({ examples: ['projects:read'] })

/** A name or a sentence that a page shows. */
export const NAME = displayed(DISPLAY_TEXT_LIMIT, 'Acme')

/** A name, or an empty text. */
export const NAME_OR_NONE = sized(
  z.string().regex(new RegExp(`^(?:${DISPLAY_TEXT_FORM.source.slice(1, -1)})?$`, 'u'), {
    error: `This must have at most ${DISPLAY_TEXT_LIMIT} characters, none of them a control character.`,
    abort: true,
  }),
  { least: 0, most: DISPLAY_TEXT_LIMIT, example: 'Projects' },
).transform((text) => text.trim())

/** Text that pages show, in its one form: one text, or texts by language. `plain`: which plain texts are accepted. */
export function localized(plain: typeof NAME = NAME) {
  const members = Object.fromEntries(TEXT_LANGUAGES.map((language) => [language, NAME.optional()]))
  const byLanguage = z
    .strictObject(members as Record<TextLanguage, z.ZodOptional<typeof NAME>>, {
      error: `There is no such language here. There are: ${TEXT_LANGUAGES.join(', ')}.`,
    })
    .refine((texts) => localizedText(texts) !== undefined, {
      error: 'Give the text in one language at least.',
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ minProperties: 1 })
  return z
    .union([plain, byLanguage])
    .transform((text) => (typeof text === 'string' ? text : (localizedText(text) as LocalizedText)))
}

const NOT_A_RESOURCE =
  'This is not a resource: it must be an absolute URI without a fragment or user information (RFC 8707 §2).'
/** RFC 8707 §2: an absolute URI without a fragment. A host or port that no URL can have is refused as well. */
export const RESOURCE_TEXT = z
  .string()
  .max(MAXIMA.resource.most)
  .regex(/^[A-Za-z][A-Za-z0-9+.-]*:[\x21\x22\x24-\x7e]*$/, { error: NOT_A_RESOURCE, abort: true })
  .refine((text) => parseResource(text) !== undefined, { error: NOT_A_RESOURCE })
  .meta({ examples: ['https://api.example'] })
export const RESOURCE = RESOURCE_TEXT.transform((text) => text as Resource).describe(
  'The identifier of the API, an absolute URI without a fragment or user information (RFC 8707).',
)

/**
 * The characters allowed on each side of the @. Addresses are compared in a compatibility form (UAX #15), so spaces,
 * controls and the blocks whose characters become a space, an @ or a long text in that form are excluded.
 */
const ADDRESS_PART =
  '[^\\u0000-\\u0020@\\u007f-\\u00bf\\u02d8-\\u02df\\u037a\\u0384\\u0385\\u1680\\u1fbd-\\u2bff\\u3000\\u309b\\u309c\\u3200-\\u33ff\\ufb00-\u{10ffff}]+'
const NOT_AN_ADDRESS = 'This is not an e-mail address.'
export const EMAIL = sized(
  z.string().regex(new RegExp(`^ *${ADDRESS_PART}@${ADDRESS_PART} *$`, 'u'), { error: NOT_AN_ADDRESS, abort: true }),
  { least: 3, most: EMAIL_LIMIT, example: 'ada@acme.test' },
)
  .transform(normalizeEmail)
  // An address may have more characters in the normal form.
  .refine((email) => email !== '', { error: NOT_AN_ADDRESS })
  .describe('The address that the user signs in with.')

/** The start of an address. */
export const EMAIL_PREFIX = sized(
  z.string().regex(/^[^\p{Cc} ]+$/u, { error: 'This is not the start of an address.', abort: true }),
  { least: 1, most: EMAIL_LIMIT, example: 'ada@' },
).transform(normalizeEmailStart)

/** The task checks the rest, which depends on the settings and on the user. */
export const PASSWORD = sized(z.string(), {
  least: 1,
  most: PASSWORD_BYTES,
  example: 'correct horse battery staple',
}).meta({ format: 'password' })

/** A time in ISO 8601 with its zone. */
export const TIME = timeSuchAs('2026-01-31T12:00:00Z')
/** The end of a period that begins with a `TIME`. */
export const END = timeSuchAs('2026-02-28T12:00:00Z')

const DAY = z.regexes.date
const DAY_OR_TIME = new RegExp(`${DAY.source}|${z.regexes.datetime({ offset: true }).source}`)
/** When something ends: a time, or a day, with whose end in UTC it ends. */
export const UNTIL = z
  .string()
  .regex(DAY_OR_TIME, { error: 'This is neither a day such as 2026-12-31 nor a time such as 2026-12-31T18:00:00Z.' })
  .meta({ examples: ['2099-12-31'] })
  .transform((text) => (Date.parse(text) + (DAY.test(text) ? DAY_MS : 0)) as EpochMs)

function timeSuchAs(example: string) {
  return z.iso
    .datetime({ offset: true, error: 'This is not a time such as 2026-01-31T12:00:00Z.' })
    .meta({ examples: [example] })
    .transform((text) => Date.parse(text) as EpochMs)
}

/** Rows of one answer. */
export const LIMIT = z
  .int()
  .min(1)
  .max(PAGE_LIMIT.most)
  .default(PAGE_LIMIT.usual)
  .describe(`At most this many rows, up to ${PAGE_LIMIT.most}.`)

/** Where the next page starts: the `before` to ask it with; null on the last one. */
export const NEXT = z
  .string()
  .nullable()
  .describe('Give this as `before` to get the next page; null: this is the last page.')

/** The row that the page continues after. */
export function pageStart<Id extends z.ZodType>(id: Id): z.ZodOptional<Id> {
  return id.optional().describe('Continue after this row: the `next` of the previous page.')
}

/** Text that matches a pattern, converted by a parser. */
function parsed<T extends string>(
  parse: (text: string) => T | undefined,
  form: RegExp,
  error: string,
  example: string,
): z.ZodPipe<z.ZodString, z.ZodTransform<T, string>> {
  return z
    .string()
    .regex(form, { error, abort: true })
    .refine((text) => parse(text) !== undefined, { error })
    .meta({ examples: [example] })
    .transform((text) => parse(text) as T)
}

/** An id that the operator chooses. The pattern does not say which texts are reserved. */
function chosen(form: RegExp, isFree: (text: string) => boolean, error: string, example: string): z.ZodString {
  return z
    .string()
    .regex(form, { error, abort: true })
    .refine(isFree, { error })
    .meta({ examples: [example] })
}
