import * as z from 'zod'
import { definedMembers } from '../base/json.ts'
import type { Context, StoreNeeds } from '../ports/context.ts'
import type { ProviderRecord } from '../ports/records/provider.ts'
import type { ProviderId } from '../protocol/sign-in/authentication.ts'
import {
  DOMAIN_FORM,
  EMAIL_TRUSTS,
  findProviderFault,
  LINK_RULES,
  MEMBERSHIP_RULES,
  parseProviderId,
  PROVIDER_AUTH_METHODS,
  PROVIDER_ID_FORM,
  PROVIDER_KINDS,
  PROVIDER_LIMIT,
  PROVIDER_LIST_LIMIT,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  ROUTINGS,
  SIGN_UPS,
  SUBJECT_CLAIMS,
  type ProviderSettings,
  type ProviderTemplateName,
} from '../protocol/sign-in/provider.ts'
import { isUsable } from '../users/provider-routing.ts'
import { conflict, unknown, type AdminError } from './admin-error.ts'
import { changeTasks } from './change-tasks.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull, NAME, ORGANIZATION_ID } from './fields.ts'
import { requireOrganization } from './organization/organization.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'

const PATH = '/admin/v1/providers'
const PROVIDER_ID = z
  .string()
  .regex(PROVIDER_ID_FORM, { error: 'The id of a provider has up to 31 lower-case letters, digits and hyphens.' })
  .refine((text) => parseProviderId(text) !== undefined, { error: 'This id is reserved.' })
  .meta({ examples: ['acme-entra'] })
  .transform((text) => text as ProviderId)
  .describe('The id of the provider. It is part of the redirect URI, and never changes.')
const ONE = z.object({ provider_id: PROVIDER_ID })
const TEMPLATES = Object.keys(PROVIDER_TEMPLATES) as [ProviderTemplateName, ...ProviderTemplateName[]]
const SHORT_TEXT = z.string().min(1).max(500)
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

/**
 * What an operator may decide about a provider, by the members of `ProviderSettings`: a row for each. The inputs of the tasks, their
 * texts, the answer and the options of commands follow from it; the default is that of the template.
 */
const SETTINGS = {
  name: NAME.describe('The name of the provider on the sign-in page.'),
  clientId: SHORT_TEXT.meta({ examples: ['grantor'] }).describe('The client_id of this server at the provider.'),
  authMethod: z.enum(PROVIDER_AUTH_METHODS).describe('How this server authenticates at the token endpoint.'),
  scope: SHORT_TEXT.meta({ examples: ['openid email profile'] }).describe('The scope that users are sent with.'),
  emailTrust: z
    .enum(EMAIL_TRUSTS)
    .describe(
      'When an address of the provider counts as proved: none, never; claim, if email_verified is true; domains, also without it if the address is of a domain of the provider.',
    ),
  domains: z
    .array(DOMAIN)
    .max(PROVIDER_LIST_LIMIT)
    .meta({ examples: [[]] })
    .describe('The domains of addresses that belong to this provider, and to no other.'),
  routing: z
    .enum(ROUTINGS)
    .describe('required: accounts with an address of the domains sign in at this provider only.'),
  signUp: z
    .enum(SIGN_UPS)
    .describe(
      'Which persons get an account at the first sign-in: off, domains (a proved address of the domains), anybody.',
    ),
  link: z
    .enum(LINK_RULES)
    .describe(
      'What links a person to an account with the same proved address: ask, the person signs in to it once; verified-email, the address, if it is of the domains and verified here.',
    ),
  organizationId: ORGANIZATION_ID.describe('The organization of which users become members.'),
  membership: z
    .enum(MEMBERSHIP_RULES)
    .describe(
      'Which users become members of the organization when they sign in at the provider: domains, those with a proved address of the domains; anybody, every one: the operator declares that each person of the provider belongs to the organization.',
    ),
  privateHosts: z
    .array(HOST)
    .max(PROVIDER_LIST_LIMIT)
    .describe('Hosts of the provider, besides that of its issuer, that may have private addresses.'),
} satisfies { readonly [Name in keyof ProviderSettings]?: z.ZodType<ProviderSettings[Name]> }

type Wire<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Wire<Tail>}`
  : Name
type Rows = typeof SETTINGS
type Inputs = { [Name in keyof Rows as Wire<Name>]: Rows[Name] }
type Shown = {
  [Name in keyof Rows as Wire<Name>]: Rows[Name] extends z.ZodEnum
    ? Rows[Name]
    : Rows[Name] extends z.ZodArray
      ? z.ZodArray<z.ZodString>
      : z.ZodString
}

/** The settings by their names on the wire: `authMethod` is `auth_method`. */
const INPUTS = ofSettings((name) => SETTINGS[name]) as Inputs
const OPTIONAL_INPUTS = z.object(INPUTS).partial().shape
const SECRET = z
  .string()
  .min(1)
  .max(2000)
  .meta({ examples: ['s3cr3t'] })
  .describe('The client_secret of this server at the provider. It is never shown.')

/** A provider in an answer, without the secret. */
const PROVIDER_DOCUMENT = z
  .object({
    provider_id: z.string(),
    kind: z.enum(PROVIDER_KINDS),
    issuer: z.string(),
    redirect_uri: z.string().describe('The redirect URI to register at the provider.'),
    has_secret: z
      .boolean()
      .describe('false: the master key was replaced after a leak, and the secret has to be set again.'),
    subject_claim: z.enum(SUBJECT_CLAIMS),
    ...(ofSettings((name) => shownAs(SETTINGS[name])) as Shown),
    organization_id: z.string().nullable().describe('The organization of which users become members; null: none.'),
    usable: z
      .boolean()
      .describe('Users can sign in there: the provider is enabled, and no application of yours signs users in.'),
    created_at: ISO,
    disabled_at: ISO_OR_NULL,
  })
  .meta({ id: 'Provider' })

export type ProviderDocument = z.output<typeof PROVIDER_DOCUMENT>

const TEST_DOCUMENT = z
  .object({
    provider_id: z.string(),
    redirect_uri: z.string(),
    ok: z.boolean(),
    findings: z.array(z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })),
  })
  .meta({ id: 'ProviderTest' })

export type ProviderTestDocument = z.output<typeof TEST_DOCUMENT>

const { change } = changeTasks({
  noun: 'provider',
  path: `${PATH}/{provider_id}`,
  extent: 'server',
  input: ONE,
  output: PROVIDER_DOCUMENT,
  find: (context, { provider_id: id }) => requireProvider(context, id),
  missing: ({ provider_id: id }) => noSuchProvider(id),
  describe: describeProvider,
  endOf: ({ disabledAt }) => ({ disabledAt, notBefore: undefined }),
})

export const PROVIDER_TASKS: readonly Task[] = [
  defineTask({
    name: 'provider.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the providers at which users sign in.',
    input: z.object({}),
    output: z.object({ providers: z.array(PROVIDER_DOCUMENT) }),
    run: async (context) => ({
      providers: (await context.store.listProviders()).map((provider) => describeProvider(provider, context)),
    }),
  }),
  defineTask({
    name: 'provider.show',
    method: 'GET',
    path: `${PATH}/{provider_id}`,
    access: 'read',
    summary: 'Show everything about a provider except the secret.',
    input: ONE,
    output: PROVIDER_DOCUMENT,
    run: async (context, { provider_id }) => describeProvider(await requireProvider(context, provider_id), context),
  }),
  defineTask({
    name: 'provider.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create a provider at which users sign in.',
    input: ONE.extend({
      template: z.enum(TEMPLATES).describe('Fills in what is known of a kind of provider.'),
      issuer: SHORT_TEXT.meta({ examples: ['https://idp.example'] })
        .optional()
        .describe('The issuer, byte for byte as its metadata has it. Google and GitHub have a known one.'),
      client_secret: SECRET,
      ...OPTIONAL_INPUTS,
      name: INPUTS.name,
      client_id: INPUTS.client_id,
    }),
    output: PROVIDER_DOCUMENT,
    async run(context, { provider_id: id, template, issuer, client_secret: clientSecret, name, client_id, ...rest }) {
      const settings = { ...settingsOf(rest), ...definedMembers({ issuer }) }
      const input = { id, template, name, clientId: client_id, clientSecret, settings }
      return describeProvider(await createProvider(context, input), context)
    },
  }),
  defineTask({
    name: 'provider.update',
    method: 'PATCH',
    path: `${PATH}/{provider_id}`,
    access: 'write',
    summary: 'Change settings or the secret of a provider. Settings that are left out stay.',
    input: ONE.extend({
      client_secret: SECRET.optional(),
      ...OPTIONAL_INPUTS,
      organization_id: ORGANIZATION_ID.nullable().optional().describe('null: none any more. Memberships stay.'),
    }),
    output: PROVIDER_DOCUMENT,
    async run(context, { provider_id, client_secret: clientSecret, ...rest }) {
      const change = { settings: settingsOf(rest), clientSecret }
      return describeProvider(await updateProvider(context, provider_id, change), context)
    },
  }),
  defineTask({
    name: 'provider.test',
    method: 'POST',
    path: `${PATH}/{provider_id}/test`,
    access: 'read',
    summary:
      'Check the metadata, the keys, the secret and, where the provider lets it be known, the redirect URI of a provider.',
    input: ONE,
    output: TEST_DOCUMENT,
    async run(context, { provider_id }) {
      const redirectUri = providerRedirectUri(context.issuer, provider_id)
      const findings = await context.upstream.probe(await requireProvider(context, provider_id), redirectUri)
      return {
        provider_id,
        redirect_uri: redirectUri,
        ok: findings.every(({ isOk }) => isOk),
        findings: findings.map(({ check, isOk, detail }) => ({ check, ok: isOk, detail })),
      }
    },
  }),
  change(
    'disable',
    'Disable a provider: users cannot sign in there any more. Sessions and tokens stay valid.',
    ({ store, clock }, { provider_id: id }) => store.disableProvider({ id, now: clock() }),
  ),
  change('enable', 'Enable a disabled provider.', ({ store }, { provider_id: id }) => store.enableProvider(id)),
  defineTask({
    name: 'provider.delete',
    method: 'DELETE',
    path: `${PATH}/{provider_id}`,
    access: 'write',
    summary: 'Delete a provider with the links of users to it. Their accounts, sessions and tokens stay.',
    input: ONE,
    output: z.object({ provider_id: z.string(), deleted: z.literal(true) }),
    async run(context, { provider_id }) {
      const { store, clock } = context
      if ((await store.deleteProvider({ id: provider_id, now: clock() })) === 'unknown')
        throw noSuchProvider(provider_id)
      return { provider_id, deleted: true as const }
    },
  }),
]

/** Makes a member on the wire of each setting. */
function ofSettings(valueOf: (name: keyof Rows) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.keys(SETTINGS).map((name) => [wireName(name), valueOf(name as keyof Rows)]))
}

function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The schema of a setting in an answer, which checks nothing. */
function shownAs(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodEnum) return schema
  return (schema instanceof z.ZodArray ? z.array(z.string()) : z.string()).describe(schema.description ?? '')
}

/** The settings among the members of an input. `null` removes a setting. */
function settingsOf(input: Readonly<Record<string, unknown>>): Partial<ProviderSettings> {
  const given = Object.keys(SETTINGS).filter((name) => input[wireName(name)] !== undefined)
  return Object.fromEntries(given.map((name) => [name, input[wireName(name)] ?? undefined]))
}

/** A provider as administrators see it. */
function describeProvider(
  provider: ProviderRecord,
  { issuer, settings: policy }: Pick<TaskContext, 'issuer' | 'settings'>,
): ProviderDocument {
  const { id, settings, encryptedSecret, createdAt, disabledAt } = provider
  return {
    provider_id: id,
    kind: settings.kind,
    issuer: settings.issuer,
    redirect_uri: providerRedirectUri(issuer, id),
    has_secret: encryptedSecret !== undefined,
    subject_claim: settings.subjectClaim,
    ...(ofSettings((name) => settings[name] ?? null) as z.output<z.ZodObject<Shown>>),
    organization_id: settings.organizationId ?? null,
    usable: isUsable(policy, provider),
    created_at: iso(createdAt),
    disabled_at: isoOrNull(disabledAt),
  }
}

type Checking = StoreNeeds<'findOrganization'> & Pick<Context, 'settings'>

/** What an operator says about a new provider. Members that are left out are those of the template. */
export interface ProviderInput {
  readonly id: ProviderId
  readonly template: ProviderTemplateName
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  readonly settings: Partial<ProviderSettings>
}

/** Creates a provider. @throws AdminError when the settings contradict each other, the id or a domain is taken, or there are too many */
export async function createProvider(
  context: Checking & StoreNeeds<'createProvider'> & Pick<Context, 'clock' | 'upstream'>,
  { id, template, name, clientId, clientSecret, settings }: ProviderInput,
): Promise<ProviderRecord> {
  const { issuer, ...usual } = PROVIDER_TEMPLATES[template]
  const chosen = settings.issuer ?? issuer
  if (chosen === undefined) throw conflict('Give the issuer of the provider.')
  const provider: ProviderRecord = {
    id,
    settings: { ...usual, ...settings, issuer: chosen, name, clientId },
    encryptedSecret: context.upstream.encryptSecret(id, clientSecret),
    createdAt: context.clock(),
    disabledAt: undefined,
  }
  await check(context, provider.settings)
  switch (await context.store.createProvider(provider)) {
    case 'created':
      return provider
    case 'taken':
      throw conflict(`There is a provider ${id} already. See "grantor provider list".`)
    case 'domain-taken':
      throw domainTaken()
    case 'too-many':
      throw conflict(`A server has at most ${PROVIDER_LIMIT} providers.`)
  }
}

/**
 * Replaces settings, and the secret if one is given. A declaration that every person belongs to the organization is about one
 * organization, so it ends when the provider gets another one.
 *
 * @throws AdminError as `createProvider` does, or when there is no such provider
 */
export async function updateProvider(
  context: Checking & StoreNeeds<'findProvider' | 'updateProvider'> & Pick<Context, 'upstream'>,
  id: ProviderId,
  change: { readonly settings: Partial<ProviderSettings>; readonly clientSecret: string | undefined },
): Promise<ProviderRecord> {
  const { settings: previous } = await requireProvider(context, id)
  const { organizationId } = { ...previous, ...change.settings }
  const declared = organizationId === previous.organizationId ? previous.membership : PROVIDER_TEMPLATES.oidc.membership
  const settings = { ...previous, membership: declared, ...change.settings }
  await check(context, settings)
  const { clientSecret } = change
  const encryptedSecret = clientSecret === undefined ? undefined : context.upstream.encryptSecret(id, clientSecret)
  const outcome = await context.store.updateProvider({ id, previous, settings, encryptedSecret })
  if (outcome === 'domain-taken') throw domainTaken()
  if (outcome === 'conflict') throw conflict(`The provider ${id} was changed at the same time. Try again.`)
  return requireProvider(context, id)
}

/** @throws AdminError when there is no such provider */
async function requireProvider({ store }: StoreNeeds<'findProvider'>, id: ProviderId): Promise<ProviderRecord> {
  const provider = await store.findProvider(id)
  if (provider === undefined) throw noSuchProvider(id)
  return provider
}

async function check(context: Checking, settings: ProviderSettings): Promise<void> {
  const fault = findProviderFault(settings, context.settings)
  if (fault !== undefined) throw conflict(fault)
  if (settings.organizationId !== undefined) await requireOrganization(context, settings.organizationId)
}

function domainTaken(): AdminError {
  return conflict('A domain belongs to another provider. See "grantor provider list".')
}

function noSuchProvider(id: string): AdminError {
  return unknown(`There is no provider ${id}. See "grantor provider list".`)
}
