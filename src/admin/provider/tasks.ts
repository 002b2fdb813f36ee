import * as z from 'zod'
import { definedMembers } from '../../base/json.ts'
import { parseProviderId, PROVIDER_ID_FORM, providerRedirectUri } from '../../protocol/sign-in/provider.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import { NAME, ORGANIZATION_ID } from '../fields.ts'
import {
  CHOICES,
  CLIENT_ID,
  describeProvider,
  PROVIDER_DOCUMENT,
  settingsOf,
  SHORT_TEXT,
  SECRET,
  TEMPLATES,
  TEST_DOCUMENT,
} from './settings.ts'
import {
  createProvider,
  deleteProvider,
  disableProvider,
  enableProvider,
  requireProvider,
  testProvider,
  updateProvider,
} from './provider.ts'
import { defineTask, type Task } from '../task.ts'

const PATH = '/admin/v1/providers'
const PROVIDER_ID = z
  .string()
  .regex(PROVIDER_ID_FORM, { error: 'The id of a provider has up to 31 lower-case letters, digits and hyphens.' })
  .refine((text) => parseProviderId(text) !== undefined, { error: 'This id is reserved.' })
  .meta({ examples: ['acme-entra'] })
  .transform((text) => text as ProviderId)
  .describe('The id of the provider. It is part of the redirect URI, and never changes.')
const ONE = z.object({ provider_id: PROVIDER_ID })

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
      name: NAME.describe('The name of the provider on the sign-in page.'),
      issuer: SHORT_TEXT.meta({ examples: ['https://idp.example'] })
        .optional()
        .describe('The issuer, byte for byte as its metadata has it. Google and GitHub have a known one.'),
      client_id: CLIENT_ID.describe('The client_id of this server at the provider.'),
      client_secret: SECRET.meta({ examples: ['s3cr3t'] }).describe(
        'The client_secret of this server at the provider. It is never shown.',
      ),
      ...CHOICES,
      organization_id: ORGANIZATION_ID.optional().describe('The organization of which users become members.'),
    }),
    output: PROVIDER_DOCUMENT,
    async run(context, { provider_id: id, template, name, client_id: clientId, client_secret: clientSecret, ...rest }) {
      const wish = { id, template, name, clientId, clientSecret, settings: settingsOf(rest) }
      return describeProvider(await createProvider(context, wish), context)
    },
  }),
  defineTask({
    name: 'provider.update',
    method: 'PATCH',
    path: `${PATH}/{provider_id}`,
    access: 'write',
    summary: 'Change settings or the secret of a provider. Settings that are left out stay.',
    input: ONE.extend({
      name: NAME.optional(),
      client_id: CLIENT_ID.optional(),
      client_secret: SECRET.meta({ examples: ['s3cr3t'] }).optional(),
      ...CHOICES,
      organization_id: ORGANIZATION_ID.nullable().optional().describe('null: none any more. Memberships stay.'),
    }),
    output: PROVIDER_DOCUMENT,
    async run(context, { provider_id, name, client_id: clientId, client_secret: clientSecret, ...rest }) {
      const settings = { ...settingsOf(rest), ...definedMembers({ name, clientId }) }
      return describeProvider(await updateProvider(context, provider_id, { settings, clientSecret }), context)
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
      const findings = await testProvider(context, provider_id)
      return {
        provider_id,
        redirect_uri: providerRedirectUri(context.issuer, provider_id),
        ok: findings.every(({ isOk }) => isOk),
        findings: findings.map(({ check, isOk, detail }) => ({ check, ok: isOk, detail })),
      }
    },
  }),
  defineTask({
    name: 'provider.disable',
    method: 'POST',
    path: `${PATH}/{provider_id}/disable`,
    access: 'write',
    anyClock: true,
    summary: 'Disable a provider: users cannot sign in there any more. Sessions and tokens stay valid.',
    input: ONE,
    output: PROVIDER_DOCUMENT,
    run: async (context, { provider_id }) => describeProvider(await disableProvider(context, provider_id), context),
  }),
  defineTask({
    name: 'provider.enable',
    method: 'POST',
    path: `${PATH}/{provider_id}/enable`,
    access: 'write',
    summary: 'Enable a disabled provider.',
    input: ONE,
    output: PROVIDER_DOCUMENT,
    run: async (context, { provider_id }) => describeProvider(await enableProvider(context, provider_id), context),
  }),
  defineTask({
    name: 'provider.delete',
    method: 'DELETE',
    path: `${PATH}/{provider_id}`,
    access: 'write',
    summary: 'Delete a provider with the links of users to it. Their accounts, sessions and tokens stay.',
    input: ONE,
    output: z.object({ provider_id: z.string(), deleted: z.literal(true) }),
    async run(context, { provider_id }) {
      await deleteProvider(context, provider_id)
      return { provider_id, deleted: true as const }
    },
  }),
]
