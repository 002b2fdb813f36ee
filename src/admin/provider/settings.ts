import * as z from 'zod'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import {
  ASSERTION_LIST_LIMIT,
  DOMAIN_FORM,
  EMAIL_TRUSTS,
  isListed,
  LINK_RULES,
  LISTINGS,
  MEMBERSHIP_RULES,
  PROVIDER_AUTH_METHODS,
  PROVIDER_KINDS,
  PROVIDER_LIST_LIMIT,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  ROUTINGS,
  SIGN_UPS,
  SUBJECT_CLAIMS,
  type ProviderSettings,
  type ProviderTemplateName,
} from '../../protocol/sign-in/provider.ts'
import { parseProviderGroup, PROVIDER_GROUP_FORM } from '../../protocol/access/provider-groups.ts'
import { asciiDomain } from '../../protocol/sign-in/email-address.ts'
import { isUsable } from '../../users/provider-routing.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'
import { CLIENT_IDENTIFIER, NAME, ORGANIZATION_ID, RESOURCE_TEXT } from '../fields.ts'
import { tableOf } from '../../answers/table.ts'
import type { TaskContext } from '../task.ts'

export const SHORT_TEXT = z.string().min(1).max(500)
const DOMAIN = z
  .string()
  .overwrite((text) => asciiDomain(text) ?? text)
  .max(253)
  .regex(DOMAIN_FORM, { error: 'This is not a domain such as acme.example.' })
  .meta({ examples: ['acme.example'] })
const HOST_FORM = '(?:[a-z0-9_](?:[a-z0-9._-]{0,252})|\\[[0-9a-f:]+\\])'
const HOST = z
  .string()
  .regex(new RegExp(`^${HOST_FORM}$`), { error: 'This is not a host such as idp.internal.' })
  .meta({ examples: ['idp.internal'] })
const GROUP_FAULT = { error: 'This is not a value of the claim, "=" and a group.' }
const GROUP = z
  .string()
  .regex(PROVIDER_GROUP_FORM, { ...GROUP_FAULT, abort: true })
  .refine((text) => parseProviderGroup(text) !== undefined, GROUP_FAULT)
  .meta({ examples: ['8f3c0a52=finance'] })
const GROUP_DAYS_LIMIT = 365

/** The member is changed to nothing by `null`. */
export const GROUP_CLAIM = z
  .string()
  .regex(/^[^\p{C}\s]{1,256}$/u, { error: 'This is not the name of a claim.' })
  .meta({ examples: ['groups'] })
/** The host of an API, which may have a port. */
export const GRAPH_HOST = z
  .string()
  .regex(new RegExp(`^${HOST_FORM}(?::[0-9]{1,5})?$`), { error: 'This is not a host such as graph.microsoft.com.' })
  .meta({ examples: ['graph.microsoft.com'] })
export const GROUP_CLAIM_TEXT =
  'The claim with the groups of a person, in the ID token or else at userinfo: `groups`, `roles`, or a path such as `realm_access.roles`; `teams` of GitHub.'
export const GRAPH_HOST_TEXT =
  'The host of Microsoft Graph, which is asked for the groups of a person who has too many for a token of Entra.'

/**
 * What an operator may decide about a provider, by the members of `ProviderSettings`: a row for each. The inputs of the tasks, their
 * texts, the answer and the options of commands follow from it; the default is that of the template.
 */
const SETTINGS = {
  name: NAME.describe('The name of the provider on the sign-in page.'),
  clientId: SHORT_TEXT.meta({ examples: ['grantor'] }).describe('The client_id of this server at the provider.'),
  authMethod: z.enum(PROVIDER_AUTH_METHODS).describe('How this server authenticates at the token endpoint.'),
  scope: SHORT_TEXT.meta({ examples: ['openid email profile'] }).describe(
    'The scope that this server requests at the provider.',
  ),
  emailTrust: z
    .enum(EMAIL_TRUSTS)
    .describe(
      'When an address counts as proved: none, never; claim, if email_verified is true; domains, also without it if the address is of the domains.',
    ),
  domains: z
    .array(DOMAIN)
    .max(PROVIDER_LIST_LIMIT)
    .meta({ examples: [[]] })
    .describe('The domains of addresses that belong to this provider only.'),
  routing: z
    .enum(ROUTINGS)
    .describe('required: accounts with an address of the domains sign in at this provider only.'),
  listing: z
    .enum(LISTINGS)
    .describe(
      'Whether each visitor of the sign-in page sees a button of the provider: auto, only if it has neither domains nor an organization; shown, always; hidden, never.',
    ),
  signUp: z
    .enum(SIGN_UPS)
    .describe(
      'Which persons get an account at their first sign-in: off, none; domains, those with a proved address of the domains; anybody, all.',
    ),
  link: z
    .enum(LINK_RULES)
    .describe(
      'How a person is connected to an account with the same proved address: ask, after a sign-in to the account; verified-email, at once, if the address is of the domains and verified in the account.',
    ),
  multiFactor: z
    .boolean()
    .describe('Whether the provider always asks for a second factor, so that none is asked for here.'),
  organizationId: ORGANIZATION_ID.describe('The organization of which users become members.'),
  membership: z
    .enum(MEMBERSHIP_RULES)
    .describe(
      'Which users become members of the organization at a sign-in: domains, those with a proved address of the domains; anybody, all, because each person of the provider belongs to it.',
    ),
  groupClaim: GROUP_CLAIM.describe(GROUP_CLAIM_TEXT),
  groups: z
    .array(GROUP)
    .max(MAXIMA.providerGroups.most)
    .overwrite((pairs) => [...new Set(pairs)])
    .meta({ examples: [[]], uniqueItems: true })
    .describe(
      'A value of the claim, `=`, and the group whose member a person with the value is: 8f3c0a52=finance. No other value counts.',
    ),
  groupDays: z
    .int()
    .min(1)
    .max(GROUP_DAYS_LIMIT)
    .meta({ examples: [30] })
    .describe('For how many days after a sign-in what the provider says of groups counts.'),
  graphHost: GRAPH_HOST.describe(GRAPH_HOST_TEXT),
  privateHosts: z
    .array(HOST)
    .max(PROVIDER_LIST_LIMIT)
    .describe('Hosts of the provider, besides that of its issuer, that may have private addresses.'),
  assertionClients: z
    .array(CLIENT_IDENTIFIER)
    .max(ASSERTION_LIST_LIMIT)
    .meta({ examples: [[]] })
    .describe('The client_id of each client that may act for persons of the provider by its identity assertions.'),
  assertionApis: z
    .array(RESOURCE_TEXT)
    .max(ASSERTION_LIST_LIMIT)
    .meta({ examples: [[]] })
    .describe('The APIs for which the clients get tokens by identity assertions of the provider.'),
} satisfies { readonly [Name in keyof ProviderSettings]?: z.ZodType<ProviderSettings[Name]> }

type Wire<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Wire<Tail>}`
  : Name
type Rows = typeof SETTINGS
type Inputs = { [Name in keyof Rows as Wire<Name>]: Rows[Name] }
type SettingRows = {
  [Name in keyof Rows as Wire<Name>]: ShownRow<
    Rows[Name] extends z.ZodEnum
      ? Rows[Name]
      : Rows[Name] extends z.ZodArray
        ? z.ZodArray<z.ZodString>
        : Rows[Name] extends z.ZodBoolean | z.ZodNumber
          ? Rows[Name]
          : z.ZodString
  >
}
interface ShownRow<Schema> {
  readonly schema: Schema
  readonly value: (provider: ProviderRecord) => unknown
}

/** The settings by their names on the wire: `authMethod` is `auth_method`. */
export const INPUTS = ofSettings((name) => SETTINGS[name]) as Inputs
export const OPTIONAL_INPUTS = z.object(INPUTS).partial().shape
export const SECRET = z
  .string()
  .min(1)
  .max(2000)
  .meta({ format: 'password', examples: ['s3cr3t'] })
  .describe('The client_secret of this server at the provider. It is never shown.')

const { row, given, table } = tableOf<ProviderRecord>()

/** A provider in an answer, without the secret. */
const PROVIDER = table({
  provider_id: row(z.string(), ({ id }) => id),
  kind: row(z.enum(PROVIDER_KINDS), ({ settings }) => settings.kind),
  issuer: row(z.string(), ({ settings }) => settings.issuer),
  redirect_uri: given(z.string().describe('The redirect URI to register at the provider.')),
  has_secret: row(
    z.boolean().describe('false: the master key was replaced after a leak, and the secret has to be set again.'),
    ({ encryptedSecret }) => encryptedSecret !== undefined,
  ),
  subject_claim: row(z.enum(SUBJECT_CLAIMS), ({ settings }) => settings.subjectClaim),
  ...(ofSettings((name) => ({
    schema: shownAs(SETTINGS[name]),
    value: ({ settings }: ProviderRecord) => settings[name] ?? null,
  })) as SettingRows),
  organization_id: row(
    z.string().nullable().describe('The organization of which users become members; null: none.'),
    ({ settings }) => settings.organizationId ?? null,
  ),
  group_claim: row(
    z.string().nullable().describe(`${GROUP_CLAIM_TEXT} null: none is read.`),
    ({ settings }) => settings.groupClaim ?? null,
  ),
  graph_host: row(
    z.string().nullable().describe(`${GRAPH_HOST_TEXT} null: none is asked.`),
    ({ settings }) => settings.graphHost ?? null,
  ),
  listed: row(
    z
      .boolean()
      .describe(
        'Whether each visitor of the sign-in page sees a button of the provider, as `listing` says. Without passwords, `auto` also shows the only provider.',
      ),
    ({ settings }) => isListed(settings),
  ),
  usable: given(
    z
      .boolean()
      .describe(
        'Whether users can sign in at the provider: it is enabled, and no application of yours signs users in.',
      ),
  ),
  created_at: row(ISO, ({ createdAt }) => iso(createdAt)),
  disabled_at: row(ISO_OR_NULL, ({ disabledAt }) => isoOrNull(disabledAt)),
})
export const PROVIDER_DOCUMENT = z.object(PROVIDER.shape).meta({ id: 'Provider' })

export type ProviderDocument = z.output<typeof PROVIDER_DOCUMENT>

export const TEST_DOCUMENT = z
  .object({
    provider_id: z.string(),
    redirect_uri: z.string(),
    ok: z.boolean(),
    findings: z.array(z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })),
  })
  .meta({ id: 'ProviderTest' })

export type ProviderTestDocument = z.output<typeof TEST_DOCUMENT>

/** Makes a member on the wire of each setting. */
function ofSettings(valueOf: (name: keyof Rows) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.keys(SETTINGS).map((name) => [wireName(name), valueOf(name as keyof Rows)]))
}

/** What a template presets, by the names on the wire; `issuer`: null where each operator has another one. */
export function templateMembers(name: ProviderTemplateName): Readonly<Record<string, unknown>> {
  const preset: Partial<Record<keyof ProviderSettings, unknown>> = PROVIDER_TEMPLATES[name]
  return {
    ...ofSettings((setting) => preset[setting] ?? null),
    kind: preset.kind,
    subject_claim: preset.subjectClaim,
    issuer: preset.issuer ?? null,
  }
}

/** The name of a setting on the wire. */
export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The schema of a setting in an answer, which checks nothing. */
function shownAs(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodBoolean) return schema
  const shown =
    schema instanceof z.ZodArray ? z.array(z.string()) : schema instanceof z.ZodNumber ? z.int() : z.string()
  return shown.describe(schema.description ?? '')
}

/** The settings among the members of an input. `null` removes a setting. */
export function settingsOf(input: Readonly<Record<string, unknown>>): Partial<ProviderSettings> {
  const present = Object.keys(SETTINGS).filter((name) => input[wireName(name)] !== undefined)
  return Object.fromEntries(present.map((name) => [name, input[wireName(name)] ?? undefined]))
}

/** A provider as administrators see it. */
export function describeProvider(
  provider: ProviderRecord,
  { issuer, settings: policy }: TaskContext,
): ProviderDocument {
  return PROVIDER.show(provider, {
    redirect_uri: providerRedirectUri(issuer, provider.id),
    usable: isUsable(policy, provider),
  })
}

/** Which persons the sign-in page leads to the provider, in a sentence. */
export function describeListing({
  routing,
  listed,
  domains,
  organization_id: organization,
  disabled_at: disabledAt,
}: Pick<ProviderDocument, 'routing' | 'listed' | 'domains' | 'organization_id' | 'disabled_at'>): string {
  if (disabledAt !== null && routing === 'required')
    return `It is disabled, so that no account with an address of ${domains.join(', ')} can sign in.`
  if (disabledAt !== null) return 'It is disabled, so that no person can sign in there.'
  if (listed) return 'Each visitor of the sign-in page sees its button.'
  const ways = [
    ...(domains.length === 0 ? [] : [`whose address is of ${domains.join(', ')}`]),
    ...(organization === null ? [] : [`of whom a client requests its organization (org_id)`]),
  ]
  return ways.length === 0
    ? 'The sign-in page shows its button to no one, and no address leads to it.'
    : `The sign-in page shows its button only to persons ${ways.join(', or ')}.`
}
