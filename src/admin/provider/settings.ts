import * as z from 'zod'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import { isUsable } from '../../users/provider-routing.ts'
import { definedMembers } from '../../base/json.ts'
import {
  DOMAIN_FORM,
  EMAIL_TRUSTS,
  LINK_RULES,
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
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../fields.ts'
import type { TaskContext } from '../task.ts'

/** Members of the inputs and answers of the tasks about providers. */

export const TEMPLATES = Object.keys(PROVIDER_TEMPLATES) as [ProviderTemplateName, ...ProviderTemplateName[]]
export const SHORT_TEXT = z.string().min(1).max(500)
const DOMAIN = z
  .string()
  .toLowerCase()
  .max(253)
  .regex(DOMAIN_FORM, { error: 'This is not a domain such as acme.example.' })
  .meta({ examples: ['acme.example'] })
const HOST = z
  .string()
  .regex(/^(?:[a-z0-9_](?:[a-z0-9._-]{0,252})|\[[0-9a-f:]+\])$/, { error: 'This is not a host such as idp.internal.' })
  .meta({ examples: ['idp.internal'] })

/** The settings that the operator may choose. Each may be absent. */
export const CHOICES = {
  auth_method: z
    .enum(PROVIDER_AUTH_METHODS)
    .optional()
    .describe('How this server authenticates at the token endpoint.'),
  scope: SHORT_TEXT.meta({ examples: ['openid email profile'] })
    .optional()
    .describe('The scope that users are sent with.'),
  email_trust: z
    .enum(EMAIL_TRUSTS)
    .optional()
    .describe(
      'When an address of the provider counts as proved: none, never; claim, if email_verified is true; domains, also without it if the address is of a domain of the provider.',
    ),
  domains: z
    .array(DOMAIN)
    .max(PROVIDER_LIST_LIMIT)
    .meta({ examples: [[]] })
    .optional()
    .describe('The domains of addresses that belong to this provider, and to no other.'),
  routing: z
    .enum(ROUTINGS)
    .optional()
    .describe('required: accounts with an address of the domains sign in at this provider only.'),
  sign_up: z
    .enum(SIGN_UPS)
    .optional()
    .describe(
      'Which persons get an account at the first sign-in: off, domains (a proved address of the domains), anybody.',
    ),
  link: z
    .enum(LINK_RULES)
    .optional()
    .describe(
      'What links a person to an account with the same proved address: ask, the person signs in to it once; verified-email, the address, if it is of the domains and verified here.',
    ),
  membership: z
    .enum(MEMBERSHIP_RULES)
    .optional()
    .describe(
      'Which users become members of the organization when they sign in at the provider: domains, those with a proved address of the domains; anybody, every one: the operator declares that each person of the provider belongs to the organization.',
    ),
  private_hosts: z
    .array(HOST)
    .max(PROVIDER_LIST_LIMIT)
    .optional()
    .describe('Hosts of the provider, besides that of its issuer, that may have private addresses.'),
}
type Choices = z.output<z.ZodObject<typeof CHOICES>>

export const SECRET = z.string().min(1).max(2000)
export const CLIENT_ID = SHORT_TEXT.meta({ examples: ['grantor'] })

/** A provider in an answer, without the secret. */
export const PROVIDER_DOCUMENT = z
  .object({
    provider_id: z.string(),
    kind: z.enum(PROVIDER_KINDS),
    name: z.string(),
    issuer: z.string(),
    redirect_uri: z.string().describe('The redirect URI to register at the provider.'),
    client_id: z.string(),
    has_secret: z
      .boolean()
      .describe('false: the master key was replaced after a leak, and the secret has to be set again.'),
    auth_method: z.enum(PROVIDER_AUTH_METHODS),
    scope: z.string(),
    subject_claim: z.enum(SUBJECT_CLAIMS),
    email_trust: z.enum(EMAIL_TRUSTS),
    domains: z.array(z.string()),
    routing: z.enum(ROUTINGS),
    sign_up: z.enum(SIGN_UPS),
    link: z.enum(LINK_RULES),
    organization_id: z.string().nullable(),
    membership: z.enum(MEMBERSHIP_RULES),
    private_hosts: z.array(z.string()),
    usable: z
      .boolean()
      .describe('Users can sign in there: the provider is enabled, and no application of yours signs users in.'),
    created_at: ISO,
    disabled_at: ISO_OR_NULL,
  })
  .meta({ id: 'Provider' })

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

/** The settings among the members of an input. `null` removes a setting. */
export function settingsOf(
  input: Choices & {
    readonly issuer?: string | undefined
    readonly organization_id?: ProviderSettings['organizationId'] | null
  },
): Partial<ProviderSettings> {
  const { issuer, auth_method, scope, email_trust, domains, routing, sign_up, link, private_hosts } = input
  const { organization_id: organizationId, membership } = input
  return {
    ...definedMembers({
      issuer,
      authMethod: auth_method,
      scope,
      emailTrust: email_trust,
      domains,
      routing,
      signUp: sign_up,
      link,
      membership,
      privateHosts: private_hosts,
    }),
    ...(organizationId === undefined ? {} : { organizationId: organizationId ?? undefined }),
  }
}

/** A provider as administrators see it. */
export function describeProvider(
  provider: ProviderRecord,
  { issuer, settings: policy }: Pick<TaskContext, 'issuer' | 'settings'>,
): ProviderDocument {
  const { id, settings, encryptedSecret, createdAt, disabledAt } = provider
  return {
    provider_id: id,
    kind: settings.kind,
    name: settings.name,
    issuer: settings.issuer,
    redirect_uri: providerRedirectUri(issuer, id),
    client_id: settings.clientId,
    has_secret: encryptedSecret !== undefined,
    auth_method: settings.authMethod,
    scope: settings.scope,
    subject_claim: settings.subjectClaim,
    email_trust: settings.emailTrust,
    domains: [...settings.domains],
    routing: settings.routing,
    sign_up: settings.signUp,
    link: settings.link,
    organization_id: settings.organizationId ?? null,
    membership: settings.membership,
    private_hosts: [...settings.privateHosts],
    usable: isUsable(policy, provider),
    created_at: iso(createdAt),
    disabled_at: isoOrNull(disabledAt),
  }
}
