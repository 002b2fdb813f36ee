import * as z from 'zod'
import { NEW_METADATA } from '../admin/client/metadata.ts'
import { RULES_INPUT } from '../admin/client/document.ts'
import { CLIENT_MEMBERS } from '../protocol/client/members.ts'
import { CHOSEN_CLIENT_ID, CHOSEN_ORGANIZATION_ID, NAME, NEW_GROUP_ID } from '../admin/fields.ts'
import { PROFILE_CHANGE } from '../admin/user/tasks.ts'
import { MAXIMA } from '../base/maxima.ts'
import { MEMBERSHIP_LIMIT } from '../ports/store.ts'
import { EMAIL_LIMIT } from '../protocol/sign-in/email-address.ts'
import type { ImportReason } from './reasons.ts'

const IDENTITY_LIMIT = 20
const URIS = z.array(z.string().max(2048)).max(100)

const IMPORTED_ORGANIZATION = z.strictObject({
  type: z.literal('organization'),
  id: CHOSEN_ORGANIZATION_ID,
  name: NAME.describe('The name, as the consent page shows it.'),
  disabled: z.boolean().default(false).describe('Whether no token may be issued for it.'),
})

const IMPORTED_GROUP = z.strictObject({
  type: z.literal('group'),
  id: NEW_GROUP_ID,
  name: NAME.optional().describe('The name, for people. By default it is the id.'),
})

const IMPORTED_USER = z.strictObject({
  type: z.literal('user'),
  id: z
    .string()
    .min(1)
    .max(255)
    .meta({ examples: ['u-1842'] })
    .describe(
      'The id of the user there. It stays the `sub`, if it has up to 64 of the characters A–Z a–z 0–9 . _ ~ | : = - and is not like the ids of this server. If not, the user gets an id that is made of it.',
    ),
  email: z.string().max(EMAIL_LIMIT).nullable().optional().describe('The address that the user signs in with.'),
  email_verified: z.boolean().default(false).describe("Whether the address is known to be the user's."),
  name: NAME.nullable().optional(),
  password_hash: z
    .string()
    .max(1024)
    .nullable()
    .optional()
    .describe('The hash of the password, as docs/users.md says. One that cannot be used is left out, and reported.'),
  disabled: z.boolean().default(false).describe('Whether the user must not sign in.'),
  profile: PROFILE_CHANGE.optional(),
  totp: z
    .strictObject({ secret: z.string().max(256).describe('Base32, at least 16 bytes.') })
    .nullable()
    .optional()
    .describe('The authenticator app of the user: SHA-1, 6 digits, 30 seconds.'),
  has_second_factor: z
    .boolean()
    .default(false)
    .describe('Whether the user had another second factor, which cannot be moved.'),
  identities: z
    .array(
      z.strictObject({
        provider: z
          .string()
          .min(1)
          .max(255)
          .describe('The id of a provider here, `delegate` for your own application, or a name of `--provider`.'),
        subject: z.string().min(1).max(255).describe('The id of the user at the provider.'),
      }),
    )
    .max(IDENTITY_LIMIT)
    .default([]),
  organizations: z
    .array(z.string())
    .max(MEMBERSHIP_LIMIT)
    .default([])
    .describe('Ids of organizations, which come before.'),
  groups: z
    .array(z.string().max(255))
    .max(MAXIMA.groupsOfUser.most)
    .default([])
    .describe('Ids of groups, which come before. One that cannot have the user is left out, and reported.'),
})

/** Longer than a link may be here, so that a logo in a `data:` URL is left out, and the client is taken. */
const LINK = z.string().max(65_536).optional()

const IMPORTED_CLIENT = z.strictObject({
  ...NEW_METADATA.shape,
  client_uri: LINK.describe(
    'A page about the client. Here and below, a link that uses no https is left out, and reported.',
  ),
  logo_uri: LINK,
  tos_uri: LINK.describe('Its terms of service.'),
  policy_uri: LINK.describe('Its privacy policy.'),
  contacts: z.array(z.string().max(254)).max(100).optional().describe('Addresses of those who are responsible for it.'),
  backchannel_logout_uri: LINK.describe(
    `${CLIENT_MEMBERS.backchannel_logout_uri.answer.description} One that cannot be requested is left out, and reported.`,
  ),
  redirect_uris: URIS.optional().describe(
    'Exact redirect URIs. One that cannot be registered is left out, and reported.',
  ),
  post_logout_redirect_uris: URIS.optional().describe('Exact URIs to which the browser may return after a logout.'),
  type: z.literal('client'),
  client_id: CHOSEN_CLIENT_ID,
  client_secret: z
    .string()
    .max(1024)
    .nullable()
    .optional()
    .describe('The secret that the client has already: 16 to 256 printable characters, eight of them different.'),
  disabled: z.boolean().default(false),
  rules: z.strictObject(RULES_INPUT).prefault({}).describe('The rules of the client.'),
})

/** What each line of the neutral format is (docs/moving.md). The readers of other formats make the same records. */
export const IMPORTED = {
  organization: IMPORTED_ORGANIZATION,
  group: IMPORTED_GROUP,
  user: IMPORTED_USER,
  client: IMPORTED_CLIENT,
} as const

export type ImportedKind = keyof typeof IMPORTED
export type ImportedUser = z.output<typeof IMPORTED_USER>
export type ImportedOrganization = z.output<typeof IMPORTED_ORGANIZATION>
export type ImportedGroup = z.output<typeof IMPORTED_GROUP>
export type ImportedClient = z.output<typeof IMPORTED_CLIENT>

/** The JSON Schema of a line of the neutral format. */
export function importSchema(): unknown {
  return {
    title: 'A line of a file for "grantor import users"',
    ...(z.toJSONSchema(
      z.discriminatedUnion('type', [IMPORTED_ORGANIZATION, IMPORTED_GROUP, IMPORTED_USER, IMPORTED_CLIENT]),
      {
        io: 'input',
      },
    ) as object),
  }
}

/** A record of a file, not checked yet. */
export interface SourceRecord {
  readonly kind: ImportedKind
  readonly line: number
  /** Its id there. undefined: it has none. */
  readonly sourceId: string | undefined
  /** What `IMPORTED` describes; undefined: the line is malformed. */
  readonly value: unknown
  /** Why it is not taken on purpose. undefined: it is taken. */
  readonly skipped: ImportReason | undefined
  /** Why the server cannot have it. undefined: nothing is known that speaks against it. */
  readonly impossible: Impossible | undefined
  /** What of it is not taken. */
  readonly notes: readonly ImportReason[]
  /** The hash of the client's secret, which only systems that publish no secrets have. It is no part of the neutral format. */
  readonly secretHash: string | undefined
  /** Names of what is not taken: attributes that are no standard claims, and members that have no meaning here. */
  readonly dropped: readonly string[]
  /** The kinds of second factors that are not moved, by their names there. */
  readonly lostFactors: readonly string[]
}

/** Why a record is refused before it is read. */
export interface Impossible {
  readonly reason: ImportReason
  /** undefined: the reason says all. */
  readonly detail: string | undefined
}
