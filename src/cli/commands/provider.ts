import { describeListing, type ProviderDocument, type ProviderTestDocument } from '../../admin/provider/settings.ts'
import { remedyOfDisabled } from '../../checks/providers.ts'
import { requiredSecretOf, secretOf, withSecret, type SecretOptions } from '../lib/ask-password.ts'
import type { OptionRows } from '../lib/member-options.ts'
import { argumentOf, ORGANIZATION, type Subject } from '../lib/subjects.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'
import { forShell } from '../../base/shell.ts'

/** The options of the settings, where they differ from the schema. */
export const PROVIDER_OPTIONS: OptionRows = {
  provider_id: 'id',
  client_secret: false,
  organization_id: 'organization',
  sign_up: { placeholder: 'rule' },
}

/** The option of the organization of which users become members. */
const MEMBERS_OF: Subject = {
  ...ORGANIZATION,
  meaning: 'the organization of which users become members, by id or name',
}
const MEMBERS_OF_OR_NONE: Subject = {
  ...MEMBERS_OF,
  meaning: `${MEMBERS_OF.meaning}; '' for none. Memberships stay`,
  find: (text, perform, known) => (text === '' ? { organization_id: null } : MEMBERS_OF.find(text, perform, known)),
}

/** The verbs of `grantor provider`. */
export const PROVIDER_VERBS: readonly AddVerb[] = [
  taskVerb<ProviderDocument, SecretOptions>({
    task: 'provider.create',
    subjects: [argumentOf('provider.create', 'template')],
    filters: [MEMBERS_OF],
    members: PROVIDER_OPTIONS,
    options: withSecret,
    input: requiredSecretOf,
    say: ({ provider_id, name, redirect_uri, usable, ...provider }) => [
      `Created ${name} (${provider_id}). Register this redirect URI at the provider:`,
      `  ${redirect_uri}`,
      `Then check it: grantor provider test ${forShell(provider_id)}`,
      ...(usable ? [describeListing(provider)] : [DELEGATED]),
    ],
  }),
  listVerb<ProviderDocument>({
    task: 'provider.list',
    rows: 'providers',
    headings: ['ID', 'NAME', 'KIND', 'ISSUER', 'DOMAINS', 'LISTED', 'SIGN-UP', 'STATE'],
    cells: (provider) => [cellsOf(provider)],
    empty: 'No provider was found. Create one: grantor provider create <template> --id <id> --name <name> …',
  }),
  taskVerb({ task: 'provider.show' }),
  taskVerb<ProviderDocument, SecretOptions>({
    task: 'provider.update',
    filters: [MEMBERS_OF_OR_NONE],
    members: PROVIDER_OPTIONS,
    options: withSecret,
    input: secretOf,
    say: ({ provider_id, name, ...provider }) => [
      `${name} (${provider_id}) is changed. Running servers apply this within a second.`,
      describeListing(provider),
      ...(provider.disabled_at === null ? [] : [remedyOfDisabled(provider_id, provider.routing)]),
    ],
  }),
  taskVerb<ProviderTestDocument>({
    task: 'provider.test',
    say: ({ redirect_uri, findings }) => [
      ...findings.map(({ check, ok, detail }) => `${ok ? 'ok     ' : 'failed '}  ${check.padEnd(10)}  ${detail}`),
      `The redirect URI to register at the provider: ${redirect_uri}`,
    ],
    exitCode: ({ ok }) => (ok ? 0 : 1),
  }),
  taskVerb<ProviderDocument>({
    task: 'provider.disable',
    say: ({ provider_id, name, ...provider }) => [
      `${name} is disabled. Running servers apply this within a second.`,
      describeListing(provider),
      remedyOfDisabled(provider_id, provider.routing),
    ],
  }),
  taskVerb<ProviderDocument>({
    task: 'provider.enable',
    say: ({ name, usable }) => (usable ? `Users can sign in at ${name} again.` : `${name} is enabled. ${DELEGATED}`),
  }),
  taskVerb<{ readonly provider_id: string }>({
    task: 'provider.delete',
    say: ({ provider_id }) =>
      `Deleted ${provider_id}. The accounts of its users, their sessions and their tokens stay.`,
  }),
]

/** Of a provider that is enabled and not usable. */
const DELEGATED = 'No user can sign in at a provider while your application signs users in (GRANTOR_DELEGATE_URL).'

function cellsOf(provider: ProviderDocument): readonly string[] {
  const { provider_id, name, kind, issuer, domains, listed, sign_up } = provider
  const of = domains.length === 0 ? '–' : domains.join(' ')
  return [provider_id, name, kind, issuer, of, listed ? 'yes' : 'no', sign_up, stateOf(provider)]
}

function stateOf({ usable, has_secret, disabled_at }: ProviderDocument): string {
  if (disabled_at !== null) return 'disabled'
  if (!usable) return 'not used'
  return has_secret ? 'active' : 'secret missing'
}
