import { readFileSync } from 'node:fs'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { ClientDocument } from '../../admin/client/document.ts'
import type { CreatedClientDocument } from '../../admin/client/tasks.ts'
import { ASSERTION_ALGORITHMS } from '../../protocol/client/keys.ts'
import { CLIENT_AUTH_METHODS } from '../../protocol/client/metadata.ts'
import { OFFERED_GRANT_TYPES } from '../../protocol/token/grant-types.ts'
import { ID_TOKEN_ALGORITHMS } from '../../protocol/openid/id-token.ts'
import { columns, facts } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { collect, nextPage, parseSeconds, withPage, type PageOptions } from '../lib/options.ts'
import type { Members } from '../lib/perform-task.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'
import { CLIENT_HEADINGS, clientCells, searchOf, withSearch, type SearchOptions } from './client.ts'

/** The options of `client create` and `client update`. */
interface MetadataOptions {
  readonly name?: string
  readonly redirectUri?: readonly string[]
  readonly grantType?: readonly string[]
  readonly scope?: string
  readonly idTokenAlg?: string
  readonly defaultMaxAge?: number
  readonly postLogoutRedirectUri?: readonly string[]
  readonly backchannelLogoutUri?: string
}

interface CreateOptions extends MetadataOptions {
  readonly authMethod?: string
  readonly approveScope?: string
  readonly firstParty?: true
  readonly pkce?: string
  readonly claims?: string
}

/** The options that give a client public keys. */
interface KeyOptions {
  readonly jwks?: unknown
  readonly jwksUri?: string
  readonly signingAlg?: string
}

interface Purged {
  readonly dry_run: boolean
  readonly clients: readonly ClientDocument[]
  readonly next: string | null
}

/** The verbs of `grantor client` for clients that administrators create, and for what else is theirs to do. */
export const OPERATOR_CLIENT_VERBS: readonly AddVerb[] = [
  taskVerb<CreatedClientDocument, CreateOptions & KeyOptions>({
    task: 'client.create',
    options: (command) =>
      addKeyOptions(
        addMetadataOptions(command.requiredOption('--name <name>', 'the name of the client, as the pages show it')),
      )
        .addOption(
          new Option(
            '--auth-method <method>',
            'how the client authenticates; by default client_secret_basic, or with keys private_key_jwt; none: a public client',
          ).choices(CLIENT_AUTH_METHODS),
        )
        .option('--approve-scope <scopes>', 'the scopes that the client is approved for, separated by spaces')
        .option('--first-party', 'do not ask users for consent to the scope of --scope')
        .addOption(pkceOption())
        .addOption(claimsOption()),
    input: ({ authMethod, approveScope, firstParty, pkce, claims, ...options }) => ({
      ...metadataOf(options),
      ...keysOf(options),
      token_endpoint_auth_method: authMethod,
      approved_scope: approveScope,
      rules: { consent: firstParty && 'implied', pkce, claims },
    }),
    say: ({ client_id, client_secret, client_name, token_endpoint_auth_method: method }, { paint }) => [
      `Created ${client_name ?? client_id}. It authenticates with ${method}:`,
      ...facts(
        Object.entries({ client_id, client_secret }).filter((pair): pair is [string, string] => pair[1] !== undefined),
        paint,
      ).map((line) => `  ${line}`),
      ...(client_secret === undefined ? [] : ['The secret is not shown again.']),
    ],
  }),
  taskVerb<ClientDocument, MetadataOptions>({
    task: 'client.update',
    options: (command) => addMetadataOptions(command.option('--name <name>', 'the name of the client')),
    input(options) {
      const changes = metadataOf(options)
      if (Object.values(changes).some((value) => value !== undefined)) return changes
      throw new UsageError('Give at least one change. See --help.')
    },
    say: ({ client_id }) => `Changed ${client_id}. Running servers apply the change within a second.`,
  }),
  taskVerb<ClientDocument, { readonly consent: string; readonly pkce?: string; readonly claims?: string }>({
    task: 'client.set-rules',
    options: (command) =>
      command
        .addOption(
          new Option(
            '--consent <rule>',
            'implied: users are not asked for consent to the registered scope; asked: they are',
          )
            .choices(['asked', 'implied'])
            .makeOptionMandatory(),
        )
        .addOption(pkceOption())
        .addOption(claimsOption()),
    input: ({ consent, pkce, claims }) => ({ consent, pkce, claims }),
    say: ({ client_id, rules: { consent, pkce } }) => [
      consent === 'implied'
        ? `The users of ${client_id} are not asked for consent to its registered scope.`
        : `The users of ${client_id} are asked for consent.`,
      PKCE_SENTENCES[pkce],
    ],
  }),
  taskVerb<ClientDocument, KeyOptions>({
    task: 'client.set-keys',
    options: addKeyOptions,
    input: keysOf,
    say: ({ client_id }) =>
      `${client_id} authenticates with private_key_jwt and these keys. Running servers apply the change within a second.`,
  }),
  taskVerb<ClientDocument>({
    task: 'client.adopt',
    say: ({ client_id }) =>
      `${client_id} is a client of the operator now. Its registration access token has ended; change it with: grantor client update ${client_id}`,
  }),
  taskVerb<{ readonly client_id: string; readonly registration_access_token: string }>({
    task: 'client.create-registration-token',
    say: ({ client_id, registration_access_token }) => [
      `The new registration access token of ${client_id}, which is not shown again:`,
      `  ${registration_access_token}`,
      'The previous one no longer works.',
    ],
  }),
  taskVerb<Purged, SearchOptions & PageOptions & { readonly dryRun?: true; readonly yes?: true }>({
    task: 'client.purge',
    options: (command) =>
      withSearch(withPage(command, 1000))
        .option('--dry-run', 'only list the clients that would be deleted')
        .option('--yes', 'confirm the command'),
    input({ limit, before, dryRun, yes, ...options }) {
      if (dryRun === yes) {
        throw new UsageError('This deletes clients. To see which, add --dry-run. To confirm, add --yes.')
      }
      return { ...searchOf(options), limit, before, dry_run: dryRun === true }
    },
    say({ dry_run, clients, next }, { paint }) {
      const count = clients.length === 1 ? '1 client' : `${clients.length} clients`
      const list = clients.length === 0 ? [] : ['', ...columns(CLIENT_HEADINGS, clients.map(clientCells), paint)]
      return [dry_run ? `${count} would be deleted.` : `Deleted ${count}.`, ...list, ...nextPage(next)]
    },
  }),
]

function addMetadataOptions(command: Command): Command {
  return command
    .option('--redirect-uri <uri>', 'an exact redirect URI; repeatable', collect)
    .addOption(
      new Option(
        '--grant-type <type>',
        `one of ${OFFERED_GRANT_TYPES.join(', ')}; repeatable; by default those of an app, or without redirect URIs client_credentials`,
      ).argParser(collect),
    )
    .option('--scope <scopes>', "the registered scope, separated by spaces: 'read write'")
    .addOption(
      new Option('--id-token-alg <name>', 'how its ID tokens are signed; by default RS256').choices(
        ID_TOKEN_ALGORITHMS,
      ),
    )
    .option('--default-max-age <seconds>', 'max_age of its authorization requests that have none', parseSeconds)
    .option(
      '--post-logout-redirect-uri <uri>',
      'an exact URI to which the browser may return after a logout; repeatable',
      collect,
    )
    .option('--backchannel-logout-uri <url>', 'where the server notifies it when a session of a user ends')
}

const PKCE_SENTENCES = {
  required: 'It always sends PKCE.',
  nonce: 'It may omit PKCE in a request with openid, a nonce and an https redirect URI.',
  optional: 'It may omit PKCE.',
} as const satisfies Readonly<Record<ClientDocument['rules']['pkce'], string>>

function pkceOption(): Option {
  return new Option(
    '--pkce <rule>',
    'nonce: the client may omit PKCE in a request with openid, a nonce and an https redirect URI; optional: in every request, because it cannot do otherwise; by default nonce, or for a public client required',
  ).choices(Object.keys(PKCE_SENTENCES))
}

function claimsOption(): Option {
  return new Option(
    '--claims <where>',
    'where it finds the claims of its scope: at the userinfo endpoint alone, or in its ID tokens too; by default id-token',
  ).choices(['userinfo', 'id-token'])
}

function addKeyOptions(command: Command): Command {
  return command
    .option('--jwks <file>', 'a file with the public keys of the client as a JWK Set', readJwks)
    .option('--jwks-uri <url>', 'where the server fetches the public keys instead')
    .addOption(new Option('--signing-alg <name>', 'the one algorithm of its assertions').choices(ASSERTION_ALGORITHMS))
}

function readJwks(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    // The cause may quote the file, which may have a private key.
    throw new InvalidArgumentError(`${path} is not a file with JSON that can be read.`)
  }
}

/** The members of the input of a task. */
function keysOf({ jwks, jwksUri, signingAlg }: KeyOptions): Members {
  return { jwks, jwks_uri: jwksUri, token_endpoint_auth_signing_alg: signingAlg }
}

/** The members of the input of a task. */
function metadataOf(options: MetadataOptions): Members {
  const { name, redirectUri, grantType, scope, idTokenAlg, defaultMaxAge, postLogoutRedirectUri } = options
  const { backchannelLogoutUri } = options
  return {
    client_name: name,
    redirect_uris: redirectUri,
    grant_types: grantType,
    scope,
    id_token_signed_response_alg: idTokenAlg,
    default_max_age: defaultMaxAge,
    post_logout_redirect_uris: postLogoutRedirectUri,
    backchannel_logout_uri: backchannelLogoutUri,
  }
}
