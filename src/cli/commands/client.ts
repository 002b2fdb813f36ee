import { readFileSync } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import type { ClientDocument, PurgedClientDocument, RuledClientDocument } from '../../admin/client/document.ts'
import { listedNameOf } from '../../protocol/client/identity.ts'
import type { CopiesRule } from '../../protocol/client/policy.ts'
import type { CreatedClientDocument } from '../../admin/client/tasks.ts'
import type { InstallationDocument } from '../../admin/organization/installation.ts'
import { requiredSecretOf, withSecret, type SecretOptions } from '../lib/ask-password.ts'
import { columns, formatTime, record, replaced } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import type { OptionRows } from '../lib/member-options.ts'
import { nextPage } from '../lib/options.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'
import { LANGUAGES } from '../../base/language.ts'
import { forShell } from '../../base/shell.ts'
import { INSTALLATION_HEADINGS, installationCells } from './org.ts'

interface GivenSecret {
  readonly client_id: string
  readonly outcome: 'set' | 'unchanged'
  readonly previous_secret_until: string | null
}

const CLIENT_HEADINGS: readonly string[] = [
  'ID',
  'NAME',
  'SOURCE',
  'REGISTERED (UTC)',
  'FIRST USED (UTC)',
  'LAST USED (UTC)',
  'STATE',
]

interface Purged {
  readonly dry_run: boolean
  readonly clients: readonly PurgedClientDocument[]
  readonly examined: number
  readonly next: string | null
  /** Of several calls together: how many clients they found. */
  readonly found?: number
  readonly isStopped?: true
}

/** Clients that the command lists; of more it has the number. */
const LISTED = 1000

/** The filters of clients, each with the flag for its opposite. */
const SEARCH: OptionRows = {
  used: { opposite: 'unused' },
  verified: { opposite: 'unverified' },
  disabled: { opposite: 'enabled' },
}

/** The long names of RFC 7591 and the parts of the rules. */
const METADATA: OptionRows = {
  client_name: 'name',
  ...Object.fromEntries(
    LANGUAGES.map((language) => [`client_name#${language}`, { name: `name-${language}`, placeholder: 'name' }]),
  ),
  id_token_signed_response_alg: 'id-token-alg',
  dpop_bound_access_tokens: 'dpop-bound',
  require_pushed_authorization_requests: 'require-par',
  token_endpoint_auth_method: 'auth-method',
  token_endpoint_auth_signing_alg: 'signing-alg',
  jwks: false,
  'rules.group_words': { name: 'group', placeholder: 'group=word' },
}

const PKCE_SENTENCES = {
  required: 'It always sends PKCE.',
  nonce: 'It may omit PKCE in a request with openid, a nonce and an https redirect URI.',
  optional: 'It may omit PKCE.',
} as const satisfies Readonly<Record<ClientDocument['rules']['pkce'], string>>

const COPIES_SENTENCES = {
  network: 'An earlier refresh token of it gets the newest one in the network that has it.',
  strict: 'An earlier refresh token of it ends the grant.',
} as const satisfies Readonly<Record<CopiesRule, string>>

/** Why the earlier refresh tokens of a client get what they do, where no rule of the client says it. */
const WHY_COPIES = {
  strict: 'strict, because it authenticates',
  network: 'network',
  server: 'as GRANTOR_REFRESH_COPIES of the server says',
} as const satisfies Readonly<Record<ClientDocument['refresh_copies'], string>>

const FAPI_SENTENCE =
  'It must meet the FAPI 2.0 Security Profile: pushed requests with PKCE, DPoP, and the issuer as the audience of its assertions.'

/** RFC 6749 §2.3.1 and RFC 7617 §2: the first colon of Basic ends the id. */
const COLON_SENTENCE =
  'A client that sends this id by HTTP Basic must encode its colons as %3A (RFC 6749 §2.3.1), or send the id and the secret in the form.'

/** The verbs of `grantor client`. */
export const CLIENT_VERBS: readonly AddVerb[] = verbsOf(
  ['client'],
  [
    taskVerb<CreatedClientDocument, { readonly jwks?: unknown }>({
      task: 'client.create',
      members: METADATA,
      options: withKeyFile,
      input: ({ jwks }) => ({ jwks }),
      adds: ({ client_id, token_endpoint_auth_method: method }) =>
        client_id.includes(':') && method === 'client_secret_basic' ? [COLON_SENTENCE] : [],
    }),
    taskVerb<ClientDocument>({
      task: 'client.update',
      members: METADATA,
    }),
    taskVerb<RuledClientDocument>({
      task: 'client.set-rules',
      members: { consent: { isRequired: true }, group_words: { name: 'group', placeholder: 'group=word' } },
      adds: ({ client_id, rules, previous_rules }, { paint }) => [
        rules.consent === 'implied'
          ? `The users of ${client_id} are not asked for consent to its registered scope.`
          : `The users of ${client_id} are asked for consent.`,
        ...(rules.profile === 'fapi2' ? [FAPI_SENTENCE] : [PKCE_SENTENCES[rules.pkce]]),
        ...(rules.copies === undefined ? [] : [COPIES_SENTENCES[rules.copies]]),
        ...replaced(previous_rules, rules, paint),
      ],
    }),
    taskVerb<ClientDocument, { readonly jwks?: unknown }>({
      task: 'client.set-keys',
      members: METADATA,
      options: withKeyFile,
      input: ({ jwks }) => ({ jwks }),
    }),
    taskVerb<ClientDocument>({
      task: 'client.adopt',
      adds: ({ client_id, ...names }) => [
        `To change it: grantor client update ${forShell(client_id)}`,
        ...calledOnPages(names),
      ],
    }),
    taskVerb<Purged, { readonly dryRun?: true; readonly yes?: true }>({
      task: 'client.purge',
      members: { ...SEARCH, limit: { placeholder: 'rows' }, before: { placeholder: 'id' } },
      options: (command) => command.option('--yes', 'confirm the command'),
      input({ dryRun, yes }) {
        if (dryRun !== yes) return {}
        throw new UsageError('This deletes clients. To see which, add --dry-run. To confirm, add --yes.')
      },
      parts: {
        add: (sum, part) => ({
          ...part,
          clients: [...sum.clients, ...part.clients].slice(0, LISTED),
          found: foundIn(sum) + foundIn(part),
          examined: sum.examined + part.examined,
        }),
        next(sum, { limit }) {
          if (sum.next === null || typeof limit !== 'number')
            return sum.next === null ? undefined : { before: sum.next }
          const left = limit - foundIn(sum)
          return left <= 0 ? undefined : { before: sum.next, limit: left }
        },
        progress: (sum) =>
          `Examined ${sum.examined.toLocaleString('en')} clients, of which ${foundIn(sum).toLocaleString('en')} ${sum.dry_run ? 'match' : 'were deleted'}.`,
        stopped: (sum) => ({ ...sum, isStopped: true }),
      },
      say(purged, { paint }) {
        const { dry_run, clients, next, isStopped } = purged
        const found = foundIn(purged)
        const count = found === 1 ? '1 client' : `${found.toLocaleString('en')} clients`
        const end = isStopped ? '. The command stopped before the end.' : '.'
        const more = found - clients.length
        return [
          dry_run ? `${count} would be deleted${end}` : `Deleted ${count}${end}`,
          ...(clients.length === 0
            ? []
            : ['', ...columns([...CLIENT_HEADINGS, 'IN USE'], clients.map(purgedCells), paint)]),
          ...(more > 0 ? [`and ${more.toLocaleString('en')} more`] : []),
          ...nextPage(next),
        ]
      },
    }),
    listVerb<ClientDocument>({
      task: 'client.list',
      members: SEARCH,
      rows: 'clients',
      headings: CLIENT_HEADINGS,
      cells: (client) => [clientCells(client)],
      empty: 'There are no clients, or none that match.',
    }),
    taskVerb<ClientDocument>({
      task: 'client.show',
      saysSettings: true,
      say: ({ client_id, client_id_issued_at: seconds, jwks, rules, ...client }, { paint }, server) => {
        const issuedAt = new Date(seconds * 1000).toISOString()
        const keys = jwks === undefined ? {} : { jwks: jwks.keys.map(({ kid, kty }) => kid ?? kty) }
        const { copies: rule, ...others } = rules
        const why = WHY_COPIES[client.refresh_copies]
        const usual =
          client.refresh_copies === 'server' && server !== undefined ? `${server.refresh_copies}, ${why}` : why
        const copies = rule === undefined ? usual : `${rule}, by its rule`
        return record(
          { client_id, client_id_issued_at: issuedAt, ...client, ...others, refresh_copies: copies, ...keys },
          paint,
        )
      },
    }),
    listVerb<InstallationDocument>({
      task: 'client.list-installations',
      rows: 'installations',
      headings: ['ORGANIZATION', 'NAME', ...INSTALLATION_HEADINGS],
      cells: (one, names) => [[one.organization_id, names[one.organization_id] ?? '–', ...installationCells(one)]],
      empty: 'The client is installed for no organization. To install it: grantor org install <organization> <client>',
    }),
    taskVerb<ClientDocument>({
      task: 'client.verify',
      adds: calledOnPages,
    }),
    taskVerb<GivenSecret, SecretOptions>({
      task: 'client.set-secret',
      members: { client_secret: false },
      options: withSecret,
      input: requiredSecretOf,
      adds: ({ outcome, previous_secret_until: until }) => [
        outcome === 'unchanged'
          ? 'It had the secret already.'
          : `The previous one is valid until ${formatTime(until)} UTC.`,
      ],
    }),
  ],
)

function withKeyFile(command: Command): Command {
  return command.option('--jwks <file>', 'a file with the public keys of the client as a JWK Set', readJwks)
}

function readJwks(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    // The cause may quote the file, which may have a private key.
    throw new InvalidArgumentError(`${path} is not a file with JSON that can be read.`)
  }
}

/** What is now trusted: a client chose its names. */
function calledOnPages(client: Parameters<typeof listedNameOf>[0]): readonly string[] {
  const called = listedNameOf(client)
  return called === undefined ? [] : [`Pages call it ${called}.`]
}

/** The cells of a client under CLIENT_HEADINGS. */
function clientCells(client: ClientDocument): readonly string[] {
  const { client_id, source, client_id_issued_at, used_at, last_used_at, disabled_at, trust_level } = client
  const registered = new Date(client_id_issued_at * 1000).toISOString()
  const times = [registered, used_at, last_used_at].map(formatTime)
  return [client_id, listedNameOf(client) ?? '–', source, ...times, disabled_at === null ? trust_level : 'disabled']
}

const SPARED_TEXTS = {
  waiting: 'its user is on the way',
  new: 'registered just now',
  active: 'may have live grants',
} as const satisfies Readonly<Record<NonNullable<PurgedClientDocument['spared_as']>, string>>

/** The cells of a client of a purge, which names those that the server by itself would keep. */
function purgedCells({ spared_as: spared, ...client }: PurgedClientDocument): readonly string[] {
  return [...clientCells(client), spared === null ? '' : SPARED_TEXTS[spared]]
}

function foundIn({ clients, found = clients.length }: Purged): number {
  return found
}
