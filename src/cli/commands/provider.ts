import type { Command } from 'commander'
import type { ProviderDocument, ProviderTestDocument } from '../../admin/provider/settings.ts'
import { readClientSecret } from '../lib/ask-password.ts'
import { columns } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'
import type { Terminal } from '../lib/terminal.ts'

/** The options of `create` and of `update`. */
interface SettingOptions {
  readonly name?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly clientSecretFile?: string
  readonly authMethod?: string
  readonly scope?: string
  readonly emailTrust?: string
  /** false removes it. */
  readonly domain?: readonly string[] | false
  readonly routing?: string
  readonly signUp?: string
  readonly link?: string
  readonly organization?: string | false
  readonly membership?: string
  readonly privateHost?: readonly string[] | false
}

interface CreateOptions extends SettingOptions {
  readonly id: string
  readonly issuer?: string
}

/** The verbs of `grantor provider`. */
export const PROVIDER_VERBS: readonly AddVerb[] = [
  taskVerb<ProviderDocument, CreateOptions>({
    task: 'provider.create',
    options: (command) =>
      withSettings(
        command
          .argument('<template>', 'google, entra, okta, keycloak, dex, github, or oidc for any other OpenID provider')
          .requiredOption('--id <id>', 'a short name, which is part of the redirect URI and never changes')
          .requiredOption('--name <name>', 'the name of the provider on the sign-in page')
          .option('--issuer <url>', 'the issuer of the provider; Google and GitHub have a known one')
          .requiredOption('--client-id <id>', 'the client_id of this server at the provider'),
      ),
    async input({ id, issuer, ...options }, terminal, [template]) {
      const settings = await settingsOf(options, terminal)
      if (settings['client_secret'] === undefined) {
        throw new UsageError(
          'Give the secret with "--client-secret -" on standard input, or with --client-secret-file.',
        )
      }
      return { provider_id: id, template, issuer, ...settings }
    },
    say: ({ provider_id, name, redirect_uri, usable }) => [
      `Created ${name} (${provider_id}). Register this redirect URI at the provider:`,
      `  ${redirect_uri}`,
      `Then check it: grantor provider test ${provider_id}`,
      ...(usable ? [] : [DELEGATED]),
    ],
  }),
  taskVerb<{ readonly providers: readonly ProviderDocument[] }>({
    task: 'provider.list',
    say: ({ providers }, { paint }) =>
      providers.length === 0
        ? 'There are no providers. Create one: grantor provider create <template> --id <id> --name <name> …'
        : columns(HEADINGS, providers.map(cellsOf), paint),
  }),
  taskVerb({ task: 'provider.show' }),
  taskVerb<ProviderDocument, SettingOptions>({
    task: 'provider.update',
    options: (command) =>
      withSettings(
        command
          .option('--name <name>', 'the name of the provider on the sign-in page')
          .option('--client-id <id>', 'the client_id of this server at the provider'),
      )
        .option('--no-domain', 'remove all domains of the provider')
        .option('--no-organization', 'remove the organization: signing in at the provider makes no user a member')
        .option('--no-private-host', 'only the host of the issuer may have a private address'),
    input: (options, terminal) => settingsOf(options, terminal),
    say: ({ provider_id, name }) => `${name} (${provider_id}) is changed. Running servers apply this within a second.`,
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
    say: ({ provider_id, name }) =>
      `${name} is disabled. Running servers apply this within a second. To undo this: grantor provider enable ${provider_id}`,
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

function withSettings(command: Command): Command {
  return command
    .option('--client-secret <->', '- reads the client_secret from standard input')
    .option('--client-secret-file <file>', 'a file with the client_secret')
    .option('--auth-method <method>', 'client_secret_basic or client_secret_post')
    .option('--scope <scope>', 'the scope that users are sent with')
    .option('--email-trust <rule>', 'when an address of the provider counts as proved: none, claim or domains')
    .option('--domain <domain...>', 'domains of addresses that belong to this provider')
    .option('--routing <rule>', 'offered, or required: accounts with these domains sign in here only')
    .option('--sign-up <rule>', 'which persons get an account at the first sign-in: off, domains or anybody')
    .option('--link <rule>', 'ask, or verified-email: an address of the domains links an account by itself')
    .option('--organization <id>', 'users with an address of the domains become members of this organization')
    .option('--membership <rule>', 'domains, or anybody: every person of the provider belongs to the organization')
    .option('--private-host <host...>', 'hosts of the provider, besides its issuer, that may have private addresses')
}

async function settingsOf(options: SettingOptions, terminal: Terminal): Promise<Readonly<Record<string, unknown>>> {
  const { clientSecret: typed, clientSecretFile: file, domain, organization, privateHost } = options
  return {
    name: options.name,
    client_id: options.clientId,
    client_secret: await readClientSecret(terminal, { given: typed, file }),
    auth_method: options.authMethod,
    scope: options.scope,
    email_trust: options.emailTrust,
    domains: domain === false ? [] : domain,
    routing: options.routing,
    sign_up: options.signUp,
    link: options.link,
    organization_id: organization === false ? null : organization,
    membership: options.membership,
    private_hosts: privateHost === false ? [] : privateHost,
  }
}

/** Of a provider that is enabled and not usable. */
const DELEGATED = 'No user can sign in at a provider while your application signs users in (GRANTOR_DELEGATE_URL).'

const HEADINGS = ['ID', 'NAME', 'KIND', 'ISSUER', 'DOMAINS', 'SIGN-UP', 'STATE']

function cellsOf(provider: ProviderDocument): readonly string[] {
  const { provider_id, name, kind, issuer, domains, sign_up } = provider
  return [provider_id, name, kind, issuer, domains.length === 0 ? '–' : domains.join(' '), sign_up, stateOf(provider)]
}

function stateOf({ usable, has_secret, disabled_at }: ProviderDocument): string {
  if (disabled_at !== null) return 'disabled'
  if (!usable) return 'not used'
  return has_secret ? 'active' : 'secret missing'
}
