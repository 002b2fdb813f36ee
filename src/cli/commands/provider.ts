import { describeListing, type ProviderDocument, type ProviderTestDocument } from '../../admin/provider/settings.ts'
import { remedyOfDisabled } from '../../checks/providers.ts'
import { requiredSecretOf, secretOf, withSecret, type SecretOptions } from '../lib/ask-password.ts'
import type { OptionRows } from '../lib/member-options.ts'
import { argumentOf, ORGANIZATION, type Subject } from '../lib/subjects.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'
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
export const PROVIDER_VERBS: readonly AddVerb[] = verbsOf(
  ['provider'],
  [
    taskVerb<ProviderDocument, SecretOptions>({
      task: 'provider.create',
      subjects: [argumentOf('provider.create', 'template')],
      filters: [MEMBERS_OF],
      members: PROVIDER_OPTIONS,
      options: withSecret,
      input: requiredSecretOf,
      adds: ({ provider_id, redirect_uri, usable, ...provider }) => [
        'Register this redirect URI at the provider:',
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
    taskVerb<ProviderDocument, SecretOptions>({
      task: 'provider.update',
      filters: [MEMBERS_OF_OR_NONE],
      members: PROVIDER_OPTIONS,
      options: withSecret,
      input: secretOf,
      adds: ({ provider_id, ...provider }) => [
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
      adds: ({ provider_id, ...provider }) => [
        describeListing(provider),
        remedyOfDisabled(provider_id, provider.routing),
      ],
    }),
    taskVerb<ProviderDocument>({
      task: 'provider.enable',
      adds: ({ usable }) => [usable ? 'Users can sign in there again.' : DELEGATED],
    }),
  ],
)

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
