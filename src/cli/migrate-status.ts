import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { locationOf } from '../config/database-url.ts'
import { readSchema } from '../server/store.ts'
import { columns, moment } from './columns.ts'
import type { Terminal } from './terminal.ts'
import { withJson } from './verb.ts'

type Schema = Awaited<ReturnType<typeof readSchema>>

/** So that a script can tell "not yet" from 1, a failure, and 2, a typing error. */
const MISSING = 3

/** `grantor migrate status`: exit code 3 when a migration is missing. */
export function addMigrateStatus(parent: Command, terminal: Terminal): void {
  withJson(parent.command('status'))
    .description(
      `Say which migrations the database has and which it lacks, and change nothing. Exit code 0: it has all; ${MISSING}: some are missing.`,
    )
    .action(async (_options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<{ readonly json?: true }>()
      const config = readConfig()
      const schema = await readSchema(config)
      const database = locationOf(config.database)
      const isUpToDate = schema.missing.length === 0
      if (json) terminal.printJson({ database, up_to_date: isUpToDate, ...describeSchema(schema) })
      else {
        const headings = ['VERSION', 'NAME', 'STATE', 'APPLIED (UTC)']
        const verdict = isUpToDate ? 'is up to date.' : `is not up to date. Run: ${terminal.command} migrate`
        terminal.print([...columns(headings, rowsOf(schema), terminal.paint), '', `${database} ${verdict}`])
      }
      if (!isUpToDate) process.exitCode = MISSING
    })
}

function describeSchema({ applied, missing, unknown }: Schema) {
  const describe = ({ version, name, appliedAt }: Schema['applied'][number]) => ({
    version,
    name,
    applied_at: new Date(appliedAt).toISOString(),
  })
  return {
    applied: applied.filter((one) => !unknown.includes(one)).map(describe),
    missing: missing.map(({ version, name }) => ({ version, name })),
    newer: unknown.map(describe),
  }
}

function rowsOf({ applied, missing, unknown }: Schema): readonly (readonly string[])[] {
  const row = (version: number, ...cells: readonly string[]) => [String(version).padStart(4, '0'), ...cells]
  const state = (one: Schema['applied'][number]): string => (unknown.includes(one) ? 'of a newer release' : 'applied')
  return [
    ...missing.map(({ version, name }) => row(version, name, 'missing', '–')),
    ...applied.map((one) => row(one.version, one.name, state(one), moment(new Date(one.appliedAt).toISOString()))),
  ].toSorted(([one = ''], [other = '']) => one.localeCompare(other))
}
