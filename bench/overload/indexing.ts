import { setTimeout as delay } from 'node:timers/promises'
import { openReader } from '../../tools/postgres/database-reader.ts'
import { median } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import { fillUsers } from '../growth/users.ts'
import { HEALTHY } from './hostile-rounds.ts'
import type { LoadSetup } from './load.ts'

/** Token requests while the index of the names and addresses of users is written. */

export interface IndexingRow {
  readonly name: string
  /** One value for each round. */
  readonly p50Ms: readonly number[]
  readonly p99Ms: readonly number[]
  readonly indexedPerSecond: readonly number[]
}

/** More than a node indexes beside a load. */
const INDEXED_USERS = 50_000
const CONNECTIONS = 64
/** A node looks every ten seconds for users whom the index lacks. The load has begun before. */
const WARM_UP_SECONDS = 11
const LOOK_MS = 500
/** So many users a second are indexed in any case before the first round. */
const LEAST_PER_SECOND = 1000

/** The most time that this takes besides the loads. */
export function limitOfIndexing(rounds: number): number {
  return (INDEXED_USERS * 1000) / LEAST_PER_SECOND + rounds * 4 * WARM_UP_SECONDS * 1000
}

export async function runIndexing(setup: LoadSetup): Promise<readonly IndexingRow[]> {
  const { server, seconds, rounds, rate, request, load } = setup
  const { read, close } = await openReader(server.settings['DATABASE_URL'] ?? '')
  for (const statement of fillUsers(INDEXED_USERS)) await read(statement)
  const waiting = (): Promise<number> => read('select count(*) from search_due')
  // A server takes the oldest users once, at its first round.
  const addWaiting = (): Promise<number> => read('insert into search_due (user_id) select user_id from users')
  await addWaiting()
  while ((await waiting()) > 0) await delay(LOOK_MS)
  const rows = [
    { name: 'tokens', isWritten: false },
    { name: 'tokens while the index is written', isWritten: true },
  ].map((row) => ({ ...row, p50Ms: [] as number[], p99Ms: [] as number[], indexedPerSecond: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { isWritten, p50Ms, p99Ms, indexedPerSecond } of round % 2 === 0 ? rows : rows.toReversed()) {
      if (isWritten) await addWaiting()
      const healthy = { port: server.port, rate, connections: CONNECTIONS, addresses: HEALTHY, requests: [request] }
      await load({ ...healthy, seconds: WARM_UP_SECONDS })
      const before = await waiting()
      const { kinds } = await load({ ...healthy, seconds })
      indexedPerSecond.push((before - (await waiting())) / seconds)
      await read('delete from search_due')
      const served = kinds.find(({ kind }) => kind === 'served')
      p50Ms.push(served?.p50Ms ?? Number.NaN)
      p99Ms.push(served?.p99Ms ?? Number.NaN)
    }
  }
  await close()
  return rows
}

/** Renders a Markdown table. Each figure is the median of its rounds. */
export function renderIndexing(rows: readonly IndexingRow[]): string {
  const quiet = rows[0] === undefined ? Number.NaN : median(rows[0].p99Ms)
  return renderTable(rows, [
    ['what is measured', ({ name }) => name],
    ['p50 ms', ({ p50Ms }) => fixed(median(p50Ms), 1)],
    ['p99', ({ p99Ms }) => fixed(median(p99Ms), 1)],
    ['p99 to the first', ({ p99Ms }) => fixed(median(p99Ms) / quiet, 2)],
    ['indexed/s', ({ indexedPerSecond }) => fixed(median(indexedPerSecond), 0)],
  ])
}
