import type { ServerFacts } from '../ports/inspection.ts'
import { CLOCK_TOLERANCE_MS } from '../base/clock.ts'
import { failed, ok, warning, type Finding } from './finding.ts'

/** The connections that a node, a command beside it, and a rolling restart need. */
const FREE_CONNECTIONS_MIN = 10

/** Checks a PostgreSQL server: its durability, settings, connections and clock. */
export function checkServer(location: string, server: ServerFacts): readonly Finding[] {
  return [
    ...checkDurability(location, server),
    ...checkSettings(server),
    ...checkPooler(server),
    ...checkCluster(server),
    ...checkConnection(location, server),
    checkClock(server),
  ]
}

function checkDurability(location: string, { version, unsafeSettings }: ServerFacts): readonly Finding[] {
  if (unsafeSettings.length === 0) return [ok('database', `${location} can be used (PostgreSQL ${version}).`)]
  return unsafeSettings.map((name) =>
    failed(
      'database',
      `${name} is off in PostgreSQL: a crash of its machine loses acknowledged commits, or damages the database.`,
      `Set ${name} = on in postgresql.conf and reload it.`,
    ),
  )
}

function checkSettings({ changedSettings, role }: ServerFacts): readonly Finding[] {
  if (changedSettings.length === 0) return []
  const found = changedSettings.map(({ name, value, wanted }) => `${name} is ${value} instead of ${wanted}`).join(', ')
  const remedy = `The options in DATABASE_URL, or PgBouncer, replace them. Set them for the role: ${changedSettings
    .map(({ name, wanted }) => `alter role "${role.replaceAll('"', '""')}" set ${name} = '${wanted}';`)
    .join(' ')}`
  const losesCommits = changedSettings.some(({ name, value }) => name === 'synchronous_commit' && value === 'off')
  return [
    losesCommits
      ? failed('settings', `Acknowledged commits can be lost: ${found}.`, remedy)
      : warning('settings', `The connections do not have the settings of Grantor: ${found}.`, remedy),
  ]
}

function checkPooler({ sharesPreparedStatements }: ServerFacts): readonly Finding[] {
  if (!sharesPreparedStatements) return []
  return [
    failed(
      'pooler',
      'A pooler gives one session of PostgreSQL to several connections, and does not keep their prepared statements apart, so some requests fail.',
      'PgBouncer 1.21 or newer: max_prepared_statements = 200. An older one: pool_mode = session. Then restart PgBouncer.',
    ),
  ]
}

function checkCluster({ cluster }: ServerFacts): readonly Finding[] {
  if (cluster === undefined) return []
  const { machines, misplaced, withFewPreparedTransactions } = cluster
  const tables = misplaced.map(({ table, by, wanted }) => `${table} (${by} instead of ${wanted})`).join(', ')
  return [
    misplaced.length === 0
      ? ok('distribution', `The tables are distributed over ${machines} machines.`)
      : failed(
          'distribution',
          `These tables are not stored as this release expects: ${tables}.`,
          'Run: grantor database distribute',
        ),
    ...withFewPreparedTransactions.map((machine) =>
      failed(
        'distribution',
        `max_prepared_transactions is less than max_connections on ${machine}, so that transactions over several machines can fail.`,
        'Raise it there to at least max_connections, and restart that machine.',
      ),
    ),
  ]
}

function checkConnection(location: string, { isExposed, connections }: ServerFacts): readonly Finding[] {
  const { used, limit } = connections
  const count = `${used} of ${limit} connections are in use.`
  return [
    limit - used >= FREE_CONNECTIONS_MIN
      ? ok('connections', count)
      : warning('connections', count, 'Raise max_connections: each node takes four, and each command one.'),
    ...(isExposed
      ? [
          warning(
            'connections',
            `The connection to ${location} is not encrypted.`,
            'Add sslmode=verify-full to DATABASE_URL, and sslrootcert=<file> when the CA is not a public one.',
          ),
        ]
      : []),
  ]
}

function checkClock({ clockAheadMs }: ServerFacts): Finding {
  if (Math.abs(clockAheadMs) <= CLOCK_TOLERANCE_MS)
    return ok('clock', `This clock agrees with the clock of the database.`)
  return failed(
    'clock',
    `The clock of the database is ${Math.round(Math.abs(clockAheadMs) / 1000)} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} this clock. A node whose clock differs by more than 2 s is not ready.`,
    'Set both clocks by NTP.',
  )
}
