import { globSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { listMigrations, readScript } from '../../src/store/migrations.ts'
import { inPostgres, inSqlite } from '../../src/store/shared/statement.ts'
import { forCitus } from '../../src/store/postgres/distribution.ts'
import { oneRowOf } from '../../src/store/postgres/connection/query.ts'
import { noteStatement } from './decisions.ts'
import { normalized } from './portable-sql.ts'

/** The statements that were executed and those in the source: each list is checked against the other. */

export type StoreKind = 'postgres' | 'sqlite'

/** An SQL text of a source file. If it is assembled at run time, `pattern` has gaps for the variable parts. */
export interface SourceStatement {
  readonly file: string
  readonly text: string
  readonly pattern: RegExp
}

/** The variable part of a text. */
const GAP = /\$\{[^}]*\}/

const PARAMETER = /(?<![:\w]):\w+/

/** A statement with its parameters. */
export interface SentStatement {
  readonly text: string
  readonly values?: readonly unknown[]
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** The statements that this process has sent since a recording began. */
export interface Recording {
  readonly statements: ReadonlySet<string>
  readonly end: () => void
}

/** Records every statement that this process sends to PostgreSQL during `work`. */
export async function recordPostgres(work: () => Promise<void>): Promise<ReadonlySet<string>> {
  const { statements, end } = startRecordingPostgres()
  await work().finally(end)
  return statements
}

export function startRecordingPostgres(): Recording {
  const statements = new Set<string>()
  const end = listenToPostgres(({ text }) => {
    statements.add(text)
    noteStatement(text)
  })
  return { statements, end }
}

/** Calls `heard` with every statement that this process sends to PostgreSQL during `work`. */
export async function hearPostgres(heard: (sent: SentStatement) => void, work: () => Promise<unknown>): Promise<void> {
  const end = listenToPostgres(heard)
  await work().finally(end)
}

function listenToPostgres(heard: (sent: SentStatement) => void): () => void {
  return listenTo(pg.Client.prototype, 'query', (client, statement) => {
    const { connectionParameters } = client as { readonly connectionParameters: { readonly application_name?: string } }
    if (connectionParameters.application_name?.startsWith('grantor') !== true) return
    const { text, values = [] } = typeof statement === 'string' ? { text: statement } : (statement as SentStatement)
    heard({ text: normalized(text), values })
  })
}

/** Records without pragmas, which only SQLite has. */
export function startRecordingSqlite(): Recording {
  const statements = new Set<string>()
  const add = (_: unknown, sql: unknown): void => {
    const text = normalized(sql as string)
    if (!isPragma(text)) statements.add(text)
  }
  const ends = [listenTo(DatabaseSync.prototype, 'prepare', add), listenTo(DatabaseSync.prototype, 'exec', add)]
  return { statements, end: () => ends.forEach((end) => end()) }
}

/** Calls `heard` before each call of a method, with the object and the first argument. Returns a function that stops it. */
function listenTo(prototype: object, name: string, heard: (self: unknown, first: unknown) => void): () => void {
  const methods = prototype as Record<string, Method>
  const original = methods[name] as Method
  methods[name] = function (...args) {
    heard(this, args[0])
    return original.apply(this, args)
  }
  return () => void (methods[name] = original)
}

/** Returns every SQL text of a store: the string literals of its files and of the shared ones, and the migrations. Exact texts come first, and then those with the longest fixed parts. */
export function listSource(store: StoreKind): readonly SourceStatement[] {
  const files = globSync([
    `src/store/*.ts`,
    `src/store/{nouns,shared}/**/*.ts`,
    `src/store/${store}/**/*.ts`,
  ]).toSorted()
  const literals = files.flatMap((file) => literalsOf(readFileSync(file, 'utf8')).map((text) => ({ file, text })))
  const migrations = listMigrations().flatMap((migration) =>
    readScript(migration, store).statements.map(({ sql }) => ({
      file: `src/store/migrations/${migration.name}.sql`,
      text: sql,
    })),
  )
  return [...literals.filter(({ text }) => isSql(text) && !isPragma(text)), ...migrations]
    .flatMap(({ file, text }) => {
      const texts =
        store === 'sqlite'
          ? [inSqlite(text)]
          : new Set([text, forCitus(text), oneRowOf({ name: '', text })?.text ?? text].map(inPostgres))
      return [...texts].map((one) => ({ file, text: normalized(one) }))
    })
    .map(({ file, text }) => ({ file, text, pattern: patternOf(text) }))
    .toSorted(
      (one, other) =>
        Number(hasGap(one.text)) - Number(hasGap(other.text)) || fixedLength(other.text) - fixedLength(one.text),
    )
}

/** Shared statements have named parameters (src/store/shared/statement.ts), which each database sees as numbers. */
function patternOf(text: string): RegExp {
  const parts = text.split(GAP).map((part) =>
    part
      .split(PARAMETER)
      .map((between) => RegExp.escape(between))
      .join('[$?]\\d+'),
  )
  return new RegExp(`^${parts.join('.*')}$`)
}

function hasGap(text: string): boolean {
  return GAP.test(text)
}

function fixedLength(text: string): number {
  return text.split(GAP).join('').length
}

/** Returns the texts between quotes or backticks, except in comments. */
export function literalsOf(source: string): readonly string[] {
  const tokens = source.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*|`((?:\\.|[^`\\])*)`|'((?:\\.|[^'\\\n])*)'/g)
  return [...tokens].flatMap(([, template, text]) => template ?? text ?? [])
}

function isSql(text: string): boolean {
  return /^\s*(select|insert|update|delete|with|create|alter|drop|truncate(?=\s)|merge|begin|commit|rollback|savepoint|release|set|reset|lock|listen|notify|do|call|pragma)(\s|$)/i.test(
    text,
  )
}

function isPragma(text: string): boolean {
  return /^\s*pragma\b/i.test(text)
}
