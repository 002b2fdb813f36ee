import { InvalidArgumentError, Option } from 'commander'
import { asAdministrator, COMMAND_LINE } from '../../../admin/administrators.ts'
import { IMPORT_REASONS, type ImportReason } from '../../../import/reasons.ts'
import { importSchema } from '../../../import/records.ts'
import { OUTCOMES } from '../../../import/report.ts'
import { runImport } from '../../../import/run-import.ts'
import type { Source } from '../../../import/source.ts'
import { SOURCES } from '../../../import/sources.ts'
import type { ImportCounts } from '../../../import/tally.ts'
import { UsageError } from '../../lib/failure.ts'
import { withJson } from '../../lib/options.ts'
import { withRuntime } from '../../lib/runtime.ts'
import type { AddVerb } from '../../lib/task-verb.ts'

interface ImportVerbOptions {
  readonly dryRun?: true
  readonly update?: true
  readonly withoutSecondFactor?: true
  readonly only?: 'users' | 'clients'
  readonly organization?: string
  readonly provider?: ReadonlyMap<string, string>
  readonly report?: string
  readonly secrets?: string
  readonly schema?: true
  readonly json?: true
}

/** A standby takes over in less. */
const PATIENCE_MS = 5 * 60_000
/** What was imported, but not all of it. */
const PARTLY = 3
/** Plural, as the last lines have it. */
const KINDS = { organization: 'Organizations', group: 'Groups', user: 'Users', client: 'Clients' } as const

/** `grantor import users`, `keycloak` and so on: a verb for each row of the table of sources. */
export const SOURCE_VERBS: readonly AddVerb[] = SOURCES.map(sourceVerb)

function sourceVerb(system: Source): AddVerb {
  return (noun, terminal) => {
    const [argument, meaning] = system.argument
    const command = withJson(noun.command(system.verb)).description(system.summary)
    command.argument(`[${argument}]`, meaning)
    for (const [name, text] of system.options) command.option(`--${name} <file>`, text)
    for (const [name, text] of system.switches) command.option(`--${name}`, text)
    command
      .option('--dry-run', 'read and check everything, and write nothing but the report')
      .option('--report <file>', 'a new file: what became of each record, a JSON object on each line')
      .option('--secrets <file>', 'a new file: the new secrets of clients whose own cannot be taken')
      .option(
        '--update',
        'also change accounts that an earlier import stored, and that were neither used nor changed here',
      )
      .option(
        '--provider <there=here>',
        'the provider here that has the identities of one there; repeated',
        readProvider,
      )
      .option('--organization <id>', 'every imported user is a member of it')
      .addOption(new Option('--only <kind>', 'leave the others out').choices(['users', 'clients']))
      .option('--without-second-factor', 'import accounts also if they lose their second factor')
    if (system.verb === 'users') command.option('--schema', 'print the JSON Schema of a line of the file')
    command.action(async (main: string | undefined, options: ImportVerbOptions) => {
      if (options.schema === true) return terminal.printJson(importSchema())
      if (main === undefined) throw new UsageError(`The ${argument} is missing. See --help.`)
      const all = command.opts<Readonly<Record<string, string | true | undefined>>>()
      const named = system.options.flatMap(([name]) =>
        typeof all[name] === 'string' ? [[name, all[name]] as const] : [],
      )
      const switches = new Set(system.switches.map(([name]) => name).filter((name) => all[name] === true))
      const isDryRun = options.dryRun === true
      const counts = await withRuntime(terminal, isDryRun ? 'refuse' : 'create', (context) =>
        runImport(asAdministrator(context, COMMAND_LINE), system, {
          files: { main, others: Object.fromEntries(named), switches },
          isDryRun,
          isUpdate: options.update === true,
          mayLoseFactors: options.withoutSecondFactor === true,
          only: options.only,
          organizationId: options.organization,
          providers: options.provider ?? new Map(),
          report: options.report,
          secrets: options.secrets,
          patienceMs: PATIENCE_MS,
          onOutage: (cause) => terminal.complain(`grantor: ${describeOutage(cause)}\n`),
        }),
      )
      if (options.json === true) terminal.printJson(describe(counts, isDryRun))
      else
        terminal.print([...linesOf(counts, isDryRun), ...unsaidLines(counts, system), ...reportHint(counts, options)])
      const { redirect_uri_refused: uris = 0 } = counts.reasons
      if (uris > 0 || Object.values(counts.kinds).some(({ refused = 0 }) => refused > 0)) process.exitCode = PARTLY
    })
  }
}

function describeOutage(cause: Error | undefined): string {
  return cause === undefined
    ? 'The store is available again.'
    : `${cause.message.replace(/[.]$/, '')}. The import waits, at most five minutes, and goes on.`
}

function readProvider(text: string, previous: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const [, there, here] = /^(.+)=([a-z0-9-]+)$/.exec(text) ?? []
  if (there === undefined || here === undefined) throw new InvalidArgumentError('Give <there>=<here>.')
  return new Map([...previous, [there, here]])
}

function describe({ kinds, reasons, dropped, namedIds, lostFactors, sha256 }: ImportCounts, isDryRun: boolean) {
  return { dry_run: isDryRun, ...kinds, reasons, dropped, named_ids: namedIds, lost_factors: lostFactors, sha256 }
}

function linesOf(all: ImportCounts, isDryRun: boolean): readonly string[] {
  const { kinds, reasons, dropped, namedIds, lostFactors } = all
  const outcomes = Object.entries(KINDS).flatMap(([kind, name]) => {
    const counts = kinds[kind as keyof typeof KINDS]
    const parts = OUTCOMES.filter((outcome) => counts[outcome] !== undefined)
    return parts.length === 0 ? [] : [`${name}: ${parts.map((one) => `${counts[one]} ${one}`).join(', ')}`]
  })
  const named = Object.entries(reasons).map(
    ([reason, count]) => `  ${count} ${reason}: ${plain(reason as ImportReason)}`,
  )
  const names = Object.entries(dropped).map(([name, count]) => `${name} (${count})`)
  return [
    ...(isDryRun ? dryRunLines(lostFactors) : []),
    ...(outcomes.length === 0 ? ['The file has no records.'] : outcomes),
    ...(named.length === 0 ? [] : ['', ...named]),
    ...(names.length === 0 ? [] : ['', `Not taken: ${names.join(', ')}`]),
    ...(namedIds === 0
      ? []
      : [
          '',
          `${namedIds === 1 ? '1 user keeps' : `${namedIds} users keep`} an id that looks like a name. Ids stay in the audit after a user is deleted (docs/users.md).`,
        ]),
  ]
}

function unsaidLines({ kinds }: ImportCounts, { unsaid }: Source): readonly string[] {
  return unsaid === undefined || Object.keys(kinds.user).length === 0 ? [] : ['', unsaid]
}

/** The counts have no lines and no details. */
function reportHint({ kinds, reasons }: ImportCounts, { report }: ImportVerbOptions): readonly string[] {
  const isOther = Object.values(kinds).some(({ differs = 0, updated = 0 }) => differs + updated > 0)
  return report !== undefined || (Object.keys(reasons).length === 0 && !isOther)
    ? []
    : ['', 'To see which records, and the details: --report <file>']
}

function dryRunLines(lostFactors: number): readonly string[] {
  if (lostFactors === 0) return ['Nothing was written. An import would do this:']
  const accounts = lostFactors === 1 ? '1 account loses its' : `${lostFactors} accounts lose their`
  return [
    `Nothing was written, and without --without-second-factor an import writes nothing either: ${accounts} second factor.`,
    'It would do this with the others:',
  ]
}

function plain(reason: ImportReason): string {
  return IMPORT_REASONS[reason].replaceAll('`', '"')
}
