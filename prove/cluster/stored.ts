import type pg from 'pg'

/** Queries that read PostgreSQL directly, without the nodes. */

/** `query_canceled`: a busy machine did not finish within the time limit of the role. */
const TIMED_OUT = '57014'
const TRIES = 5

export interface StoredGrant {
  readonly generation: number
  readonly isRevoked: boolean
}

export async function findGrants(database: pg.Pool, grantId: string): Promise<readonly StoredGrant[]> {
  const rows = await read<{ generation: string; revoked_at: string | null }>(
    database,
    'select generation, revoked_at from grants where grant_id = $1',
    [grantId],
  )
  return rows.map((row) => ({ generation: Number(row.generation), isRevoked: row.revoked_at !== null }))
}

/** The state of the code of this grant; '' if there is none. */
export async function findAuthorizationOf(database: pg.Pool, grantId: string): Promise<string> {
  const rows = await read<{ status: string }>(
    database,
    'select status from authorizations where authorization_id = $1',
    [grantId],
  )
  return rows.map(({ status }) => status).join(' and ')
}

export async function countGrants(database: pg.Pool): Promise<number> {
  const rows = await read<{ count: string }>(database, 'select count(*) as count from grants', [])
  return Number(rows[0]?.count)
}

/** The clients that are not stored. */
export async function findMissingClients(database: pg.Pool, clientIds: readonly string[]): Promise<readonly string[]> {
  const rows = await read<{ client_id: string }>(
    database,
    'select client_id from clients where client_id = any($1::text[])',
    [clientIds],
  )
  const stored = new Set(rows.map(({ client_id }) => client_id))
  return clientIds.filter((id) => !stored.has(id))
}

async function read<Row extends pg.QueryResultRow>(
  database: pg.Pool,
  sql: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return (await database.query<Row>(sql, [...values])).rows
    } catch (cause) {
      if ((cause as pg.DatabaseError).code !== TIMED_OUT || tries === TRIES) throw cause
    }
  }
}
