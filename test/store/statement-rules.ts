import assert from 'node:assert/strict'
import { statementFaults } from './portable-sql.ts'
import type { SourceStatement } from './recorded-statements.ts'

/** The rules of the statements that a store sends, with their exceptions. test/store/contract/ checks those of its runs. */

interface Exception {
  readonly why: string
  readonly file?: RegExp
  readonly text?: RegExp
}

/** Statements that read the database's clock, or lock tables. */
export const LOCKS_AND_CLOCKS: readonly Exception[] = [
  {
    why: 'the clock check compares the clocks',
    text: /^select floor\(extract\(epoch from clock_timestamp\(\)\) \* 1000\)::bigint as now$/,
  },
  { why: 'the lease is by one clock, not by each node’s', file: /\/migration-lease\.ts$/ },
  { why: 'a restore fills an empty database that no server uses', file: /postgres\/snapshot\.ts$/ },
  { why: 'a store that is distributed is not closed', file: /\/closing\.ts$/ },
  {
    why: 'a write that only shows whether commits succeed takes their locks, and looks for how long others wait',
    file: /\/write-probes\.ts$/,
  },
  {
    why: 'a redemption does not change the row of its code',
    text: /^insert into grants .+ for share of a\b/,
  },
]

/** Statements that do not find their rows by the shard key. */
export const KEYLESS: readonly Exception[] = [
  { why: 'a server with a file that noted no time yet looks for its newest row', text: /^select max\(at\) as at from/ },
  {
    why: 'a person signs in by email',
    text: /^select (\*|coalesce\(max\(user_id\), \S+\) as user_id) from users where email (= \S+|in \(\S+, \S+\))$/,
  },
  {
    why: 'only the doctor',
    text: /^select (min\(due_at\) as due_at from mails$|r\.\*, |chosen_id\b.* from clients |distinct group_id as id from group_members )/,
  },
  { why: 'the operator pages through a list', text: /^select \* from \w+ where .+ < .+ (desc|order by email) limit/ },
  {
    why: 'an operator counts in slices',
    text: /^select (user_id from passkeys where user_id > |i\.user_id from identities )/,
  },
  {
    why: 'what belongs to a user or an organization goes with it, once',
    text: /^delete from (sessions|memberships|installations|identities|roles) where (user|organization)_id = \S+$/,
  },
  {
    why: 'a group ends with its members, and an organization with its groups, once; those of an owner are counted up to a maximum',
    file: /\/organization\/groups\.ts$/,
  },
  {
    why: 'a leaked secret ends all initial access tokens, once',
    text: /^update initial_tokens set revoked_at = \S+ where expires_at > \S+ and revoked_at is null$/,
  },
  {
    why: 'the sweep adds up the new clients of a day, one row for 15 minutes',
    text: /^select window_start, count from registration_counts order by window_start desc limit/,
  },
  {
    why: 'a sign-out ends the logins of a session, an account page shows and ends what a user has, and a sweep ends codes',
    text: /^(delete from sessions where user_id = \S+ and (session_id <>|created_at >=)|select \* from identities where user_id =|select \* from authorizations where user_id =|select \* from (grants|\( select \*, row_number\(\) over \(partition by client_id, organization_id order by grant_id desc\) as place from grants) where user_id = \S+ and revoked_at is null|update authorizations set status = 'burned' where (authorization_id >|user_id =|\$\{)|update grants set revoked_at = \S+ where user_id =)/,
  },
  {
    why: 'a sign-in removes the oldest sessions of a user who has too many',
    text: /^(select session_id from sessions where user_id = \S+ and session_id < \S+ order by|delete from sessions where user_id = \S+ and session_id <= )/,
  },
  {
    why: 'an account page shows, holds and changes the identities of a user, and they are deleted with the user or the provider',
    text: /^(select identity_key from identities where user_id = |select i\.identity_key(, p\.\*)? from identities as i join |delete from identities where (provider_id = |user_id = \S+ and ))/,
  },
  {
    why: 'the open proofs of a provider are deleted with it, and are found by their end',
    text: /^delete from identity_proofs where expires_at > \S+ and provider_id = /,
  },
  {
    why: 'a node looks once a second for the notices and mails that are due, by an index of those alone',
    text: /^select \* from (logout_notices|mails) where due_at <= /,
  },
  { why: 'an operator changes an address', text: /^select user_id from users where email = \S+ and user_id <>/ },
  { why: 'the sweep looks for addresses to rewrite', text: /^select user_id, email from users where \(octet_length/ },
  {
    why: 'the operator ends what a store that was restored could revive, once',
    text: /^delete from (roles where user_id > |(links|email_codes|interactions|pushed_requests|devices|identity_proofs|logout_notices|mails) where (expires_at|kept_until) > \S+$)/,
  },
  {
    why: 'a node looks for older links only if the store lacks the one that it remembers',
    text: /^select link_id from audit_links where link_id < \S+ order by link_id desc limit 1$/,
  },
  { why: 'a revocation also ends what a clock that was ahead has issued', file: /\/not-before\.ts$/ },
  {
    why: 'on Citus, a change of rows on any shard looks first whether there are such rows',
    file: /\/user-rows\.ts$/,
    text: /^select 1 from /,
  },
  { why: 'sweeps go by time or by key, in slices, over all shards', file: /\/(expired|examined)-rows\.ts$/ },
  { why: 'metrics and searches walk over all shards, in slices', file: /\/all-rows\.ts$/ },
  { why: 'the audit is read by time, in slices; its chains are found once a minute', file: /\/audit\.ts$/ },
  {
    why: 'the index of a search is written in the order of the ids, in slices, and asked on all shards',
    file: /\/user-search\.ts$/,
  },
  {
    why: 'a person of the console looks at a list of users, and at what fifty of them have',
    file: /\/user\/accounts\.ts$/,
  },
  { why: 'the doctor looks for the youngest row', file: /\/inspect\.ts$/, text: /limit 1/ },
  {
    why: 'the doctor looks whether a token has room for all groups of the server',
    text: /^select group_id from user_groups where organization_id is null /,
  },
  { why: 'on SQLite rows have a number made of the key', text: /\bslot = (\?|slot_of)/ },
]

/** What to do about a statement without the shard key. */
export const REMEDY =
  'Find the rows by the shard key of their table. Where that is impossible, add the statement with its reason to KEYLESS in test/store/statement-rules.ts.'

/** Statements that the contract does not execute. */
export const NOT_RUN: readonly Exception[] = [
  {
    why: 'run by postgres/settle.test.ts, where a part of a commit is late',
    file: /\/settle\.ts$/,
    text: /^(insert into|delete from) (sessions|identities|emails|grants) |set status = status/,
  },
  {
    why: 'run by postgres/settle.test.ts, and on PostgreSQL by the contract of a store that Citus distributes',
    file: /\/joined\.ts$/,
  },
  { why: 'run by npm run prove:citus', file: /\/distribution\.ts$/ },
  { why: 'run by cli/commands/store/move.test.ts', file: /\/closing\.ts$/ },
  {
    why: 'run by migrate-postgres.test.ts and migrate-sqlite.test.ts, over planted migrations',
    file: /\/migrate\.ts$/,
    text: /migration_progress/,
  },
  { why: 'run by migrate-postgres.test.ts after a kill', text: /invalid|indisvalid|^drop index concurrently/ },
  {
    why: 'run by migrate-postgres.test.ts when a lock is not to be had',
    file: /\/migrat\w*.*\.ts$/,
    text: /^rollback$|lock_timeout = /,
  },
  { why: 'run by cli/commands/store/backup.test.ts', file: /\/snapshot\.ts$/ },
  { why: 'run by store/faults/postgres-refusals.test.ts', file: /\/write-probes\.ts$/ },
]

/** The statements of a store: those that a run of the contract has executed, and those of the source. */
export interface Recorded {
  readonly executed: ReadonlySet<string>
  readonly source: readonly SourceStatement[]
}

export function assertAllAreExecuted({ executed, source }: Recorded): void {
  assert.ok(executed.size > 50, 'too few statements were recorded')
  const idle = source.filter(({ pattern }) => ![...executed].some((sql) => pattern.test(sql)))
  assert.deepEqual(
    idle.filter((statement) => !isExcepted(NOT_RUN, statement)).map(({ file, text }) => `${file}: ${text}`),
    [],
  )
  assert.deepEqual(
    [...executed].filter((sql) => !source.some(({ pattern }) => pattern.test(sql))),
    [],
  )
}

export function assertAllScaleOut({ executed, source }: Recorded): void {
  const faults = [...source, ...[...executed].map((text) => found(source, text))].flatMap((statement) =>
    isExcepted(LOCKS_AND_CLOCKS, statement)
      ? []
      : statementFaults(statement.text).map((fault) => `${fault}: ${statement.text}`),
  )
  assert.deepEqual(faults, [])
}

/** Statements that read or change rows. */
export function dataStatements({ executed, source }: Recorded): readonly SourceStatement[] {
  return [...executed]
    .filter((text) => /^(select|insert|update|delete|with)\b/.test(text))
    .map((text) => found(source, text))
}

function found(source: readonly SourceStatement[], text: string): SourceStatement {
  const { file = '' } = source.find(({ pattern }) => pattern.test(text)) ?? {}
  return { file, text, pattern: /^/ }
}

export function isExcepted(exceptions: readonly Exception[], { file, text }: SourceStatement): boolean {
  return exceptions.some((one) => (one.file ?? /^/).test(file) && (one.text ?? /^/).test(text))
}
