import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runImport, type ImportOptions } from '../../src/import/run-import.ts'
import type { Source } from '../../src/import/source.ts'
import { NEUTRAL } from '../../src/import/sources/neutral.ts'
import type { ImportCounts } from '../../src/import/tally.ts'
import { temporaryFolder, type TestServer } from '../support/server.ts'

/** A line of a report. */
export interface Reported {
  readonly line: number
  readonly kind: string
  readonly source_id: string | null
  readonly id: string | null
  readonly outcome: string
  readonly reason: string | null
  readonly detail?: string
}

export interface Imported {
  readonly counts: ImportCounts
  readonly report: readonly Reported[]
  /** The text of the report. */
  readonly text: string
}

type Given = Partial<Omit<ImportOptions, 'files' | 'report'>> & { readonly source?: Source }

/** Writes a file of a test, and returns its path. */
export function writeInput(t: Pick<TestContext, 'after'>, content: string | Buffer, name = 'input'): string {
  const path = join(temporaryFolder(t), name)
  writeFileSync(path, content)
  return path
}

/** Writes records as the neutral format has them. */
export function writeRecords(t: Pick<TestContext, 'after'>, records: readonly object[]): string {
  return writeInput(t, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
}

export function aUserLine(id: string, differing: object = {}): object {
  return { type: 'user', id, email: `${id}@acme.test`, ...differing }
}

/** Imports a file, and reads the report. */
export async function importFile(
  t: Pick<TestContext, 'after'>,
  server: Pick<TestServer, 'context'>,
  main: string,
  {
    source = NEUTRAL,
    others = {},
    switches = [],
    ...given
  }: Given & { readonly others?: Readonly<Record<string, string>>; readonly switches?: readonly string[] } = {},
): Promise<Imported> {
  const report = join(temporaryFolder(t), 'report')
  const counts = await runImport(asAdministrator(server.context, COMMAND_LINE), source, {
    files: { main, others, switches: new Set(switches) },
    isDryRun: false,
    isUpdate: false,
    mayLoseFactors: false,
    only: undefined,
    organizationId: undefined,
    providers: new Map(),
    secrets: undefined,
    patienceMs: 0,
    onOutage: () => undefined,
    ...given,
    report,
  })
  return { counts, ...readReport(report) }
}

export function readReport(path: string): Pick<Imported, 'report' | 'text'> {
  const text = readFileSync(path, 'utf8')
  const report = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Reported)
  return { report, text }
}

/** What became of each record: `created`, or `refused email_taken`. */
export function outcomesOf({ report }: Pick<Imported, 'report'>): readonly string[] {
  return report.map(({ outcome, reason }) => (reason === null ? outcome : `${outcome} ${reason}`))
}
