import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { withClient, type Postgres } from '../../tools/postgres/postgres.ts'

/** The stores whose commands are killed. */
export interface Place {
  /** DATABASE_URL of the store that is used now. At first it is an empty one, which becomes the original. */
  readonly url: () => string
  /** Uses the original as it was before the command that is killed. */
  readonly useOriginal: () => Promise<void>
  /** Uses what a restore replaces (a copy of the original) or fills (an empty database). */
  readonly useTarget: () => Promise<void>
  readonly restoreOptions: readonly string[]
  /** Reads the store that is used now. Throws if it is damaged. `undefined`: it has no tables. */
  readonly read: <T>(work: (rows: Rows) => Promise<T>) => Promise<T | undefined>
  /** Adds organizations: more rows make the work of a command longer, compared with its start. */
  readonly fill: (count: number) => Promise<void>
}

export type Row = Readonly<Record<string, unknown>>
/** Runs a query and returns its rows. */
export type Rows = (sql: string) => Promise<readonly Row[]>

export function openSqlitePlace(folder: string): Place {
  const [original, work] = [join(folder, 'original'), join(folder, 'work')]
  let current = original
  mkdirSync(original, { mode: 0o700 })
  const path = (): string => join(current, 'grantor.db')
  async function useCopy(): Promise<void> {
    current = work
    rmSync(work, { recursive: true, force: true })
    cpSync(original, work, { recursive: true })
  }
  async function withDatabase<T>(run: (database: DatabaseSync) => T | Promise<T>): Promise<T> {
    const database = new DatabaseSync(path())
    try {
      return await run(database)
    } finally {
      database.close()
    }
  }
  return {
    url: () => `sqlite:${path()}`,
    useOriginal: useCopy,
    useTarget: useCopy,
    restoreOptions: ['--replace'],
    read: (run) =>
      withDatabase((database) => {
        const [report] = database.prepare('pragma integrity_check').all()
        if (report?.['integrity_check'] !== 'ok') throw new Error(`The file is damaged: ${JSON.stringify(report)}`)
        return run(async (sql) => database.prepare(sql).all())
      }),
    fill: (count) =>
      withDatabase((database) => {
        database.prepare(fillStatement(`printf('gor_%09d', i)`, '?')).run(count)
      }),
  }
}

export async function openPostgresPlace(postgres: Postgres): Promise<Place> {
  const original = await postgres.createDatabase()
  let current = original
  return {
    url: () => current.url,
    async useOriginal() {
      current = original
    },
    async useTarget() {
      if (current !== original) {
        const { name } = current
        await withClient(postgres.adminUrl(), (client) => client.query(`drop database ${name} with (force)`))
      }
      current = await postgres.createDatabase()
    },
    restoreOptions: [],
    read: (run) =>
      withClient(current.url, async (client) => {
        const { rows } = await client.query<{ readonly name: string | null }>(`select to_regclass('settings') as name`)
        return rows[0]?.name === null ? undefined : run(async (sql) => (await client.query<Row>(sql)).rows)
      }),
    fill: (count) =>
      withClient(original.url, async (client) => {
        await client.query(fillStatement(`'gor_' || lpad(i::text, 9, '0')`, '$1::integer'), [count])
      }),
  }
}

function fillStatement(id: string, count: string): string {
  return `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into organizations (organization_id, name, created_at, not_before)
    select ${id}, '${'x'.repeat(200)}', 1, 1 from n`
}
