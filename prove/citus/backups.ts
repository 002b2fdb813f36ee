import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyAudit } from '../../src/admin/audit/verify.ts'
import { openChains } from '../../src/audit/chain.ts'
import { readConfig } from '../../src/config/config.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import { backUp } from '../../src/maintenance/backup.ts'
import { restore } from '../../src/maintenance/restore.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { withPostgresSnapshot } from '../../src/store/postgres/snapshot.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { openFolder } from '../../tools/process/session.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Findings } from '../findings.ts'
import { aPerson, now } from './person.ts'

/** Longer than the time whose links a backup leaves out. */
const LEAD_MS = 18_000
const PAUSE_MS = 500
/** Users who are created meanwhile, at the same time. */
const WRITERS = 8

/** Makes backups while both machines are written to. No chain of the audit may lack a link between others. Returns how many links they had. */
export async function proveBackups(urls: readonly string[], findings: Findings, count: number): Promise<string> {
  const audit = openChains({ digest: () => randomBytes(32).toString('base64url'), clock: now, random: randomBytes })
  const stores = await Promise.all(urls.slice(0, 2).map((url) => openPostgresStore({ url, connections: 4, audit })))
  const ended = { isSo: false }
  const writing = Array.from({ length: WRITERS }, (_, index) =>
    write(stores[index % stores.length] as StoreDriver, ended),
  )
  let links = 0
  if (count > 0) await pause(LEAD_MS)
  for (let backup = 0; backup < count; backup += 1) {
    await pause(PAUSE_MS)
    const chains = await readChains(urls[0] ?? '')
    for (const [chain, sequences] of chains) {
      links += sequences.length
      const isWhole = sequences.toSorted((one, other) => one - other).every((sequence, place) => sequence === place)
      if (!isWhole) findings.report(`backup: the chain ${chain} lacks a link`)
    }
  }
  ended.isSo = true
  await Promise.all(writing)
  await Promise.all(stores.map((store) => store.close()))
  return `backups under load: ${count}, links in them: ${links}`
}

/**
 * Makes at most `count` backups while nodes serve `work`, and restores each into SQLite, where the audit must verify. Returns how many, and
 * how many links they had.
 */
export async function proveRestores(
  { settings }: Pick<Cluster, 'settings'>,
  findings: Findings,
  count: number,
  work: Promise<unknown>,
): Promise<string> {
  const working = { isSo: true }
  const end = work.finally(() => (working.isSo = false))
  let [restored, links] = [0, 0]
  const folder = openFolder()
  for (; restored < count && working.isSo; restored += 1) {
    await Promise.race([pause(restored === 0 ? LEAD_MS : PAUSE_MS), end])
    const file = join(folder, `${restored}.backup`)
    const own = await openStoreOf(settings)
    await backUp(readConfig(settings), own.context, { to: file, keep: undefined, withSecret: false, isFinal: false })
    await own.close()
    const target = { ...settings, DATABASE_URL: `sqlite:${join(folder, `${restored}.db`)}` }
    await restore(readConfig(target), { from: file, replace: false, isMove: false })
    const copy = await openStoreOf(target)
    const report = await verifyAudit(copy.context, [])
    await copy.close()
    links += report.links
    for (const fault of report.faults) findings.report(`restore ${restored + 1}: ${JSON.stringify(fault)}`)
  }
  await end
  return `backups under load that were restored: ${restored}, links in them: ${links}`
}

async function write(store: StoreDriver, ended: { readonly isSo: boolean }): Promise<void> {
  while (!ended.isSo) await aPerson(store)
}

async function readChains(url: string): Promise<ReadonlyMap<string, readonly number[]>> {
  const chains = new Map<string, number[]>()
  await withPostgresSnapshot(url, async ({ slices }) => {
    for await (const { columns, rows } of slices(['audit_links'])) {
      const [chain, sequence] = [columns.indexOf('chain_id'), columns.indexOf('sequence')]
      for (const row of rows) {
        const known = chains.get(String(row[chain])) ?? []
        known.push(Number(row[sequence]))
        chains.set(String(row[chain]), known)
      }
    }
  })
  return chains
}
