import type { EpochMs } from '../../src/base/brand.ts'
import { digestOf, type AppliedMigration, type Migration } from '../../src/store/migrations.ts'

/** Rows to backfill: more than one batch, and not a multiple of a batch. */
export const ROWS = 5

/** Every kind of step, on both databases: expand, backfill, contract. */
export const PLANTED: readonly Migration[] = [
  {
    version: 1,
    name: 'start',
    sql: `create table things (id text /*postgres collate "C"*/ not null primary key, note text)
            /*sqlite without rowid*/ /*postgres with (fillfactor = 85)*/;
          create index things_note on things (note); -- contracted later;
          insert into things values ${Array.from({ length: ROWS }, (_, index) => `('t${index}', 'a;b')`).join(', ')};`,
  },
  { version: 2, name: 'expand', sql: 'alter table things add column size bigint;' },
  {
    version: 3,
    name: 'backfill',
    sql: `-- each statement by itself
create index /*postgres concurrently*/ if not exists things_unsized on things (id) where size is null;
-- repeat until no row changes
update things set size = length(note) where id in (select id from things where size is null order by id limit 2);
drop index /*postgres concurrently*/ if exists things_unsized;
create unique index /*postgres concurrently*/ if not exists things_size on things (size, id);
`,
  },
  {
    version: 4,
    name: 'contract',
    sql: `drop index things_note;
          alter table things drop column note;`,
  },
]

export const VERSIONS: readonly number[] = PLANTED.map(({ version }) => version)

export function versionsOf(migrations: readonly { readonly version: number }[]): readonly number[] {
  return migrations.map(({ version }) => version)
}

/** The record of a migration that was applied at a time. */
export function appliedOf(migration: Migration, at: number): AppliedMigration {
  const { version, name } = migration
  return { version, name, appliedAt: at as EpochMs, digest: digestOf(migration) }
}
