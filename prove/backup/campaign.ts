import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openBackup } from '../../src/store/backup/read.ts'
import { STORED_TABLES } from '../../src/store/backup/tables.ts'
import type { Findings } from '../findings.ts'
import { runUntil } from './command.ts'
import type { Place, Rows } from './place.ts'

export interface BackupCampaign {
  /** How many commands of each kind are killed. */
  readonly points: number
  /** Rows of the store. */
  readonly rows: number
}

/** What each killed command left. */
export interface BackupTally {
  /** The number of backups that were missing, and that were complete. */
  readonly backups: { readonly missing: number; readonly complete: number }
  /** The number of stores that were the previous one, that were being restored, and that were the restored one. */
  readonly stores: { readonly previous: number; readonly pending: number; readonly restored: number }
}

/** The last kills come after the time that a whole command took, because not every one takes the same time. */
const BEYOND = 1.2
/** Of the stores that a killed restore has not changed, one in so many is restored then. */
const REPEATED = 4
/** The name of an organization that was created after the backup. */
const LATER = 'Later'
/** Tables that the commands change: they record themselves, and create administrators. */
const OWN_TABLES: readonly string[] = ['audit_links', 'figures', 'settings', 'admin_credentials']

/**
 * Kills `grantor backup` and `grantor restore` at evenly spaced times. After a kill a backup is missing or complete, and the store is
 * the previous one or the restored one, both whole. On PostgreSQL, where the previous one is an empty database, the restored one may
 * have the mark that makes servers wait, and the same restore completes it.
 */
export async function proveBackup(
  place: Place,
  folder: string,
  findings: Findings,
  { points, rows }: BackupCampaign,
): Promise<BackupTally> {
  const file = join(folder, 'one.backup')
  await prepare(place, file, rows)
  const check = async (point: string, look: () => Promise<void>): Promise<void> =>
    look().catch((cause: unknown) => findings.report(`${point}: ${String(cause)}`))
  const killAll = async (
    words: readonly string[],
    wholeMs: number,
    use: () => Promise<void>,
    look: (point: number) => Promise<void>,
  ) => {
    for (let point = 0; point < points; point += 1) {
      await use()
      await runUntil(place, words, ((point + 0.5) / points) * wholeMs * BEYOND)
      await check(`${words[0]} ${point}`, () => look(point))
    }
    findings.progress(`${words[0]}: ${points} kills`)
  }

  const original = await digestOf(place)
  const backups = { missing: 0, complete: 0 }
  const target = join(folder, 'killed.backup')
  const useOriginal = async (): Promise<void> => {
    rmSync(target, { force: true })
    await place.useOriginal()
  }
  const backup = ['backup', '--to', target]
  await useOriginal()
  const backupMs = await runUntil(place, backup, undefined)
  await killAll(backup, backupMs, useOriginal, async () => {
    if (existsSync(target)) openBackup(target).close()
    backups[existsSync(target) ? 'complete' : 'missing'] += 1
    assert.equal(await digestOf(place), original)
  })

  const words = ['restore', '--from', file, ...place.restoreOptions]
  await place.useTarget()
  const previous = await digestOf(place)
  const restoreMs = await runUntil(place, words, undefined)
  const restored = await digestOf(place)
  assert.notEqual(restored, previous)
  const stores = { previous: 0, pending: 0, restored: 0 }
  await killAll(words, restoreMs, place.useTarget, async (point) => {
    const found = await digestOf(place)
    assert.ok(found === previous || found === restored, 'The store is neither the previous nor the restored one.')
    const state = found === previous ? 'previous' : (await isPending(place)) ? 'pending' : 'restored'
    stores[state] += 1
    if (state === 'previous' && point % REPEATED > 0) return
    // What a killed restore has left is in the way of no other.
    if (state !== 'restored') await runUntil(place, words, undefined)
    assert.equal(await digestOf(place), restored)
    await assertEnded(place)
  })
  return { backups, stores }
}

/** Makes a store, a backup of it, and one row that is not in the backup. */
async function prepare(place: Place, file: string, rows: number): Promise<void> {
  await runUntil(place, ['admin', 'create', '--name', 'A', '--access', 'write'], undefined)
  await place.fill(rows)
  await runUntil(place, ['backup', '--to', file], undefined)
  await runUntil(place, ['org', 'create', LATER], undefined)
}

/** A digest of the rows that the commands of this campaign do not change themselves; '' if there are none. */
async function digestOf(place: Place): Promise<string> {
  const digest = await place.read(async (rows) => {
    const checks = await rows(`select value from settings where name = 'secret-check'`)
    if (checks.length === 0) return ''
    const hash = createHash('sha256')
    for (const table of STORED_TABLES.filter((name) => !OWN_TABLES.includes(name)))
      hash.update(JSON.stringify(await rows(`select * from ${table} order by 1`)))
    return hash.update(JSON.stringify(checks)).digest('hex')
  })
  return digest ?? ''
}

async function isPending(place: Place): Promise<boolean> {
  const marks = await place.read((rows) => rows(`select 1 as one from settings where name = 'restoring'`))
  return marks !== undefined && marks.length > 0
}

/** A restored store has a signing key of its own, no valid administrator of before, and nothing that makes servers wait. */
async function assertEnded(place: Place): Promise<void> {
  assert.equal(await isPending(place), false)
  const counts = await place.read(async (rows) => [
    await count(rows, `organizations where name = '${LATER}'`),
    await count(rows, 'admin_credentials where revoked_at is null'),
    await count(rows, 'signing_keys'),
  ])
  assert.deepEqual(counts, [0, 1, 1])
}

async function count(rows: Rows, what: string): Promise<number> {
  const [row] = await rows(`select count(*) as n from ${what}`)
  return Number(row?.['n'])
}
