import type { Command } from 'commander'
import { moment } from './columns.ts'
import { eitherOf, parseMoment } from './parse-options.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ClientDocument } from '../admin/describe-client.ts'

interface Options {
  readonly used?: true
  readonly unused?: true
  readonly verified?: true
  readonly unverified?: true
  readonly disabled?: true
  readonly enabled?: true
  readonly unusedSince?: string
}

/** `grantor client list` */
export function addClientList(parent: Command, terminal: Terminal): void {
  addListVerb<ClientDocument, Options>(parent, terminal, {
    task: 'client.list',
    options: (command) =>
      command
        .option('--used', 'only those that ever got a token')
        .option('--unused', 'only those that never got one')
        .option('--verified', 'only those that you vouch for')
        .option('--unverified', 'only the others')
        .option('--disabled', 'only disabled ones')
        .option('--enabled', 'only the others')
        .option(
          '--unused-since <moment>',
          'only those that got no token since, or never: 2026-01-31, or 2026-01-31T12:00:00Z',
          parseMoment,
        ),
    input: (options) => ({
      used: eitherOf(options, 'used', 'unused'),
      verified: eitherOf(options, 'verified', 'unverified'),
      disabled: eitherOf(options, 'disabled', 'enabled'),
      unused_since: options.unusedSince,
    }),
    rows: 'clients',
    headings: ['ID', 'NAME', 'REGISTERED (UTC)', 'FIRST USED (UTC)', 'LAST USED (UTC)', 'STATE'],
    cells: (client) => [cellsOf(client)],
    empty: 'No client has registered yet, or none that fits.',
  })
}

function cellsOf(client: ClientDocument): readonly string[] {
  const { client_id, client_name, client_id_issued_at, used_at, last_used_at, disabled_at, verified_at } = client
  const registered = new Date(client_id_issued_at * 1000).toISOString()
  const state = disabled_at !== null ? 'disabled' : verified_at === null ? 'unverified' : 'verified'
  return [client_id, client_name ?? '–', moment(registered), moment(used_at), moment(last_used_at), state]
}
