import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { openBackup } from '../../src/store/backup/read.ts'
import { STORED_TABLES } from '../../src/store/backup/tables.ts'
import type { Findings } from '../findings.ts'

export interface BackupCampaign {
  /** How many commands of each kind are killed. */
  readonly points: number
  /** Rows of the store. More rows make the work of a command longer, compared with its start. */
  readonly rows: number
}

/** What each killed command left. */
export interface BackupTally {
  /** The number of backups that were missing, and that were complete. */
  readonly backups: { readonly missing: number; readonly complete: number }
  /** The number of stores that were the previous one, and that were the restored one. */
  readonly stores: { readonly previous: number; readonly restored: number }
}

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const SECRET = 'a root secret that is long enough for it'
/** The name of an organization that was created after the backup. */
const LATER = 'Later'

/**
 * Kills `grantor backup` and `grantor restore` on SQLite at evenly spaced times. After a kill a backup is missing or complete,
 * and the store is the previous one or the restored one, both whole.
 */
export async function proveBackup(findings: Findings, campaign: BackupCampaign): Promise<BackupTally> {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-backup-'))
  try {
    return await runCampaign(folder, findings, campaign)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runCampaign(folder: string, findings: Findings, { points, rows }: BackupCampaign): Promise<BackupTally> {
  const [original, work] = [join(folder, 'original'), join(folder, 'work')]
  const file = join(folder, 'one.backup')
  await prepare(original, file, rows)
  const previous = fingerprint(original)
  const tally = { backups: { missing: 0, complete: 0 }, stores: { previous: 0, restored: 0 } }
  const check = (point: string, look: () => void): void => {
    try {
      look()
    } catch (cause) {
      findings.report(`${point}: ${String(cause)}`)
    }
  }
  const place = (): void => {
    rmSync(work, { recursive: true, force: true })
    cpSync(original, work, { recursive: true })
  }

  const target = join(work, 'killed.backup')
  place()
  const backupMs = await runUntil(work, ['backup', '--to', target], undefined)
  for (let point = 0; point < points; point += 1) {
    place()
    await runUntil(work, ['backup', '--to', target], ((point + 0.5) / points) * backupMs)
    check(`backup ${point}`, () => {
      if (existsSync(target)) openBackup(target).close()
      tally.backups[existsSync(target) ? 'complete' : 'missing'] += 1
      assert.equal(fingerprint(work), previous)
    })
  }
  findings.progress(`${points} backups`)

  const words = ['restore', '--from', file, '--replace']
  place()
  const restoreMs = await runUntil(work, words, undefined)
  const restored = fingerprint(work)
  assert.notEqual(restored, previous)
  for (let point = 0; point < points; point += 1) {
    place()
    await runUntil(work, words, ((point + 0.5) / points) * restoreMs)
    check(`restore ${point}`, () => {
      const found = fingerprint(work)
      assert.ok(found === previous || found === restored, 'The store is neither the previous nor the restored one.')
      tally.stores[found === previous ? 'previous' : 'restored'] += 1
      if (found === restored) assertEnded(work)
    })
  }
  // What a killed restore has left is in the way of no other.
  await runUntil(work, words, undefined)
  findings.progress(`${points} restores`)
  return tally
}

/** Makes a store, a backup of it, and one row that is not in the backup. */
async function prepare(folder: string, file: string, rows: number): Promise<void> {
  await runUntil(folder, ['admin', 'create', '--name', 'A', '--access', 'write'], undefined)
  const database = new DatabaseSync(join(folder, 'grantor.db'))
  database
    .prepare(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?)
       insert into organizations select printf('gor_%09d', i), printf('%.*c', 200, 'x'), 1, null, 1 from n`,
    )
    .run(rows)
  database.close()
  await runUntil(folder, ['backup', '--to', file], undefined)
  await runUntil(folder, ['org', 'create', LATER], undefined)
}

/** Runs a command, and kills it after a time. Returns how long it ran, in milliseconds. */
async function runUntil(folder: string, words: readonly string[], killAfterMs: number | undefined): Promise<number> {
  const { NODE_COMPILE_CACHE: cache } = process.env
  const startedAt = performance.now()
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: {
      ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }),
      DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`,
      GRANTOR_SECRET: SECRET,
    },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  const [code] = await ended
  clearTimeout(timer)
  if (code !== 0 && killAfterMs === undefined) throw new Error(`${words.join(' ')} ended with ${code}.`)
  return performance.now() - startedAt
}

/** A digest of the rows that the commands of this campaign do not change themselves. Fails if the file is damaged. */
function fingerprint(folder: string): string {
  return inDatabase(folder, (database) => {
    const [report] = database.prepare('pragma integrity_check').all()
    assert.deepEqual({ ...report }, { integrity_check: 'ok' })
    const hash = createHash('sha256')
    const own = ['audit_links', 'settings', 'admin_credentials']
    for (const table of STORED_TABLES.filter((name) => !own.includes(name))) {
      hash.update(JSON.stringify(database.prepare(`select * from ${table} order by 1`).all()))
    }
    hash.update(JSON.stringify(database.prepare(`select value from settings where name = 'secret-check'`).all()))
    return hash.digest('hex')
  })
}

/** A restored store has its own signing key and no valid administrator of before. */
function assertEnded(folder: string): void {
  inDatabase(folder, (database) => {
    const count = (sql: string): unknown => database.prepare(sql).get()?.['n']
    assert.equal(count(`select count(*) as n from organizations where name = '${LATER}'`), 0)
    assert.equal(count('select count(*) as n from admin_credentials where revoked_at is null'), 1)
    assert.equal(count('select count(*) as n from signing_keys'), 1)
  })
}

function inDatabase<T>(folder: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(folder, 'grantor.db'))
  try {
    return work(database)
  } finally {
    database.close()
  }
}
