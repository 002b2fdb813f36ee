import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/** Reads the database of a server without the server. */
export interface DatabaseReader {
  /** The first column of the only row, as a number. */
  readonly read: (sql: string) => Promise<number>
  /** The sizes of the write-ahead log and of the rest on the disk. */
  readonly readBytes: () => Promise<{ readonly log: number; readonly database: number }>
  /** The number of bytes that `work` adds to the write-ahead log. */
  readonly countLogBytes: (work: () => Promise<void>) => Promise<number>
  readonly close: () => Promise<void>
}

/** Opens `sqlite:<path>`, or `postgres://…` as a superuser. */
export async function openReader(url: string): Promise<DatabaseReader> {
  return url.startsWith('sqlite:') ? openFile(url.slice('sqlite:'.length)) : openServer(url)
}

function openFile(path: string): DatabaseReader {
  const database = new DatabaseSync(path, { timeout: 10_000 })
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  const logBytes = (): number => sizeOf(`${path}-wal`)
  return {
    read: async (sql) => Number(Object.values(database.prepare(sql).get() ?? {})[0]),
    readBytes: async () => ({ log: logBytes(), database: sizeOf(path) }),
    async countLogBytes(work) {
      // An open read transaction prevents the log from being restarted, so that it grows by all bytes that are written.
      database.exec('pragma wal_checkpoint(truncate); begin; select 1 from clients limit 1')
      const before = logBytes()
      await work()
      const after = logBytes()
      database.exec('commit')
      return after - before
    },
    close: async () => database.close(),
  }
}

async function openServer(url: string): Promise<DatabaseReader> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const read = async (sql: string): Promise<number> => {
    const { rows } = await client.query<string[]>({ text: sql, rowMode: 'array' })
    return Number(rows[0]?.[0])
  }
  return {
    read,
    readBytes: async () => ({
      log: await read('select sum(size) from pg_ls_waldir()'),
      database: await read('select pg_database_size(current_database())'),
    }),
    async countLogBytes(work) {
      const position = (): Promise<number> => read("select pg_current_wal_insert_lsn() - '0/0'")
      const before = await position()
      await work()
      return (await position()) - before
    },
    close: () => client.end(),
  }
}
