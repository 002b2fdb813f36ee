import type { TestContext } from 'node:test'
import pg from 'pg'
import { migrateAt } from '../../../src/store/postgres/schema/migrate-at.ts'
import { createDatabase, execute, type TestDatabase } from '../../../tools/postgres/postgres.ts'
import { openDatabase } from './postgres.ts'

/** The template database from which others are copied. Each cluster has one. */
const TEMPLATE = 'grantor_migrated'
const NO_SUCH_DATABASE = '3D000'
const NAMES_TAKEN = ['42P04', '23505']

/**
 * Like openTestDatabase(), but in the state right after the migrations, which take longer than most tests. Tests of a first start
 * or of migrations let the store create its tables.
 */
export function openMigratedDatabase(test: Pick<TestContext, 'after'>): Promise<string> {
  return openDatabase(test, async (adminUrl) => (await copyTemplate(adminUrl)) ?? copyNewTemplate(adminUrl))
}

async function copyNewTemplate(adminUrl: string): Promise<TestDatabase> {
  await makeTemplate(adminUrl)
  return (await copyTemplate(adminUrl)) ?? Promise.reject(new Error(`${TEMPLATE} is gone.`))
}

/** Returns undefined if the template does not exist yet. */
async function copyTemplate(adminUrl: string): Promise<TestDatabase | undefined> {
  try {
    return await createDatabase(adminUrl, TEMPLATE)
  } catch (error) {
    if (codeOf(error) === NO_SUCH_DATABASE) return undefined
    throw error
  }
}

/** Migrates a database with a unique name, then renames it. The first rename wins, so no process copies an incomplete schema. */
async function makeTemplate(adminUrl: string): Promise<void> {
  const { name, url } = await createDatabase(adminUrl, 'template0')
  await migrateAt(url, Date.now())
  try {
    await execute(adminUrl, `alter database ${name} rename to ${TEMPLATE}`)
  } catch (error) {
    if (!NAMES_TAKEN.includes(codeOf(error) ?? '')) throw error
    await execute(adminUrl, `drop database ${name} with (force)`)
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** The settings of several nodes on one new database. On SQLite, only one server uses a file. */
export async function openNodeSettings(test: Pick<TestContext, 'after'>): Promise<Record<string, string>> {
  return { DATABASE_URL: await openMigratedDatabase(test), GRANTOR_SECRET: 's'.repeat(40) }
}
