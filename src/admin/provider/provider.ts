import * as z from 'zod'
import { definedMembers } from '../../base/json.ts'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import {
  findProviderFault,
  parseProviderId,
  PROVIDER_ID_FORM,
  PROVIDER_LIMIT,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  type ProviderSettings,
  type ProviderTemplateName,
} from '../../protocol/sign-in/provider.ts'
import { conflict, unknown, type AdminError } from '../admin-error.ts'
import { changeTasks } from '../change-tasks.ts'
import { ORGANIZATION_ID } from '../fields.ts'
import { requireOrganization } from '../organization/organization.ts'
import { defineTask, type Task } from '../task.ts'
import {
  describeProvider,
  INPUTS,
  OPTIONAL_INPUTS,
  PROVIDER_DOCUMENT,
  SECRET,
  settingsOf,
  SHORT_TEXT,
  TEST_DOCUMENT,
} from './settings.ts'

const PATH = '/admin/v1/providers'
const TEMPLATES = Object.keys(PROVIDER_TEMPLATES) as [ProviderTemplateName, ...ProviderTemplateName[]]
const PROVIDER_ID = z
  .string()
  .regex(PROVIDER_ID_FORM, { error: 'The id of a provider has up to 31 lower-case letters, digits and hyphens.' })
  .refine((text) => parseProviderId(text) !== undefined, { error: 'This id is reserved.' })
  .meta({ examples: ['acme-entra'] })
  .transform((text) => text as ProviderId)
  .describe('The id of the provider. It is part of the redirect URI, and never changes.')
const ONE = z.object({ provider_id: PROVIDER_ID })
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
      organization_id: ORGANIZATION_ID.nullable().optional().describe('null removes it. Memberships stay.'),
    }),
    output: PROVIDER_DOCUMENT,
    async run(context, { provider_id, client_secret: clientSecret, ...rest }) {
      const changes = { settings: settingsOf(rest), clientSecret }
      return describeProvider(await updateProvider(context, provider_id, changes), context)
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
        findings: findings.map(({ isOk, ...finding }) => ({ ...finding, ok: isOk })),
      }
    },
  }),
  change(
    'disable',
    'Disable a provider: users can no longer sign in there. Sessions and tokens stay valid.',
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

interface ProviderChange {
  readonly settings: Partial<ProviderSettings>
  /** undefined: the secret does not change. */
  readonly clientSecret: string | undefined
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
  { settings: changes, clientSecret }: ProviderChange,
): Promise<ProviderRecord> {
  const { settings: previous } = await requireProvider(context, id)
  const { organizationId } = { ...previous, ...changes }
  const declared = organizationId === previous.organizationId ? previous.membership : PROVIDER_TEMPLATES.oidc.membership
  const settings = { ...previous, membership: declared, ...changes }
  await check(context, settings)
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
