import { readOptions, string, whole } from '../../tools/options.ts'
import { beginSession, giveUp } from '../../tools/process/session.ts'
import { openCluster } from '../cluster/cluster.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveNodes } from '../nodes/campaign.ts'
import { describeKills, proveKills } from '../restarts/campaign.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { proveBackups, proveRestores } from './backups.ts'
import {
  checkContract,
  clearAudit,
  commandDatabase,
  prepare,
  proveCopies,
  proveDoctor,
  proveMigration,
} from './campaign.ts'
import { proveRaces } from './races.ts'
import { proveNames, proveShards } from './shards.ts'

/** The store on a cluster of Citus, which you name with --url. See docs/proofs.md. */

const ADDRESS = /^postgres(ql)?:\/\/\S+(,postgres(ql)?:\/\/\S+)*$/
const LIMIT_MS = 30_000
/** Longer than a node waits for an answer of the database. */
const QUIET_MS = 5000

const { url, rounds, parallel, races, backups, kills, kill, start } = readOptions(
  {
    url: string(
      'urls',
      'the coordinator and, after commas, other machines that nodes use; the database is empty',
      ADDRESS,
    ),
    rounds: whole('rounds of codes and of refreshes', 1000, [0, 1e6]),
    parallel: whole('concurrent requests', 100, [1, 10_000]),
    races: whole('races of each kind between two operations, with random offsets', 300, [0, 1e6]),
    backups: whole('backups while users are created', 20, [0, 10_000]),
    kills: whole('kills of a machine, with --kill and --start', 20, [0, 10_000]),
    kill: string('command', 'kills a machine of the cluster, and returns when it is down'),
    start: string('command', 'starts that machine or promotes its standby, and returns when it is up'),
  },
  ({ url: named }) => {
    if (named === undefined) return '--url is missing.'
    if (!named.split(',').some((one) => new URL(one).password !== '')) return undefined
    return '--url has a password, which npm prints with the command. Put it into ~/.pgpass or PGPASSWORD.'
  },
)
const urls = (url ?? '').split(',')

beginSession()
const findings = openFindings()
await prepare(urls).catch((cause: unknown) => giveUp(String(cause)))
const lines = [`machines that nodes use: ${urls.length}`, await proveNames(urls[0] ?? '', findings)]
lines.push(`cases of the contract: ${checkContract(urls, findings)}`)
findings.progress('the contract')
await proveMigration(urls[0] ?? '', findings)
findings.progress('a migration')
await proveDoctor(urls, findings)

const stores = await Promise.all(urls.slice(0, 2).map((one) => openPostgresStore({ url: one, connections: 4 })))
lines.push(...(await proveRaces(stores, findings, races)), await proveCopies(urls[0] ?? '', findings))
if (stores[0] !== undefined) lines.push(...(await proveShards(urls[0] ?? '', stores[0], findings)))
await Promise.all(stores.map((store) => store.close()))

lines.push(await proveBackups(urls, findings, backups))
findings.progress('backups')
await clearAudit(urls[0] ?? '')

const cluster = await openCluster({ databaseUrls: urls, nodes: 2, drainSeconds: 1, limitMs: LIMIT_MS })
const serving = proveNodes(cluster, findings, { rounds, parallel, mayBeUnavailable: true })
const restores = await proveRestores(cluster, findings, backups, serving)
const { unavailable, ...counts } = await serving
lines.push(
  restores,
  ...Object.entries(counts).map(([kind, count]) => `rounds of ${kind}: ${count}`),
  `  answers of 503: ${unavailable}`,
)
if (kill !== undefined && start !== undefined) {
  const killed = await proveKills(cluster, findings, commandDatabase(kill, start), { kills, quietMs: QUIET_MS })
  lines.push(`machine killed: ${kills}`, ...describeKills(killed))
}
await cluster.close()
lines.push(await proveNames(urls[0] ?? '', findings))
printReport(`2 nodes on Citus, ${parallel} at once`, lines, findings)
