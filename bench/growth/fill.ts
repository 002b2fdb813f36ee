import { closeSync, fsyncSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { ID_LENGTH } from '../../src/protocol/ids.ts'
import { slotOf } from '../../src/store/sqlite/slot.ts'

/**
 * Fills a database by SQL with the rows of weeks of use. Through the store this would take hours. Ids are ordered by time like
 * those of the server. The live token of family n has the hash `hashOf(n)`.
 */

/** The age of the newest row. The oldest row is 30 days older. */
const NEWEST_AGE_MS = 60_000
const SPAN_MS = 30 * 24 * 60 * 60 * 1000
const DAY_MS = 24 * 60 * 60 * 1000

/** The generation of each family, whose token was refreshed before. */
export const FILLED_GENERATION = 1

/** The rows are older than clients and families become, so the server must keep unused clients for a year. */
export const FILLED_SETTINGS = { GRANTOR_UNUSED_CLIENT_LIFETIME: '31536000' } as const

export interface Fill {
  readonly rows: number
  readonly now: number
}

/** The time-ordered id of row `index`: 12 hex digits of milliseconds, then the number. */
export function idOf(index: number, { rows, now }: Fill): string {
  return momentOf(index, { rows, now }).toString(16).padStart(12, '0') + String(index).padStart(22, '0')
}

export function hashOf(index: number): string {
  return String(index).padStart(43, '0')
}

function momentOf(index: number, { rows, now }: Fill): number {
  return Math.floor(now - NEWEST_AGE_MS - SPAN_MS + (index * SPAN_MS) / rows)
}

const METADATA = JSON.stringify({
  redirectUris: ['http://127.0.0.1:33418/callback', 'https://client.example/callback'],
  authMethod: 'client_secret_post',
  grantTypes: ['authorization_code', 'refresh_token'],
  responseTypes: ['code'],
  scope: 'mcp:tools mcp:resources',
  descriptive: { client_name: 'A client that was registered before', client_uri: 'https://client.example/' },
})
const REQUEST = JSON.stringify({
  redirectUri: 'http://127.0.0.1:33418/callback',
  state: 'a state of usual length',
  codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  scope: 'mcp:tools mcp:resources',
  resources: ['https://api.example'],
})

/** The SQL of each database for series and formatted numbers. */
const DIALECTS = {
  sqlite: {
    numbers: (rows: number) =>
      `(with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${rows}) select i from n)`,
    hex: (ms: string) => `printf('%012x', ${ms})`,
    pad: (width: number) => `printf('%0${width}d', i)`,
    integer: (number: string) => `cast(${number} as integer)`,
  },
  postgres: {
    numbers: (rows: number) => `(select i from generate_series(0, ${rows} - 1) as i) as n`,
    hex: (ms: string) => `lpad(to_hex(${ms}), 12, '0')`,
    pad: (width: number) => `lpad(i::text, ${width}, '0')`,
    integer: (number: string) => `floor(${number})::bigint`,
  },
} as const

/** The statements that insert `rows` clients, grants with their families, and redeemed codes. */
function fillStatements(dialect: keyof typeof DIALECTS, { rows, now }: Fill): readonly string[] {
  const { numbers, hex, pad, integer } = DIALECTS[dialect]
  const start = now - NEWEST_AGE_MS - SPAN_MS
  const time = integer(`${start} + i * ${SPAN_MS}.0 / ${rows}`)
  const id = `${hex(time)} || ${pad(22)}`
  const from = numbers(rows)
  const later = now + 60 * DAY_MS
  // No two ids have the same millisecond, and their other characters are zeros.
  const slot =
    dialect === 'sqlite'
      ? { column: 'slot, ', value: `${time} * 2048 + ${slotOf('0'.repeat(ID_LENGTH))}, ` }
      : { column: '', value: '' }
  return [
    `insert into clients (${slot.column}client_id, issued_at, source, secret_hash, metadata, used_at, held_until)
     select ${slot.value}'gci_' || ${id}, ${time} / 1000, 'registration', ${pad(43)}, '${METADATA}', ${time}, 0 from ${from}`,
    `insert into grants (${slot.column}grant_id, client_id, user_id, scope, resources, created_at, expires_at, generation, live_hash,
       previous_hash, rotated_at, idle_expires_at)
     select ${slot.value}${id}, 'gci_' || ${id}, 'gus_' || ${id}, 'mcp:tools mcp:resources', '["https://api.example"]', ${time}, ${later},
       ${FILLED_GENERATION}, ${pad(43)}, ${pad(43)}, ${time}, ${later} from ${from}`,
    `insert into authorizations (authorization_id, client_id, browser_hash, request, created_at, expires_at, status,
       user_id, code_hash, approved_at)
     select ${id}, 'gci_' || ${id}, ${pad(43)}, '${REQUEST}', ${time}, ${time} + 60000, 'approved',
       'gus_' || ${id}, ${pad(43)}, ${time} from ${from}`,
  ]
}

/** Fills a SQLite file and writes all rows to disk, so that none are written during a measurement. */
export function fillSqlite(path: string, fill: Fill): void {
  const connection = new DatabaseSync(path)
  connection.exec('pragma synchronous = off; pragma cache_size = -524288')
  for (const statement of fillStatements('sqlite', fill)) connection.exec(statement)
  connection.exec('pragma wal_checkpoint(truncate)')
  connection.close()
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** Fills a PostgreSQL database and updates the planner's statistics, as after weeks of use. */
export async function fillPostgres(url: string, fill: Fill): Promise<void> {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  try {
    await connection.query('set synchronous_commit = off')
    for (const statement of fillStatements('postgres', fill)) await connection.query(statement)
    await connection.query('vacuum analyze')
  } finally {
    await connection.end()
  }
}
