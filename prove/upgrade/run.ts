import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packPackage } from '../../release/build.ts'
import { names, readOptions, string } from '../../tools/options.ts'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { upgrade } from './campaign.ts'
import { emptyTables, KEPT_STORES, make, use, type KeptStore } from './kept.ts'
import { installNext, installRelease, RIGHT, WRONGS } from './releases.ts'

/**
 * From the packed package to a next release and back: what was issued works at each step. Migrations that a release must not have are
 * found. See docs/proofs.md. With `--write` it only keeps the databases of the package, as a release does (CONTRIBUTING.md).
 */

const { only, write } = readOptions({
  only: names('the stores', KEPT_STORES, 'all'),
  write: string('version', 'write test/upgrade/<version>/, and prove nothing', /^\d+\.\d+\.\d+$/),
})
beginSession()
const findings = openFindings()
const folder = openFolder()
const release = installRelease(join(folder, 'release'), resolve(await packPackage()))
const lines: string[] = []
for (const store of only) await withStore(store, write === undefined ? prove : keepRelease)
if (write === undefined)
  printReport('the packed package, a planted second and third migration, back and forward', lines, findings)

interface Place {
  readonly folder: string
  /** Of an empty database. */
  readonly url: string
}

/** Runs work that gets as many places of a store as it asks for. */
async function withStore(
  store: KeptStore,
  work: (store: KeptStore, open: () => Promise<Place>) => Promise<void>,
): Promise<void> {
  const postgres = store === 'postgres' ? await startPostgres({}) : undefined
  let count = 0
  await work(store, async () => {
    count += 1
    const place = join(folder, `${store}-${count}`)
    mkdirSync(place, { recursive: true })
    return { folder: place, url: (await postgres?.createDatabase())?.url ?? `sqlite:${join(place, 'grantor.db')}` }
  })
  await postgres?.remove()
}

async function keepRelease(store: KeptStore, open: () => Promise<Place>): Promise<void> {
  const { folder: place, url } = await open()
  await make(join('test/upgrade', write ?? ''), store, url, { release, place })
}

async function prove(store: KeptStore, open: () => Promise<Place>): Promise<void> {
  const run = async (change: (start: string) => typeof RIGHT) => {
    const { folder: place, url } = await open()
    return upgrade({ folder: place, release, change, database: url, sideBySide: store === 'postgres' })
  }
  findings.progress(`${store}: expand and backfill`)
  const { faults, acknowledged, unavailable } = await run(() => RIGHT)
  for (const fault of faults) findings.report(`${store}: ${fault}`)
  lines.push(`${store}: ${acknowledged} requests of the load acknowledged, ${unavailable} sent again`)

  findings.progress(`${store}: a kept database`)
  const kept = join(folder, 'kept')
  const [first, second] = [await open(), await open()]
  await make(kept, store, first.url, { release, place: first.folder })
  const next = installNext(join(second.folder, 'next'), release, () => RIGHT)
  for (const fault of await use(kept, store, second.url, { release: next, place: second.folder }))
    findings.report(`${store}, a kept database: ${fault}`)
  lines.push(`${store}: a kept database has rows in all tables but ${(await emptyTables(second.url)).join(', ')}`)

  let found = 0
  for (const [name, wrong] of Object.entries(WRONGS)) {
    findings.progress(`${store}: ${name}`)
    const said = (await run(wrong.change)).faults.join('\n')
    const missed = wrong.found.filter((one) => !one.test(said))
    if (missed.length === 0) found += 1
    else findings.report(`${store}: ${name} was not found by ${missed.join(', ')}: ${said}`)
  }
  lines.push(`${store}: ${found} of ${Object.keys(WRONGS).length} planted wrongs found`)
}
