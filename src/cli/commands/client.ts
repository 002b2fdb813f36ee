import { Option, type Command } from 'commander'
import type { ClientDocument } from '../../admin/client/document.ts'
import { CLIENT_SOURCES, SHOWN_LEVELS } from '../../protocol/client/policy.ts'
import { formatTime, record } from '../lib/columns.ts'
import { eitherOf, parseTime, parseSeconds } from '../lib/options.ts'
import type { Members } from '../lib/perform-task.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The options that select clients. */
export interface SearchOptions {
  readonly source?: string
  readonly trustLevel?: string
  readonly host?: string
  readonly used?: true
  readonly unused?: true
  readonly verified?: true
  readonly unverified?: true
  readonly disabled?: true
  readonly enabled?: true
  readonly unusedSince?: string
}

interface RotatedSecret {
  readonly client_id: string
  readonly client_secret: string
  readonly previous_secret_until: string
}

export const CLIENT_HEADINGS: readonly string[] = [
  'ID',
  'NAME',
  'SOURCE',
  'REGISTERED (UTC)',
  'FIRST USED (UTC)',
  'LAST USED (UTC)',
  'STATE',
]

/** The verbs of `grantor client`. */
export const CLIENT_VERBS: readonly AddVerb[] = [
  listVerb<ClientDocument, SearchOptions>({
    task: 'client.list',
    options: withSearch,
    input: searchOf,
    rows: 'clients',
    headings: CLIENT_HEADINGS,
    cells: (client) => [clientCells(client)],
    empty: 'There are no clients, or none that match.',
  }),
  taskVerb<ClientDocument>({
    task: 'client.show',
    say: ({ client_id, client_id_issued_at: seconds, jwks, rules, ...client }, { paint }) => {
      const issuedAt = new Date(seconds * 1000).toISOString()
      const keys = jwks === undefined ? {} : { jwks: jwks.keys.map(({ kid, kty }) => kid ?? kty) }
      return record({ client_id, client_id_issued_at: issuedAt, ...client, ...rules, ...keys }, paint)
    },
  }),
  taskVerb<ClientDocument>({
    task: 'client.verify',
    say: ({ client_id }) => `${client_id} is verified. To undo this: grantor client unverify ${client_id}`,
  }),
  taskVerb<ClientDocument>({
    task: 'client.unverify',
    say: ({ client_id }) => `${client_id} is no longer verified.`,
  }),
  taskVerb<ClientDocument, { readonly scope: string }>({
    task: 'client.approve-scopes',
    options: (command) =>
      command.requiredOption(
        '--scope <scopes>',
        "all approved scopes, separated by spaces: 'payments refunds'; '' for none",
      ),
    input: ({ scope }) => ({ scope }),
    say: ({ client_id, approved_scope: scope }) => [
      scope === ''
        ? `${client_id} is approved for no scope, and gets none that needs an approval.`
        : `${client_id} is approved for ${scope.replaceAll(' ', ', ')}. Of the scopes that need an approval, it gets these alone, if it registered them.`,
      'This applies to each new token, also where a user consented to more.',
    ],
  }),
  taskVerb<RotatedSecret, { readonly overlap?: number }>({
    task: 'client.rotate-secret',
    options: (command) =>
      command.option(
        '--overlap <seconds>',
        'how long the previous secret stays valid, by default a day; 0: it becomes invalid at once',
        parseSeconds,
      ),
    input: ({ overlap }) => ({ overlap_seconds: overlap }),
    say: ({ client_id, client_secret, previous_secret_until }) => [
      `The new secret of ${client_id}, which is not shown again:`,
      `  ${client_secret}`,
      `The previous secret is valid until ${formatTime(previous_secret_until)} UTC.`,
    ],
  }),
  taskVerb<ClientDocument>({
    task: 'client.disable',
    say: ({ client_id }) => `${client_id} is disabled. To undo this: grantor client enable ${client_id}`,
  }),
  taskVerb<ClientDocument>({
    task: 'client.enable',
    say: ({ client_id }) => `${client_id} is enabled.`,
  }),
  taskVerb<ClientDocument>({
    task: 'client.revoke-tokens',
    say: ({ client_id }) => `All tokens of ${client_id} are revoked. It can request new ones.`,
  }),
  taskVerb<{ readonly client_id: string }>({
    task: 'client.delete',
    say: ({ client_id }) => `Deleted ${client_id}.`,
  }),
]

/** Adds the options that select clients. */
export function withSearch(command: Command): Command {
  return command
    .addOption(new Option('--source <source>', 'only clients that came in this way').choices(CLIENT_SOURCES))
    .addOption(new Option('--trust-level <level>', 'only clients of this trust level').choices(SHOWN_LEVELS))
    .option('--host <host>', 'only clients with a redirect URI, a logout URI or a metadata document at this host')
    .option('--used', 'only clients that have got a token')
    .option('--unused', 'only clients that never got a token')
    .option('--verified', 'only verified clients')
    .option('--unverified', 'only clients that are not verified')
    .option('--disabled', 'only disabled clients')
    .option('--enabled', 'only clients that are not disabled')
    .option(
      '--unused-since <time>',
      'only clients that got no token since this time (clients that never got one included): 2026-01-31, or 2026-01-31T12:00:00Z',
      parseTime,
    )
}

/** The filters of the options. */
export function searchOf(options: SearchOptions): Members {
  return {
    source: options.source,
    trust_level: options.trustLevel,
    host: options.host,
    used: eitherOf(options, 'used', 'unused'),
    verified: eitherOf(options, 'verified', 'unverified'),
    disabled: eitherOf(options, 'disabled', 'enabled'),
    unused_since: options.unusedSince,
  }
}

/** The cells of a client under CLIENT_HEADINGS. */
export function clientCells(client: ClientDocument): readonly string[] {
  const { client_id, client_name, source, client_id_issued_at, used_at, last_used_at, disabled_at, trust_level } =
    client
  const registered = new Date(client_id_issued_at * 1000).toISOString()
  const times = [registered, used_at, last_used_at].map(formatTime)
  return [client_id, client_name ?? '–', source, ...times, disabled_at === null ? trust_level : 'disabled']
}
