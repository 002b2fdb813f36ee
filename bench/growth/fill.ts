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
  redirect_uris: ['http://127.0.0.1:33418/callback', 'https://client.example/callback'],
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'mcp:tools mcp:resources',
  client_name: 'A client that was registered before',
  client_uri: 'https://client.example/',
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
    pad: (width: number, number = 'i') => `printf('%0${width}d', ${number})`,
    integer: (number: string) => `cast(${number} as integer)`,
  },
  postgres: {
    numbers: (rows: number) => `(select i from generate_series(0, ${rows} - 1) as i) as n`,
    hex: (ms: string) => `lpad(to_hex(${ms}), 12, '0')`,
    pad: (width: number, number = 'i') => `lpad((${number})::text, ${width}, '0')`,
    integer: (number: string) => `floor(${number})::bigint`,
  },
} as const
export type Dialect = keyof typeof DIALECTS

/** The SQL of the parts that statements have in common, for the row of number i. */
function partsOf(dialect: Dialect, { rows, now }: Fill) {
  const { numbers, hex, pad, integer } = DIALECTS[dialect]
  const start = now - NEWEST_AGE_MS - SPAN_MS
  const timeOf = (number: string): string => integer(`${start} + (${number}) * ${SPAN_MS}.0 / ${rows}`)
  const time = timeOf('i')
  // No two ids have the same millisecond, and their other characters are zeros.
  const slot =
    dialect === 'sqlite'
      ? { column: 'slot, ', value: `${time} * 2048 + ${slotOf('0'.repeat(ID_LENGTH))}, ` }
      : { column: '', value: '' }
  return {
    slot,
    time,
    id: `${hex(time)} || ${pad(22)}`,
    /** The id of the row of another number. */
    idOfRow: (number: string): string => `${hex(timeOf(number))} || ${pad(22, number)}`,
    from: numbers(rows),
    later: now + 60 * DAY_MS,
    hex,
    pad,
  }
}

/** So many families have one client. */
export const FAMILIES_OF_CLIENT = 5
/** Of so many families one idles after a day, of so many there is a consent, and of so many the code is still stored. */
const IDLING = 20
const CONSENTED = 4
const CODED = 20
export const IDLE_AGE_MS = DAY_MS

/** The number of the user of a family: the users are in another order than the grants, as in reality. A prime scatters them. */
const USER_STEP = 1_236_067
export function userNumber(index: number, { rows }: Fill): number {
  return (index * USER_STEP) % rows
}

/** The statements that insert clients, `rows` grants with their families and users of their own, consents, and redeemed codes. */
function fillStatements(dialect: Dialect, fill: Fill): readonly string[] {
  const { slot, time, id, idOfRow, from, later, pad } = partsOf(dialect, fill)
  const user = `'gus_' || ${idOfRow(`(cast(i as bigint) * ${USER_STEP} % ${fill.rows})`)}`
  const client = `'gci_' || ${idOfRow(`(i / ${FAMILIES_OF_CLIENT} * ${FAMILIES_OF_CLIENT})`)}`
  const idles = `case when i % ${IDLING} = ${IDLING - 1} then ${fill.now + IDLE_AGE_MS} else ${later} end`
  return [
    `insert into clients (${slot.column}client_id, issued_at, source, secret_hash, metadata, used_at, held_until)
     select ${slot.value}'gci_' || ${id}, ${time} / 1000, 'registration', ${pad(43)}, '${METADATA}', ${time}, 0 from ${from}
     where i % ${FAMILIES_OF_CLIENT} = 0`,
    `insert into grants (${slot.column}grant_id, client_id, user_id, scope, resources, created_at, expires_at, generation, live_hash,
       rotated_at, idle_expires_at, network)
     select ${slot.value}${id}, ${client}, ${user}, 'mcp:tools mcp:resources', '["https://api.example"]', ${time}, ${later},
       ${FILLED_GENERATION}, ${pad(43)}, ${time}, ${idles}, 'network1' from ${from}`,
    `insert into consents (user_id, client_id, redirect_host, resources, scope, given_at, server_not_before)
     select ${user}, ${client}, 'client.example', ' https://api.example', 'mcp:tools mcp:resources', ${time}, 0 from ${from}
     where i % ${CONSENTED} = 0`,
    `insert into authorizations (authorization_id, client_id, browser_hash, request, created_at, expires_at, status,
       user_id, code_hash, approved_at)
     select ${id}, ${client}, ${pad(43)}, '${REQUEST}', ${time}, ${time} + 60000, 'approved',
       ${user}, ${pad(43)}, ${time} from ${from} where i % ${CODED} = 0`,
  ]
}

/** Of so many users one has the grants of all of them. */
export const GRANTS_OF_USER = 10
/** Events of a link of the audit: a server under load commits several operations together. */
export const EVENTS_OF_LINK = 5
/** Of so many clients one was created by an operator, is verified, disabled and installed, and so many have an organization. */
const RARE = 1000

/**
 * The statements for the console: `rows` clients of different names, users, grants, of which each tenth user has ten, and links of the audit,
 * of which each has five events. All users are members of the first organization, and the clients of the operator are installed there. The hashes of the links are wrong: only a verification reads them.
 */
export function consoleStatements(dialect: Dialect, fill: Fill): readonly string[] {
  const { slot, time, id, idOfRow, from, later, hex, pad } = partsOf(dialect, fill)
  const holders = Math.ceil(fill.rows / GRANTS_OF_USER)
  const user = `'gus_' || ${idOfRow(`i % ${holders} * ${GRANTS_OF_USER}`)}`
  const [before = '', after = ''] = METADATA.split('A client that was registered before')
  const isRare = `i % ${RARE} = 0`
  const events = AUDITED.map(
    (event) =>
      `{"event":"${event}","clientId":"gci_' || ${id} || '","userId":"' || ${user} || '","grantId":"' || ${id} || '"}`,
  ).join(',')
  const hour = `${time} / ${HOUR_MS}`
  return [
    `insert into clients (${slot.column}client_id, issued_at, source, secret_hash, metadata, used_at, verified_at, disabled_at, held_until)
     select ${slot.value}'gci_' || ${id}, ${time} / 1000, case when ${isRare} then 'operator' else 'registration' end, ${pad(43)},
       '${before}Client ' || i || '${after}', case when i % 2 = 0 then ${time} end, case when ${isRare} then ${time} end,
       case when ${isRare} then ${time} end, 0 from ${from}`,
    `insert into users (user_id, email, name, updated_at, first_signed_in_at, created_at, not_before)
     select 'gus_' || ${id}, 'user-' || i || '@acme.test', 'User ' || i, ${time}, ${time}, ${time}, ${time} from ${from}`,
    `insert into grants (${slot.column}grant_id, client_id, user_id, scope, resources, created_at, expires_at, generation, live_hash,
       rotated_at, idle_expires_at)
     select ${slot.value}${id}, 'gci_' || ${id}, ${user}, 'mcp:tools mcp:resources', '["https://api.example"]', ${time}, ${later}, 0,
       ${pad(43)}, ${time}, ${later} from ${from}`,
    `insert into organizations (organization_id, name, created_at, not_before)
     select 'gor_' || ${id}, 'Organization ' || i, ${time}, ${time} from ${from} where ${isRare}`,
    `insert into memberships (user_id, organization_id, created_at, not_before)
     select 'gus_' || ${id}, 'gor_' || ${idOfRow('0')}, ${time}, ${time} from ${from}`,
    `insert into installations (client_id, organization_id, scope, acts_for_members, created_at, not_before)
     select 'gci_' || ${id}, 'gor_' || ${idOfRow('0')}, 'mcp:tools', 0, ${time}, ${time} from ${from} where ${isRare}`,
    `insert into audit_links (link_id, chain_id, sequence, recorded_at, previous_hash, events, link_hash)
     select ${hex(time)} || ${pad(8)} || ${pad(14, hour)}, ${pad(34, hour)}, i + 1, ${time}, ${pad(43)}, '[${events}]', ${pad(43)} from ${from}`,
  ]
}

const HOUR_MS = 60 * 60 * 1000
const AUDITED = ['client.registered', 'session.started', 'authorization.approved', 'scope.refused', 'session.ended']

/** Fills a SQLite file with clients, grants, consents and codes. */
export function fillSqlite(path: string, fill: Fill): void {
  runOnSqlite(path, fillStatements('sqlite', fill))
}

/** Fills a PostgreSQL database with clients, grants, consents and codes. */
export function fillPostgres(url: string, fill: Fill): Promise<void> {
  return runOnPostgres(url, fillStatements('postgres', fill))
}

/** Fills a SQLite file and writes all rows to disk, so that none are written during a measurement. */
export function runOnSqlite(path: string, statements: Iterable<string>): void {
  const connection = new DatabaseSync(path)
  connection.exec('pragma synchronous = off; pragma cache_size = -524288')
  connection.exec('begin')
  for (const statement of statements) connection.exec(statement)
  connection.exec('commit')
  connection.exec('pragma wal_checkpoint(truncate)')
  connection.close()
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** Fills a PostgreSQL database and updates the planner's statistics, as after weeks of use. */
export async function runOnPostgres(url: string, statements: Iterable<string>): Promise<void> {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  try {
    await connection.query('set synchronous_commit = off')
    for (const statement of statements) await connection.query(statement)
    await connection.query('vacuum analyze')
  } finally {
    await connection.end()
  }
}
