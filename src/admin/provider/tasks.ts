import { orNull } from '../../protocol/null-meaning.ts'
import * as z from 'zod'
import { definedMembers } from '../../base/json.ts'
import type { Settings } from '../../ports/context.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { ProviderFinding } from '../../ports/provider-sign-in.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import {
  parseProviderId,
  PROVIDER_ID_FORM,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  type ProviderTemplateName,
} from '../../protocol/sign-in/provider.ts'
import { isUsable } from '../../users/provider-routing.ts'
import { conflict } from '../admin-error.ts'
import { requireLasting } from '../administrators.ts'
import { changeTasks } from '../change-tasks.ts'
import { LIMIT, NAME, NEXT, ORGANIZATION_ID, pageStart } from '../fields.ts'
import { hasText, pageOf } from '../page.ts'
import { defineTask, type Task, type TaskContext } from '../task.ts'
import { checkAssertions } from '../../checks/assertions.ts'
import { createProvider, noSuchProvider, requireProvider, updateProvider } from './provider.ts'
import {
  describeProvider,
  GRAPH_HOST,
  GRAPH_HOST_TEXT,
  GROUP_CLAIM,
  GROUP_CLAIM_TEXT,
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
  .regex(PROVIDER_ID_FORM, {
    error: 'The id of a provider has up to 31 lower-case letters, digits and hyphens, and begins with a letter.',
    abort: true,
  })
  .refine((text) => parseProviderId(text) !== undefined, { error: 'This id is reserved.' })
  .meta({ examples: ['acme-entra'] })
  .transform((text) => text as ProviderId)
  .describe('The id of the provider. It is part of the redirect URI, and never changes.')
const ONE = z.object({ provider_id: PROVIDER_ID })
const { change } = changeTasks({
  noun: 'provider',
  path: `${PATH}/{provider_id}`,
  extent: 'server',
  access: 'write',
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
    summary: 'List the providers at which users sign in, by their ids.',
    input: z.object({
      limit: LIMIT,
      before: pageStart(PROVIDER_ID),
      name: NAME.optional().describe(
        'Only providers with this text in the name, the id, the issuer or a domain, in any case.',
      ),
      organization_id: ORGANIZATION_ID.optional().describe('Only providers of this organization.'),
    }),
    output: z.object({ providers: z.array(PROVIDER_DOCUMENT), next: NEXT }),
    async run(context, { name, organization_id, ...page }) {
      const found = (await context.store.listProviders()).filter(
        ({ id, settings: { name: called, issuer, domains, organizationId } }) =>
          (name === undefined || hasText(name, called, id, issuer, ...domains)) &&
          (organization_id === undefined || organizationId === organization_id),
      )
      const { rows, next } = pageOf(
        found.toSorted(({ id: one }, { id: other }) => (one < other ? -1 : 1)),
        ({ id }) => id,
        page,
      )
      return { providers: rows.map((provider) => describeProvider(provider, context)), next }
    },
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
    needsRecentSignIn: true,
    input: ONE.extend({
      template: z.enum(TEMPLATES).describe('Presets the settings of a known provider.'),
      issuer: SHORT_TEXT.meta({ examples: ['https://idp.example'] })
        .optional()
        .describe('The issuer, exactly as in the metadata of the provider. The templates google and github have it.'),
      client_secret: SECRET,
      ...OPTIONAL_INPUTS,
      name: INPUTS.name,
      client_id: INPUTS.client_id,
    }),
    output: PROVIDER_DOCUMENT,
    async run(context, { provider_id: id, template, issuer, client_secret: clientSecret, name, client_id, ...rest }) {
      const settings = { ...settingsOf(rest), ...definedMembers({ issuer }) }
      requireLastingTrust(context)
      const input = { id, template, name, clientId: client_id, clientSecret, settings }
      return describeProvider(await createProvider(context, input), context)
    },
  }),
  defineTask({
    name: 'provider.update',
    method: 'PATCH',
    path: `${PATH}/{provider_id}`,
    access: 'write',
    summary: 'Change settings or the secret of a provider.',
    needsRecentSignIn: true,
    input: ONE.extend({
      client_secret: SECRET.optional(),
      ...OPTIONAL_INPUTS,
      organization_id: orNull(
        ORGANIZATION_ID,
        'The organization of which users become members. Memberships stay.',
        'none',
      ),
      group_claim: orNull(GROUP_CLAIM, GROUP_CLAIM_TEXT, 'none, and no groups'),
      graph_host: orNull(GRAPH_HOST, GRAPH_HOST_TEXT, 'none'),
    }),
    output: PROVIDER_DOCUMENT.extend({
      outcome: z
        .enum(['changed', 'unchanged'])
        .describe('unchanged: the provider had these settings and this secret already.'),
    }).meta({ id: 'UpdatedProvider' }),
    async run(context, { provider_id, client_secret: clientSecret, ...rest }) {
      const changes = { settings: settingsOf(rest), clientSecret }
      requireLastingTrust(context)
      const { provider, outcome } = await updateProvider(context, provider_id, changes)
      return { ...describeProvider(provider, context), outcome }
    },
  }),
  defineTask({
    name: 'provider.test',
    method: 'POST',
    path: `${PATH}/{provider_id}/test`,
    access: 'read',
    mayConflict: true,
    summary:
      'Check the metadata, the keys, the secret, the lists of its assertions and, if the provider can be asked, the redirect URI of a provider.',
    input: ONE,
    output: TEST_DOCUMENT,
    async run(context, { provider_id }) {
      const redirectUri = providerRedirectUri(context.issuer, provider_id)
      const provider = await requireProvider(context, provider_id)
      const findings = [
        ...checkState(context.settings, provider),
        ...(await probeAlone(context, provider, redirectUri)),
        ...(await checkAssertions(context, provider)),
      ]
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
  change(
    'enable',
    'Enable a disabled provider.',
    (context, { provider_id: id }) => {
      requireLastingTrust(context)
      return context.store.enableProvider(id)
    },
    { needsRecentSignIn: true },
  ),
  defineTask({
    name: 'provider.delete',
    method: 'DELETE',
    path: `${PATH}/{provider_id}`,
    access: 'write',
    summary: 'Delete a provider with the connections of users to it. Their accounts, sessions and tokens stay.',
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

/** The administrators of each server of this process who are testing a provider. */
const testing = new WeakMap<TaskContext['secrets'], Set<string>>()

/**
 * A provider that does not answer keeps a test for some ten seconds, and each sends it the secret: an administrator runs one at a time, so
 * that who may only read neither floods a provider nor keeps all others from the console.
 *
 * @throws AdminError when the administrator runs another one
 */
async function probeAlone(
  { administrator: { actor }, secrets, providerSignIn }: TaskContext,
  provider: ProviderRecord,
  redirectUri: string,
): Promise<readonly ProviderFinding[]> {
  const actors = testing.get(secrets) ?? new Set()
  testing.set(secrets, actors)
  if (actors.has(actor)) throw conflict('You are testing a provider already. Try again when that has ended.')
  actors.add(actor)
  try {
    return await providerSignIn.probe(provider, redirectUri)
  } finally {
    actors.delete(actor)
  }
}

/**
 * The word of a provider opens accounts: those with an address of its domains (L5, L6), and those of each person that it lets sign up. It also says who
 * needs no second factor, and which clients act for its persons (threats.md CON-19, CON-37).
 *
 * @throws AdminError
 */
function requireLastingTrust({ administrator }: TaskContext): void {
  requireLasting(administrator, 'decide about a provider, whose word opens accounts')
}

function checkState(settings: Settings, provider: ProviderRecord): readonly ProviderFinding[] {
  if (isUsable(settings, provider)) return []
  const detail =
    provider.disabledAt === undefined
      ? 'Users sign in at the application of GRANTOR_DELEGATE_URL alone, and assertions of the provider are refused.'
      : 'The provider is disabled: users cannot sign in there, and its assertions are refused.'
  return [{ check: 'state', isOk: false, detail }]
}
