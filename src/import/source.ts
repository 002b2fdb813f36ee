import type { SourceRecord } from './records.ts'

/** The files of an import, as the command names them. */
export interface SourceFiles {
  readonly main: string
  /** By the names of the options. */
  readonly others: Readonly<Record<string, string>>
  /** The names of those that were given. */
  readonly switches: ReadonlySet<string>
}

/** A system from which users come. */
export interface Source {
  /** `grantor import <verb>`; also its name in the audit. */
  readonly verb: string
  readonly summary: string
  /** The name of the argument, and what it is. */
  readonly argument: readonly [name: string, meaning: string]
  /** Further files, each an option. */
  readonly options: readonly (readonly [name: string, meaning: string])[]
  /** What else is taken, each an option without a value. */
  readonly switches: readonly (readonly [name: string, meaning: string])[]
  /** What its files may not say of users, for the operator. */
  readonly unsaid?: string
  /** Whether its records name providers by their ids here. */
  readonly namesProvidersHere: boolean
  /** All files that are read. */
  readonly paths: (files: SourceFiles) => readonly string[]
  /** Reads the records, organizations and groups before their members. It is called twice. @throws Error when a file is not what it has to be */
  readonly read: (files: SourceFiles) => Iterable<SourceRecord>
}
